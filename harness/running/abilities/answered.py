"""Trials → answers of a model → shares by ability and share of noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from harness.comparison import Interval, wilson_interval
from harness.report import Table
from harness.running.abilities.marking import MarkedAnswer, mark
from harness.running.abilities.trial import ABILITIES, Ability, Trial
from harness.running.answering.failure_limits import refuse_unanswered
from harness.running.answering.tools import pending_calls
from harness.running.context import Context
from harness.running.tools import RunTools
from harness.steps import ANSWERERS, AnswerConfig, AnswerInput, PendingCalls, Reply
from harness.values import interval, number


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial with its reply and how that is marked; None if there is no answer."""

    trial: Trial
    reply: Reply
    marked: MarkedAnswer | None


@dataclass(frozen=True, slots=True)
class Share:
    """How often trials of one ability and share of noise show something; None without an answered trial.

    ``what``: `right` (the whole golden answer), `rejects`, `detects` (names the passages as false), or
    `corrects` (right among those that detect). Intervals are Wilson's.
    """

    ability: Ability
    rate: float
    what: str
    share: Interval
    failed: int


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


def shares(tried: Sequence[TrialResult]) -> list[Share]:
    """Every share, by ability and share of noise; trials without an answer are counted and left out."""
    found: list[Share] = []
    for ability in ABILITIES:
        for rate in sorted({one.trial.rate for one in tried if one.trial.ability == ability}):
            own = [one for one in tried if one.trial.ability == ability and one.trial.rate == rate]
            found += _shares(ability, rate, own)
    return found


def _shares(ability: Ability, rate: float, tried: Sequence[TrialResult]) -> list[Share]:
    marks = [one.marked for one in tried if one.marked is not None]
    failed = len(tried) - len(marks)
    shown: dict[str, list[bool]] = {}
    if ability == "rejection":
        shown["rejects"] = [one.rejects for one in marks]
    else:
        shown["right"] = [one.right for one in marks]
    if ability == "counterfactual":
        shown["detects"] = [one.detects for one in marks]
        shown["corrects"] = [one.right for one in marks if one.detects]
    return [Share(ability, rate, what, _estimate(values), failed) for what, values in shown.items()]


def _estimate(values: Sequence[bool]) -> Interval:
    """The share with Wilson's interval, which does not shrink to nothing if all trials come out alike."""
    if not values:
        return Interval()
    low, high = wilson_interval(sum(values), len(values))
    return Interval(sum(values) / len(values), low, high, len(values))


def shares_table(title: str, tried: Sequence[TrialResult]) -> Table:
    """One row per share, with its interval and the trials it is based on."""
    rows = tuple(
        (
            one.ability,
            f"{one.rate:g}",
            one.what,
            number(one.share.value),
            interval(one.share.low, one.share.high, one.share.n),
            str(one.share.n),
            str(one.failed),
        )
        for one in shares(tried)
    )
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
