"""Context recall: how much of the golden answer follows from the passages read."""

from __future__ import annotations

from typing import ClassVar, Literal

from harness.measures.answer.case import Case
from harness.measures.answer.llm_measure import (
    LlmMeasure,
    LlmMeasureConfig,
    Scoring,
    judged,
    share_of,
    verdicts,
)
from harness.measures.answer.measure import MeasureFacts
from harness.measures.answer.steps import SUPPORTED
from harness.values import sentence_spans


class ContextRecallConfig(LlmMeasureConfig):
    """How many sentences of the golden answer follow from the passages that were read."""

    kind: Literal["context_recall"] = "context_recall"
    steps: ClassVar = (SUPPORTED,)


class ContextRecall(LlmMeasure[ContextRecallConfig]):
    """Attributed sentences over sentences of the golden answer; the answer that was given plays no part."""

    facts = MeasureFacts(
        about="the share of the golden answer's sentences that follow from the passages read",
        formula="|sentences of the reference supported by the passages| / |sentences of the reference|",
        undefined="without a golden answer, or where nothing was read",
        source="ragas `context_recall`",
        needs=frozenset({"reference", "passages", "llm"}),
        compare="ragas lets the model split the reference into sentences and divides by those that came "
        "back; here a rule splits it and every sentence has its verdict.",
    )

    def one(self, case: Case) -> Scoring:
        """One call."""
        sentences = [case.reference[start:end] for start, end in sentence_spans(case.reference)]
        (found,) = yield from verdicts(SUPPORTED, [case.texts], sentences)
        return self.score(case, share_of(found), {"sentences": judged(sentences, found)})
