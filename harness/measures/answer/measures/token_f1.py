"""Token F1: how many words an answer shares with the golden answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from harness.measures.answer.case import AnswerScore, Case
from harness.measures.answer.measure import AnswerMeasureConfig, MeasureFacts, PlainMeasure
from harness.measures.answer.words import words_of


class TokenF1Config(AnswerMeasureConfig):
    """The words that an answer shares with the golden one; characters in Chinese and Japanese."""

    kind: Literal["token_f1"] = "token_f1"


class TokenF1(PlainMeasure[TokenF1Config]):
    """The harmonic mean of the shares of common words in the answer and in the golden answer."""

    best_reference = True
    facts = MeasureFacts(
        about="the words shared by the answer and the golden answer; characters in Chinese and Japanese",
        formula="2PR / (P + R); P = |common| / |answer|, R = |common| / |reference|, words counted with "
        "repetitions",
        undefined="without an answer or a golden answer",
        source="Rajpurkar et al., SQuAD, EMNLP 2016 (evaluate-v2.0.py); Cui et al., CMRC 2018, EMNLP 2019",
        needs=frozenset({"answer", "reference"}),
        compare="as for `exact_match`",
    )

    def one(self, case: Case) -> AnswerScore:
        """F1 with its two parts."""
        answer, golden = words_of(case.answer or ""), words_of(case.reference)
        common = sum((Counter(answer) & Counter(golden)).values())
        precision, recall = (common / len(words) if words else 0.0 for words in (answer, golden))
        return self.score(case, f1(answer, golden, common), {"precision": precision, "recall": recall})


def f1(answer: Sequence[str], golden: Sequence[str], common: int) -> float:
    """F1 of two lists with ``common`` words in common; two empty ones agree, as in SQuAD 2.0."""
    if not answer or not golden:
        return float(tuple(answer) == tuple(golden))
    return 2 * common / (len(answer) + len(golden))
