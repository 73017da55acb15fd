"""RGB's files → trials, by the rules of its script for choosing passages.

Its licence is CC BY-NC-SA 4.0: trials made of it are for evaluation alone, and are not to be passed on with
works of another licence.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from harness.running.abilities.trial import Ability, Golden, Trial, read_lines

Task = Literal["plain", "int", "fact"]
_ABILITIES: dict[Task, Ability] = {"plain": "noise", "int": "integration", "fact": "counterfactual"}


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
Texts = Annotated[list[str], Field(min_length=1)]


class Instance(BaseModel):
    """A line of a file, as RGB has it.

    ``answer`` is a text, a list of parts, or a list of lists of alternatives. ``positive`` has a list for
    each sub-question where there are several; ``positive_wrong`` are the positive passages with a false fact
    in them, in the same order, and ``fakeanswer`` is that fact.
    """

    model_config = ConfigDict(strict=True)

    id: int | str
    query: str
    answer: Text | Annotated[list[Text | Annotated[list[Text], Field(min_length=1)]], Field(min_length=1)]
    positive: Texts | Annotated[list[Texts], Field(min_length=1)]
    negative: list[str]
    positive_wrong: list[str] | None = None
    fakeanswer: str | list[str | list[str]] = ""

    @property
    def task(self) -> Task:
        """What the file tests; its fields say which."""
        if isinstance(self.positive[0], list):
            return "int"
        return "plain" if self.positive_wrong is None else "fact"

    @property
    def golden(self) -> Golden:
        """The parts of the answer, each with its alternatives."""
        parts = self.answer if isinstance(self.answer, list) else [self.answer]
        return tuple((part,) if isinstance(part, str) else tuple(part) for part in parts)

    @property
    def fake(self) -> str:
        """The false fact; of a list, as zh_fact.jsonl has for some, one part after another."""
        parts = self.fakeanswer if isinstance(self.fakeanswer, list) else [self.fakeanswer]
        return ", ".join(part if isinstance(part, str) else ", ".join(part) for part in parts)


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
    remedy = "Take a file as RGB has it, such as en_fact.jsonl."
    found = read_lines(path, Instance.model_validate_json, "id", "an RGB instance", remedy)
    return [one.model_copy(update={"positive_wrong": None}) for one in found] if true else found


def rgb_trials(path: Path, options: RgbOptions, *, true: bool = False) -> Iterator[Trial]:
    """The trials of a file: each instance at every share of noise, and with nothing but noise.

    An instance without enough noise to fill its share is left out of rejection, and otherwise shows fewer
    passages of noise, as in RGB. Draws depend on the seed and the trial alone. With ``true``, counterfactual
    instances are read with their true passages. Raises CorpusError as ``read_rgb`` does.
    """
    for one in read_rgb(path, true=true):
        for rate in options.rates:
            yield from _trial(path.stem, one, _ABILITIES[one.task], rate, options)
        if one.task == "plain":
            yield from _trial(path.stem, one, "rejection", 1.0, options)


def _trial(file: str, one: Instance, ability: Ability, rate: float, options: RgbOptions) -> Iterator[Trial]:
    name = f"{file}-{one.id}-{ability}-{rate:g}"
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
        yield Trial(name, ability, rate, one.query, tuple(shown), one.golden, changed)


def _plain(one: Instance, noise: int, count: int, rng: random.Random) -> list[str]:
    positive: Sequence[Any] = one.positive
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
    parts: Sequence[Any] = one.positive
    lists = [rng.sample(part, len(part)) for part in parts]
    shown = [part[0] for part in lists]
    rest = [part[depth] for depth in range(1, max(map(len, lists))) for part in lists if len(part) > depth]
    shown += rest[: max(0, count - noise - len(shown))]
    return [*shown, *one.negative[: max(0, count - len(shown))]]


def _counterfactual(one: Instance, noise: int, count: int, rng: random.Random) -> list[str]:
    wrong = one.positive_wrong or []
    return [*rng.sample(wrong, min(len(wrong), count - noise)), *one.negative[:noise]]
