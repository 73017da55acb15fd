"""Context precision: whether the useful passages are before the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from harness.measures.answer.case import Case
from harness.measures.answer.llm_measure import LlmMeasure, LlmMeasureConfig, Scoring, ask
from harness.measures.answer.measure import MeasureFacts, Need
from harness.measures.answer.steps import USEFUL


class ContextPrecisionConfig(LlmMeasureConfig):
    """Whether the passages that help to the golden answer are before the others."""

    kind: Literal["context_precision"] = "context_precision"
    steps: ClassVar = (USEFUL,)
    against: Literal["reference", "answer"] = Field(
        "reference",
        description="Whether a passage must be useful for arriving at the golden answer, or at the "
        "answer that was given.",
    )


class ContextPrecision(LlmMeasure[ContextPrecisionConfig]):
    """Average precision over the passages read, by a model's verdicts."""

    facts = MeasureFacts(
        about="whether passages that are useful for the golden answer are ranked before the others",
        formula="Σ P@i · v_i / Σ v_i; v_i = 1 where passage i is useful, P@i = Σ_{j≤i} v_j / i; 0 where none "
        "is useful",
        undefined="without a golden answer (with `against: answer`, without an answer), or where nothing was "
        "read",
        source="ragas `context_precision`; average precision over what was read alone, so evidence that was "
        "not retrieved costs nothing",
        needs=frozenset({"reference", "passages", "llm"}),
        compare="ragas adds 1e-10 to Σ v_i.",
    )

    @property
    def needs(self) -> frozenset[Need]:
        """An answer or a golden answer."""
        return (self.facts.needs - {"reference"}) | {self.config.against}

    def one(self, case: Case) -> Scoring:
        """One call per passage."""
        answer = case.reference if self.config.against == "reference" else case.answer or ""
        useful = yield from ask(USEFUL, *((case.query.text, (answer, text)) for text in case.texts))
        return self.score(case, average_precision(useful), {"useful": list(map(int, useful))})


def average_precision(useful: Sequence[bool]) -> float:
    """The mean of the precisions at the useful places; 0 if there are none."""
    total, seen = 0.0, 0
    for place, one in enumerate(useful, start=1):
        if one:
            seen += 1
            total += seen / place
    return total / seen if seen else 0.0
