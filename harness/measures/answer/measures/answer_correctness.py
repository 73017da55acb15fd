"""Answer correctness: how far an answer states what the golden answer states."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from harness.measures.answer.case import Case
from harness.measures.answer.llm_measure import (
    LlmMeasure,
    LlmMeasureConfig,
    Scoring,
    judged,
    similarities,
    statements_in,
    verdicts,
)
from harness.measures.answer.measure import MeasureFacts, Need
from harness.measures.answer.steps import CONTRADICTED, STATEMENTS, SUPPORTED


class AnswerCorrectnessConfig(LlmMeasureConfig):
    """How far an answer states what the golden one states, and how similar the two are."""

    kind: Literal["answer_correctness"] = "answer_correctness"
    steps: ClassVar = (STATEMENTS, SUPPORTED, CONTRADICTED)
    statements_weight: float = Field(0.75, ge=0, description="The weight of F1 of the statements.")
    similarity_weight: float = Field(
        0.25, ge=0, description="The weight of the cosine of the two answers; 0 embeds nothing."
    )
    contradictions: bool = Field(
        True,
        description="Ask which of the answer's unsupported statements contradict the golden answer, in one "
        "more call where there are any: where answers are lost, it tells contradictions from additions. The "
        "value is the same either way.",
    )

    @model_validator(mode="after")
    def _weighs_something(self) -> AnswerCorrectnessConfig:
        if not self.statements_weight + self.similarity_weight:
            raise ValueError("statements_weight and similarity_weight are both 0; one must be above")
        return self


class AnswerCorrectness(LlmMeasure[AnswerCorrectnessConfig]):
    """F1 of the statements of both answers, each checked against the other, and their cosine."""

    best_reference = True
    facts = MeasureFacts(
        about="how far the answer states what the golden answer states, and nothing else",
        formula="w₁ F1 + w₂ cos(v(answer), v(reference)), over w₁ + w₂; F1 = TP / (TP + (FP + FN) / 2): TP "
        "statements of the answer that the reference supports, FP those it does not, FN statements of the "
        "reference that the answer does not support; w₁ = 0.75, w₂ = 0.25",
        range="0 to 1 (from -w₂ / (w₁ + w₂) on where a cosine is negative)",
        undefined="without an answer or a golden answer, where neither states anything, or where a vector is "
        "zero",
        source="ragas `answer_correctness`",
        needs=frozenset({"answer", "reference", "llm", "vectors"}),
        compare="ragas asks for TP, FP and FN in one call and takes the lists that come back, whatever their "
        "length; here every statement has its verdict. Where neither answer states anything, ragas gives F1 "
        "1, ours is undefined. ragas knows one golden answer; of several, the best counts here.",
    )

    @property
    def needs(self) -> frozenset[Need]:
        """No vectors where similarity has no weight."""
        return self.facts.needs - (set() if self.config.similarity_weight else {"vectors"})

    def one(self, case: Case) -> Scoring:
        """Four calls: the statements of both answers, and the verdicts on either.

        One more where statements are unsupported, unless ``contradictions`` is false; if that one fails, the
        score does without.
        """
        c, answer = self.config, case.answer or ""
        own = yield from statements_in(case.query.text, answer)
        golden = yield from statements_in(case.query.text, case.reference)
        if not own and not golden:
            return self.unscored(case, "neither answer states anything")
        (right,) = yield from verdicts(SUPPORTED, [[case.reference]], own)
        (covered,) = yield from verdicts(SUPPORTED, [[answer]], golden)
        cosines = yield from similarities(*([(answer, case.reference)] if c.similarity_weight else []))
        statements, reference = judged(own, right), judged(golden, covered)
        if c.contradictions:
            wrong = [one for one in statements if not one["verdict"]]
            texts = [one["statement"] for one in wrong]
            (against,) = yield from verdicts(CONTRADICTED, [[case.reference]], texts, needed=False)
            for one, verdict in zip(wrong, against, strict=False):
                one["contradicts"] = int(verdict)
        f1 = f1_of(sum(right), len(right) - sum(right), len(covered) - sum(covered))
        details: dict[str, Any] = {"statements": statements, "reference": reference, "f1": f1}
        if not cosines:
            return self.score(case, f1, details)
        (cosine,) = cosines
        details["similarity"] = cosine
        if cosine is None:
            return self.unscored(case, "a vector is zero", details)
        weights = c.statements_weight + c.similarity_weight
        return self.score(case, (c.statements_weight * f1 + c.similarity_weight * cosine) / weights, details)


def f1_of(true: int, wrong: int, missed: int) -> float:
    """F1 of counts; 0 if nothing is true."""
    return true / (true + (wrong + missed) / 2) if true else 0.0
