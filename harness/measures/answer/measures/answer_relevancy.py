"""Answer relevancy: how similar the questions that it would answer are to the one asked."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from harness.measures.answer.case import Case
from harness.measures.answer.llm_measure import LlmMeasure, LlmMeasureConfig, Scoring, ask, similarities
from harness.measures.answer.measure import MeasureFacts
from harness.measures.answer.steps import QUESTION


class AnswerRelevancyConfig(LlmMeasureConfig):
    """How similar the questions that an answer would answer are to the one that was asked."""

    kind: Literal["answer_relevancy"] = "answer_relevancy"
    steps: ClassVar = (QUESTION,)
    questions: int = Field(3, ge=1, le=20, description="How many questions are generated for an answer.")


class AnswerRelevancy(LlmMeasure[AnswerRelevancyConfig]):
    """The mean cosine of generated questions and the question; 0 if all find the answer noncommittal."""

    facts = MeasureFacts(
        about="how similar questions generated from the answer are to the question asked",
        formula="1/n Σ cos(v(question), v(question_i)), 0 where all n calls find the answer noncommittal",
        range="-1 to 1",
        undefined="without an answer, or if a vector is zero",
        source="Es et al., RAGAS, EACL 2024 (demonstrations); ragas `answer_relevancy`",
        needs=frozenset({"answer", "llm", "vectors"}),
        compare="ragas takes the mean of the questions that came back; here all n must.",
    )

    def one(self, case: Case) -> Scoring:
        """Ask n times, and embed all questions."""
        back = yield from ask(QUESTION, ("", (case.answer or "",)), samples=self.config.questions)
        cosines = yield from similarities(*((case.query.text, one.question) for one in back))
        details = {
            "questions": [
                {"question": one.question, "cosine": cosine, "noncommittal": int(one.noncommittal)}
                for one, cosine in zip(back, cosines, strict=True)
            ]
        }
        if all(one.noncommittal for one in back):
            return self.score(case, 0.0, details)
        known = [one for one in cosines if one is not None]
        if len(known) < len(back):
            return self.unscored(case, "a vector is zero", details)
        return self.score(case, sum(known) / len(known), details)
