"""Trials of abilities: what is asked and shown, their files, and how their answers are marked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from harness.data import read_utf8
from harness.measures import refuses
from harness.values import CorpusError, encodable, problem_in

T = TypeVar("T")
Ability = Literal["noise", "rejection", "integration", "counterfactual"]
ABILITIES: tuple[Ability, ...] = get_args(Ability)
Golden = tuple[tuple[str, ...], ...]
"""The parts of the answer, each as its alternatives: all parts are asked for, one alternative of each."""


@dataclass(frozen=True, slots=True)
class Trial:
    """``rate`` is the share of passages that are noise: 1 for rejection.

    ``golden`` has at least one part, each with at least one alternative that is not blank. ``changed`` says
    what was made false in the passages of a counterfactual trial, '' if the source does not say.
    """

    trial_id: str
    ability: Ability
    rate: float
    question: str
    passages: tuple[str, ...]
    golden: Golden
    changed: str = ""

    def __post_init__(self) -> None:
        """Refuse a trial that could not be marked: no passage, no golden answer."""
        if not 0 <= self.rate <= 1:
            raise ValueError(f"{self.trial_id}: rate is {self.rate}; it is from 0 to 1")
        if not self.passages or any(not text.strip() for text in self.passages):
            raise ValueError(f"{self.trial_id}: shows no passage, or a blank one")
        if not self.golden or any(not part or not all(map(str.strip, part)) for part in self.golden):
            raise ValueError(f"{self.trial_id}: a part of the golden answer is missing or blank")


def write_trials(trials: Iterable[Trial], path: Path) -> int:
    """Write trials to a new file, one JSON object a line; returns their number.

    Raises CorpusError if there is such a file.
    """
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            rows = [encodable(json.dumps(asdict(one), ensure_ascii=False)) for one in trials]
            file.writelines(f"{row}\n" for row in rows)
    except FileExistsError:
        raise CorpusError(f"{path} exists already. Remove it, or name another file.") from None
    return len(rows)


def read_trials(path: Path) -> list[Trial]:
    """The trials of a file; raises CorpusError that names the line at fault."""
    form = TypeAdapter(Trial)
    # strict: a text in place of a list would be read letter by letter
    read = partial(form.validate_json, strict=True)
    return read_lines(path, read, "trial_id", "a trial", "Make some with `harness abilities`.")


def read_lines(path: Path, read: Callable[[str], T], name: str, what: str, remedy: str) -> list[T]:
    """What the lines of a file hold; raises CorpusError that names the line at fault.

    ``read`` raises pydantic's error for a line that is not ``what``; ``name`` is the attribute that no two
    share.
    """
    found: dict[Any, T] = {}
    for number, line in enumerate(read_utf8(path).removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = read(line)
        except ValidationError as error:
            where = f"{path}, line {number}"
            raise CorpusError(
                f"{where}: is not {what} ({problem_in(error)}). Correct it. {remedy}"
            ) from error
        key = getattr(item, name)
        if key in found:
            raise CorpusError(f"{path}, line {number}: {name} {key!r} appears twice. Keep one of them.")
        found[key] = item
    if not found:
        raise CorpusError(f"{path}: there is not one line with {what}. {remedy}")
    return list(found.values())


REJECTS = ("信息不足", "insufficient information")
DETECTS = ("事实性错误", "factual errors")


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """How an answer is marked. ``parts``: which parts of the golden answer it has; none if it refuses."""

    rejects: bool
    detects: bool
    parts: tuple[bool, ...]

    @property
    def right(self) -> bool:
        """Whether it holds every part of the golden answer."""
        return bool(self.parts) and all(self.parts)


def mark(trial: Trial, answer: str, *, any_refusal: bool = False) -> MarkedAnswer:
    """Mark the answer of a trial as RGB publishes it: by lower-cased substrings and by phrases.

    Source: Chen et al., AAAI 2024, and the script evalue.py of its repository. A refused question is marked
    as refused whatever else the answer says; detection is only marked for counterfactual trials.
    ``any_refusal`` also counts refusals in other words than RGB's.
    """
    rejects = any(phrase in answer for phrase in REJECTS) or (any_refusal and refuses(answer))
    detects = any(phrase in answer for phrase in DETECTS)
    return MarkedAnswer(rejects, detects, () if rejects else parts_in(trial.golden, answer))


def parts_in(golden: Golden, answer: str) -> tuple[bool, ...]:
    """Which parts are in the answer, in lower case, by one of their alternatives."""
    lowered = answer.lower()
    return tuple(any(one.lower() in lowered for one in part) for part in golden)
