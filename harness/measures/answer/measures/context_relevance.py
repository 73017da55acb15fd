"""Context relevance: whether the passages read hold what the question asks for."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from harness.measures.answer.case import Case
from harness.measures.answer.form import joined
from harness.measures.answer.llm_measure import LlmMeasure, LlmMeasureConfig, Scoring, ask
from harness.measures.answer.measure import MeasureFacts
from harness.measures.answer.steps import RELEVANCE

HIGHEST = 2


class ContextRelevanceConfig(LlmMeasureConfig):
    """Whether what was read holds what the question asks for; no golden answer is needed."""

    kind: Literal["context_relevance"] = "context_relevance"
    steps: ClassVar = (RELEVANCE,)
    samples: int = Field(2, ge=1, le=20, description="How often the model is asked; the mean counts.")


class ContextRelevance(LlmMeasure[ContextRelevanceConfig]):
    """The mean of a model's grades 0, 1 and 2 of all passages together, over 2."""

    facts = MeasureFacts(
        about="whether the passages read together contain what the question asks for",
        formula="1/n Σ grade_i / 2; grades 0 (nothing), 1 (part of it), 2 (all of it) from n calls",
        undefined="where nothing was read",
        source="ragas `nv_context_relevance`",
        needs=frozenset({"passages", "llm"}),
        compare="ragas asks in two wordings, takes the highest digit anywhere in an answer, and one grade "
        "that could be read where the other could not; here one wording is asked n times and all must be "
        "read. ragas gives 0 unasked where the passages are part of the question.",
    )

    def one(self, case: Case) -> Scoring:
        """Ask n times."""
        item = (case.query.text, (joined(case.texts),))
        grades = yield from ask(RELEVANCE, item, samples=self.config.samples)
        return self.score(case, sum(grades) / len(grades) / HIGHEST, {"grades": grades})
