"""Exact match: whether an answer is the golden answer, word for word."""

from __future__ import annotations

from typing import Literal

from harness.measures.answer.case import AnswerScore, Case
from harness.measures.answer.measure import AnswerMeasureConfig, MeasureFacts, PlainMeasure
from harness.measures.answer.words import words_of


class ExactMatchConfig(AnswerMeasureConfig):
    """Whether an answer is the golden one, except for case, punctuation and articles."""

    kind: Literal["exact_match"] = "exact_match"


class ExactMatch(PlainMeasure[ExactMatchConfig]):
    """1 if the words of answer and golden answer are the same, in the same order."""

    best_reference = True
    facts = MeasureFacts(
        about="whether the answer equals the golden answer, ignoring case, punctuation "
        "and the articles a, an, the",
        formula="1 if words(answer) = words(reference), else 0",
        undefined="without an answer or a golden answer",
        source="Rajpurkar et al., SQuAD, EMNLP 2016 (evaluate-v2.0.py)",
        needs=frozenset({"answer", "reference"}),
        compare="of several golden answers the best counts, as in SQuAD. Punctuation includes Chinese "
        "punctuation, as in the script of CMRC 2018.",
    )

    def one(self, case: Case) -> AnswerScore:
        """1 or 0."""
        return self.score(case, float(words_of(case.answer or "") == words_of(case.reference)))
