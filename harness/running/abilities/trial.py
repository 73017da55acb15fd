"""Trials of abilities: what is asked and shown, their files, their answers and how these are marked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from harness.comparison import Interval, wilson_interval
from harness.data import read_utf8
from harness.measures import refuses
from harness.report import Table
from harness.running.answering.replies import refuse_unanswered
from harness.running.answering.scores import pending_calls
from harness.running.context import Context
from harness.running.tools import RunTools
from harness.steps import ANSWERERS, AnswerConfig, AnswerInput, AnswerReply, PendingCalls
from harness.values import CorpusError, encodable, interval, number, problem_in

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
    for at, line in enumerate(read_utf8(path).removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = read(line)
        except ValidationError as error:
            where = f"{path}, line {at}"
            raise CorpusError(
                f"{where}: is not {what} ({problem_in(error)}). Correct it. {remedy}"
            ) from error
        key = getattr(item, name)
        if key in found:
            raise CorpusError(f"{path}, line {at}: {name} {key!r} appears twice. Keep one of them.")
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


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial with its reply and how that is marked; None if there is no answer."""

    trial: Trial
    reply: AnswerReply
    marked: MarkedAnswer | None


_SHOWN: dict[Ability, tuple[str, ...]] = {
    "noise": ("right",),
    "rejection": ("rejects",),
    "integration": ("right",),
    "counterfactual": ("right", "detects", "corrects"),
}
"""What is shown of the answers to trials of an ability: marks, or ``corrects``."""


def answer_trials(
    trials: Sequence[Trial], config: AnswerConfig, context: Context, *, any_refusal: bool = False
) -> list[TrialResult]:
    """Answer all trials; every passage of a trial is shown, in its order. Answers are marked by ``mark``.

    Raises PendingCallsError if the context may not ask, and LlmError if the model cannot be asked or if more
    trials have no answer than ``answer.max_failed`` allows.
    """
    answerer = ANSWERERS.make(config)
    replies = answerer.run(_asked(trials), RunTools(context))
    refuse_unanswered("The trials", answerer.name, replies, config.max_failed)
    return [
        TrialResult(
            trial, reply, None if reply.text is None else mark(trial, reply.text, any_refusal=any_refusal)
        )
        for trial, reply in zip(trials, replies, strict=True)
    ]


def price(trials: Sequence[Trial], config: AnswerConfig, context: Context) -> tuple[PendingCalls, ...]:
    """The calls that answering would make, in a context that may not ask; nothing if it costs nothing."""
    answerer = ANSWERERS.make(config)
    return pending_calls([partial(answerer.run, _asked(trials), RunTools(context))] if answerer.asks else [])


def _asked(trials: Sequence[Trial]) -> list[AnswerInput]:
    return [AnswerInput(one.trial_id, one.question, one.passages) for one in trials]


def shares_table(title: str, tried: Sequence[TrialResult]) -> Table:
    """How often the trials of an ability and share of noise show something, with its interval and count.

    Trials without an answer are counted and left out.
    """
    rows = tuple(row for ability in ABILITIES for row in _rows(ability, tried))
    reasons = Counter(one.reply.reason for one in tried if one.marked is None)
    notes = [
        "right: holds every part of the golden answer. rejects: says that the information is insufficient. "
        "detects: says that passages hold factual errors. corrects: right among those that detect."
    ]
    if reasons:
        counts = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
        notes.append(f"Trials without an answer are left out: {counts}.")
    columns = ("ability", "noise", "what", "share", "95% interval", "n", "failed")
    return Table(title, columns, rows, names=3, left=frozenset({0, 2}), notes=tuple(notes))


def _rows(ability: Ability, tried: Sequence[TrialResult]) -> Iterator[tuple[str, ...]]:
    for rate in sorted({one.trial.rate for one in tried if one.trial.ability == ability}):
        own = [one.marked for one in tried if one.trial.ability == ability and one.trial.rate == rate]
        marks = [marked for marked in own if marked is not None]
        for what in _SHOWN[ability]:
            # right, of those that detect
            of = [one for one in marks if one.detects] if what == "corrects" else marks
            share = _share([getattr(one, "right" if what == "corrects" else what) for one in of])
            bounds = interval(share.low, share.high, share.n)
            failed = str(len(own) - len(marks))
            yield ability, f"{rate:g}", what, number(share.value), bounds, str(share.n), failed


def _share(values: Sequence[bool]) -> Interval:
    """The share with Wilson's interval, which does not shrink to nothing if all trials come out alike."""
    if not values:
        return Interval()
    low, high = wilson_interval(sum(values), len(values))
    return Interval(sum(values) / len(values), low, high, len(values))
