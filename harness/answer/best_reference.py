"""Measures beside several golden answers: the one that an answer is nearest to counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.answer.case import AnswerScore, Case

Scoring = Callable[[Sequence[Case]], list[AnswerScore]]


def by_best_reference(cases: Sequence[Case], scoring: Scoring) -> list[AnswerScore]:
    """Score each case beside each of its golden answers, and keep the best score (SQuAD, evaluate-v2.0.py).

    ``scoring`` gets cases with one golden answer at most. Details of a case with several say which it was
    (``golden``). A golden answer beside which the measure is undefined does not count unless all are so.
    Where scoring beside one has failed, the best is not known and the case has failed.
    """
    parts = [_parted(case) for case in cases]
    scores = iter(scoring([one for own in parts for one in own]))
    return [_best(own, [next(scores) for _ in own]) for own in parts]


def _parted(case: Case) -> list[Case]:
    if not case.others:
        return [case]
    return [replace(case, reference=text, others=()) for text in case.references]


def _best(cases: Sequence[Case], scores: Sequence[AnswerScore]) -> AnswerScore:
    if len(scores) == 1:
        return scores[0]
    failed = next((score for score in scores if score.failed), None)
    if failed is not None:
        return failed
    known = [place for place, score in enumerate(scores) if score.value is not None]
    if not known:
        return scores[0]
    # of equals the first
    best = max(known, key=lambda place: scores[place].value or 0.0)
    details = {**scores[best].details, "golden": cases[best].reference}
    return replace(scores[best], details=details)
