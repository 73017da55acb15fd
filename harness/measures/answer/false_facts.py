"""What an answer makes of passages whose facts were replaced by false ones."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from harness.measures.answer.answer_measure import AnswerMeasure, Case, MeasureFacts
from harness.measures.answer.containment import contains
from harness.values import QueryScore

PHRASES = ("factual error", "factually incorrect", "事实性错误", "事实错误")
"""Phrases by which an answer says that passages are wrong, in lower case."""
_SOURCE = "Chen et al., Benchmarking large language models in retrieval-augmented generation (RGB), AAAI 2024"


class FalseFactMeasure(AnswerMeasure):
    """Base of the measures of answers from passages that are wrong."""

    phrases: tuple[str, ...] = Field(
        PHRASES, description="Phrases by which an answer says that passages are wrong, in any case."
    )
    of: Literal["altered", "all"] = Field(
        "altered",
        description="Only answers for which a fact in what was read was replaced (`read: {kind: "
        "counterfactual}`); or `all`, where the passages are known to be wrong, as in a file of answers.",
    )

    def detects(self, case: Case) -> bool:
        """Whether the answer says that passages are wrong."""
        return contains(case.answer or "", self.phrases)

    def out_of_scope(self, case: Case) -> str:
        """Why the measure says nothing of a case; '' where it does."""
        return "no fact that was read is false" if self.of == "altered" and not case.changed else ""


class ErrorDetected(FalseFactMeasure):
    """Whether the answer says that what was read is wrong."""

    kind: Literal["error_detected"] = "error_detected"
    facts: ClassVar = MeasureFacts(
        about="whether the answer says that the passages are wrong, where they are",
        formula="1 if a phrase is in lower(answer), else 0",
        undefined="without an answer; where no fact in what was read was replaced (`of: altered`)",
        source=f"{_SOURCE}: error detection rate",
        needs=frozenset({"answer"}),
        compare="RGB's phrases are `factual errors` and `事实性错误`",
    )

    def score_case(self, case: Case) -> QueryScore:
        """1 or 0."""
        if reason := self.out_of_scope(case):
            return self.unscored(case, reason)
        return self.score(case, float(self.detects(case)))


class ErrorCorrected(FalseFactMeasure):
    """Whether an answer that says the passages are wrong gives the right answer all the same."""

    kind: Literal["error_corrected"] = "error_corrected"
    facts: ClassVar = MeasureFacts(
        about="whether an answer that detects the error gives the golden answer",
        formula="1 if for every part of the golden answer one of its wordings is in lower(answer), else 0",
        undefined="as `error_detected`; without a golden answer; where the answer does not detect the error",
        source=f"{_SOURCE}: error correction rate",
        needs=frozenset({"answer", "reference"}),
        compare="RGB also counts a reply that detects the error and then says `insufficient information`; "
        "here that corrects nothing",
    )

    def score_case(self, case: Case) -> QueryScore:
        """1 or 0, and which parts are there."""
        if reason := self.out_of_scope(case):
            return self.unscored(case, reason)
        if not self.detects(case):
            return self.unscored(case, "the answer does not say that the passages are wrong")
        held = [int(contains(case.answer or "", part)) for part in case.parts or (case.references,)]
        return self.score(case, float(all(held)), {"parts": held})
