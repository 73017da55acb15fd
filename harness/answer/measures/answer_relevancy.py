"""Answer relevancy: how near the questions that an answer would answer are to the one that was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from harness.answer.asking import LlmMeasure, LlmMeasureConfig
from harness.answer.case import AnswerScore, AnswerTools, Case, Facts
from harness.answer.cosine import cosines
from harness.answer.steps import QUESTION


class AnswerRelevancyConfig(LlmMeasureConfig):
    """How near the questions that an answer would answer are to the one that was asked."""

    kind: Literal["answer_relevancy"] = "answer_relevancy"
    steps: ClassVar = (QUESTION,)
    questions: int = Field(3, ge=1, le=20, description="How many questions are generated for an answer.")


class AnswerRelevancy(LlmMeasure[AnswerRelevancyConfig]):
    """The mean cosine of generated questions and the question; 0 where all find the answer noncommittal."""

    facts = Facts(
        about="how similar questions generated from the answer are to the question asked",
        formula="1/n Σ cos(v(question), v(question_i)), 0 where all n calls find the answer noncommittal",
        range="-1 to 1",
        undefined="without an answer, or if a vector is zero",
        source="Es et al., RAGAS, EACL 2024 (demonstrations); ragas `answer_relevancy`",
        needs=frozenset({"answer", "llm", "vectors"}),
        compare="ragas takes the mean of the questions that came back; here all n must.",
    )

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """Ask n times a case, and embed all questions."""
        board = self.board(cases, tools)
        asked = board.ask_each(
            QUESTION, lambda place: [("", (board.case(place).answer or "",))], samples=self.config.questions
        )
        pairs = [
            (board.case(place).query.text, one.question) for place, back in asked.items() for one in back
        ]
        near = iter(cosines(pairs, tools))
        for place, back in asked.items():
            found = [next(near) for _ in back]
            known = [one for one in found if one is not None]
            details = {
                "questions": [
                    {"question": one.question, "cosine": cosine, "noncommittal": int(one.noncommittal)}
                    for one, cosine in zip(back, found, strict=True)
                ]
            }
            if all(one.noncommittal for one in back):
                board.score(place, 0.0, details)
            elif len(known) < len(found):
                board.undefined(place, "a vector is zero", details)
            else:
                board.score(place, sum(known) / len(known), details)
        return board.scores()
