"""Whether an answer contains the golden answer: one of several, or every part of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from harness.measures.answer.answer_measure import AnswerMeasure, Case, MeasureFacts
from harness.values import QueryScore, on_one_line

_SOURCE = (
    "Chen et al., Benchmarking large language models in retrieval-augmented generation (RGB), AAAI 2024 "
    "(`checkanswer` of its script)"
)


def contains(answer: str, wordings: Sequence[str]) -> bool:
    """Whether an answer has one of the wordings in it, in any case; white space of any kind is one blank."""
    text = on_one_line(answer).lower()
    return any(on_one_line(wording).lower() in text for wording in wordings)


class WordingMeasure(AnswerMeasure):
    """Base of the measures that look for the golden answer within the answer."""

    unless: tuple[str, ...] = Field(
        (),
        description="Phrases, in any case, with which an answer counts as wrong whatever else it says, "
        "such as `insufficient information`.",
    )

    def refused(self, answer: str) -> bool:
        """Whether the answer has one of the phrases of ``unless``."""
        return contains(answer, self.unless)


class Contains(WordingMeasure):
    """Whether the golden answer is in the answer, such as `Norway` in `The answer is Norway.`"""

    kind: Literal["contains"] = "contains"
    best_reference: ClassVar = True
    facts: ClassVar = MeasureFacts(
        about="whether the golden answer is in the answer, word for word, ignoring case",
        formula="1 if lower(reference) is in lower(answer) and no phrase of `unless` is, else 0",
        undefined="without an answer or a golden answer",
        source=_SOURCE,
        needs=frozenset({"answer", "reference"}),
        compare="a short golden answer such as `7` is in many answers by chance",
    )

    def score_case(self, case: Case) -> QueryScore:
        """1 or 0."""
        answer = case.answer or ""
        return self.score(case, float(contains(answer, [case.reference]) and not self.refused(answer)))


class AllParts(WordingMeasure):
    """Whether every part of the golden answer is in the answer, each in one of its wordings."""

    kind: Literal["all_parts"] = "all_parts"
    facts: ClassVar = MeasureFacts(
        about="whether every part of the golden answer is in the answer, each in one of its wordings",
        formula="1 if for every part one of its wordings is in lower(answer), and no phrase of `unless` is, "
        "else 0. Parts are a JSON list of lists in the column `answer`; any other golden answer is one part",
        undefined="without an answer or a golden answer",
        source=_SOURCE,
        needs=frozenset({"answer", "reference"}),
        compare="RGB's accuracy is the mean with `unless: [insufficient information, 信息不足]`",
    )

    def score_case(self, case: Case) -> QueryScore:
        """1 or 0, and which parts are there."""
        answer = case.answer or ""
        held = [int(contains(answer, part)) for part in case.parts or (case.references,)]
        return self.score(case, float(all(held) and not self.refused(answer)), {"parts": held})
