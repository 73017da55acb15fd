"""RGB's files → trials, by the rules of its script for choosing passages.

Its licence is CC BY-NC-SA 4.0: trials made of it are for evaluation alone, and are not to be passed on with
works of another licence.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.data import read_utf8
from harness.running.abilities.trial import Ability, Golden, Trial
from harness.values import CorpusError

Task = Literal["plain", "int", "fact"]
_ABILITIES: dict[Task, Ability] = {"plain": "noise", "int": "integration", "fact": "counterfactual"}


@dataclass(frozen=True, slots=True)
class Instance:
    """A line of a file. ``positive`` has a list for each sub-question, one where there are none.

    ``wrong`` are the positive passages with a false fact in them, in the order of the positive ones.
    """

    name: str
    task: Task
    question: str
    golden: Golden
    positive: tuple[tuple[str, ...], ...]
    negative: tuple[str, ...]
    wrong: tuple[str, ...] = ()
    fake: str = ""


@dataclass(frozen=True, slots=True)
class RgbOptions:
    """How many passages a trial shows, at which shares of noise, and the seed of what is drawn."""

    passages: int = 5
    rates: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8)
    seed: int = 2333


def read_rgb(path: Path, *, true: bool = False) -> list[Instance]:
    """The instances of a file such as ``en_fact.jsonl``; their fields say which ability they test.

    With ``true``, counterfactual ones are read with their true passages instead, for noise and rejection.
    Raises CorpusError that names the line at fault.
    """
    found: dict[str, tuple[int, Instance]] = {}
    for number, line in enumerate(read_utf8(path).removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("it is not an object")
            if true:
                record.pop("positive_wrong", None)
            one = _instance(record, f"{path.stem}-{record['id']}")
        except (ValueError, KeyError, RecursionError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise CorpusError(
                f"{where}: not an RGB instance ({what}). Each has id, query, answer, positive and "
                "negative. Take the file as RGB has it."
            ) from error
        first, _ = found.setdefault(one.name, (number, one))
        if first != number:
            raise CorpusError(f"{where}: id {record['id']} is already on line {first}. Keep one of them.")
    if not found:
        raise CorpusError(f"{path} has no instances. Name a file of RGB such as en_fact.jsonl.")
    return [one for _, one in found.values()]


def rgb_trials(instances: Sequence[Instance], options: RgbOptions) -> Iterator[Trial]:
    """The trials of a file: each instance at every share of noise, and with nothing but noise.

    An instance without enough noise to fill its share is left out of rejection, and otherwise shows fewer
    passages of noise, as in RGB. Draws depend on the seed and the trial alone.
    """
    for one in instances:
        for rate in options.rates:
            yield from _trial(one, _ABILITIES[one.task], rate, options)
        if one.task == "plain":
            yield from _trial(one, "rejection", 1.0, options)


def _trial(one: Instance, ability: Ability, rate: float, options: RgbOptions) -> Iterator[Trial]:
    name = f"{one.name}-{ability}-{rate:g}"
    rng = random.Random(f"{options.seed}:{name}")
    # 0.6 of 5 is 3, though 0.6 * 5 may be a little more
    noise = math.ceil(round(options.passages * rate, 9))
    chosen = {"int": _integration, "fact": _counterfactual}.get(one.task, _plain)(
        one, noise, options.passages, rng
    )
    shown = [text for text in chosen if text.strip()]
    rng.shuffle(shown)
    if shown:
        changed = f"{one.golden[0][0]} → {one.fake}" if ability == "counterfactual" and one.fake else ""
        yield Trial(name, ability, rate, one.question, tuple(shown), one.golden, changed)


def _plain(one: Instance, noise: int, count: int, rng: random.Random) -> list[str]:
    (positive,) = one.positive
    if noise == count:
        return list(one.negative[:count])
    signal = count - noise
    if noise > len(one.negative):
        noise, signal = len(one.negative), count - len(one.negative)
    elif signal > len(positive):
        noise, signal = count - len(positive), len(positive)
    return [*positive[:signal], *one.negative[:noise]]


def _integration(one: Instance, noise: int, count: int, rng: random.Random) -> list[str]:
    """A passage for every sub-question, more of each in turn, then noise."""
    lists = [rng.sample(part, len(part)) for part in one.positive]
    shown = [part[0] for part in lists]
    rest = [part[depth] for depth in range(1, max(map(len, lists))) for part in lists if len(part) > depth]
    shown += rest[: max(0, count - noise - len(shown))]
    return [*shown, *one.negative[: max(0, count - len(shown))]]


def _counterfactual(one: Instance, noise: int, count: int, rng: random.Random) -> list[str]:
    places = rng.sample(range(len(one.wrong)), min(len(one.wrong), count - noise))
    return [*(one.wrong[place] for place in places), *one.negative[:noise]]


def _instance(record: Mapping[str, Any], name: str) -> Instance:
    positive = record["positive"]
    for field in ("positive", "negative"):
        if not isinstance(record[field], list):
            raise ValueError(f"{field} is {record[field]!r:.40}, not a list")
    if not positive:
        raise ValueError("positive is empty")
    nested = isinstance(positive[0], list)
    task: Task = "int" if nested else "fact" if "positive_wrong" in record else "plain"
    lists = tuple(map(_texts, positive if nested else [positive]))
    if not all(lists):
        raise ValueError("a list of positive passages is empty")
    return Instance(
        name,
        task,
        _text(record["query"]),
        _golden(record["answer"]),
        lists,
        _texts(record["negative"]),
        _texts(record.get("positive_wrong", [])),
        _fake(record.get("fakeanswer", "")),
    )


def _golden(answer: Any) -> Golden:
    """A text, a list of parts, or a list of lists of alternatives."""
    parts = answer if isinstance(answer, list) else [answer]
    golden = tuple(tuple(map(_text, part)) if isinstance(part, list) else (_text(part),) for part in parts)
    if not golden or any(not part or not all(map(str.strip, part)) for part in golden):
        raise ValueError("answer is empty")
    return golden


def _fake(answer: Any) -> str:
    """A text, or a list of parts or alternatives, as zh_fact.jsonl has for some: one after another."""
    return ", ".join(map(_fake, answer)) if isinstance(answer, list) else _text(answer)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        # a text would be read letter by letter
        raise ValueError(f"{value!r:.40} is not a list")
    return tuple(map(_text, value))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.40} is not text")
    return value
