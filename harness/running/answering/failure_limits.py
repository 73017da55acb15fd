"""When too many failed calls end a run: one rule for settings, trials and other pipelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from harness.measures import AnswerMeasure, AnswerScore, Case
from harness.steps import Reply
from harness.values import LlmError


def refuse_failures(
    measure: AnswerMeasure[Any], cases: Sequence[Case], scores: Sequence[AnswerScore], most: float
) -> None:
    """Raise LlmError if more than the share ``most`` of the cases that could be scored have failed.

    A case that lacks what the measure looks at, such as an answer, could not be scored. A measure that is
    undefined for a case has not failed.
    """
    could = [score for case, score in zip(cases, scores, strict=True) if not measure.missing(case)]
    failed = [score.reason for score in could if score.failed]
    if len(failed) > most * len(could):
        raise LlmError(
            f"{measure.name}: {len(failed)} of {len(could)} answers could not be scored "
            f"({counted_reasons(failed, ', ')}); answer_max_unscored allows {most:.0%}. What was answered is "
            "in the ledger. Set `answer_judge.ask_again: true` to ask the failed calls again, name another "
            "model, or raise the limit."
        )


NO_PASSAGES = "no_passages"
"""Why a question is not asked: nothing was found, or nothing found fits ``max_tokens``."""


def refuse_unanswered(whose: str, answered_by: str, replies: Sequence[Reply], most: float) -> None:
    """Raise LlmError if more than the share ``most`` of the questions failed: the rest says little.

    A question that was not asked because nothing was read has not failed.
    """
    failed = [reply.reason for reply in replies if reply.text is None and reply.reason != NO_PASSAGES]
    if len(failed) > most * len(replies):
        raise LlmError(
            f"{whose}: {len(failed)} of {len(replies)} questions have no answer by {answered_by} "
            f"({counted_reasons(failed, ', ')}); answer.max_failed allows {most:.0%}. Every other answer is "
            "in the ledger. Set `answer.ask_again: true` to ask the failed ones again, name another model, "
            "or raise the limit."
        )


def counted_reasons(reasons: Iterable[str], between: str) -> str:
    """Each reason with its count, the most frequent first."""
    return between.join(f"{reason} x{count}" for reason, count in Counter(reasons).most_common())
