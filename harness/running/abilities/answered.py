"""Trials → answers of a model → shares by ability and share of noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from harness.comparison import Interval, wilson_interval
from harness.report import Table
from harness.running.abilities.trial import ABILITIES, Ability, MarkedAnswer, Trial, mark
from harness.running.answering.replies import refuse_unanswered
from harness.running.answering.scores import pending_calls
from harness.running.context import Context
from harness.running.tools import RunTools
from harness.steps import ANSWERERS, AnswerConfig, AnswerInput, AnswerReply, PendingCalls
from harness.values import interval, number


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
