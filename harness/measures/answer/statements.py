"""The statements of an answer, each checked against what was read or the golden answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from harness.measures.answer.answer_calls import CONTRADICTED, STATEMENTS, SUPPORTED
from harness.measures.answer.answer_measure import Case, MeasureFacts, Need, Scoring, TextPairs
from harness.measures.answer.llm_measure import LlmMeasure, judged, reasons_of, statements_in, verdicts
from harness.measures.answer.shapes import Reasoned
from harness.measures.ragged import Bools


class Faithfulness(LlmMeasure):
    """How much of what an answer claims follows from the passages that were read.

    Supported statements over statements. It does not ask whether they are true.
    """

    kind: Literal["faithfulness"] = "faithfulness"
    steps: ClassVar = (STATEMENTS, SUPPORTED)
    facts: ClassVar = MeasureFacts(
        about="the share of the answer's statements that follow from the passages read",
        formula="|statements supported by the passages| / |statements of the answer|",
        undefined="without an answer, if nothing was read, or if the answer states nothing",
        source="Es et al., RAGAS, EACL 2024 (demonstrations); ragas `faithfulness`",
        needs=frozenset({"answer", "passages", "llm"}),
        compare="ragas divides by the verdicts that came back, however many; here every statement has one or "
        "the case is not scored.",
    )

    def score_case(self, case: Case) -> Scoring:
        """Two calls: the statements of the answer, and their verdicts."""
        (statements,) = yield from statements_in(case.query.text, case.answer or "")
        if not statements:
            return self.unscored(case, "the answer states nothing")
        ((supported,),) = yield from verdicts(SUPPORTED, ([case.texts], statements))
        return self.score(
            case, sum(supported) / len(supported), {"statements": judged(statements, supported)}
        )


class AnswerCorrectness(LlmMeasure):
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
    best_reference: ClassVar = True
    facts: ClassVar = MeasureFacts(
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

    @model_validator(mode="after")
    def _weighs_something(self) -> Self:
        if not self.statements_weight + self.similarity_weight:
            raise ValueError("statements_weight and similarity_weight are both 0; one must be above")
        return self

    @property
    def needs(self) -> frozenset[Need]:
        """No vectors where similarity has no weight."""
        return self.facts.needs - (set() if self.similarity_weight else {"vectors"})

    def score_case(self, case: Case) -> Scoring:
        """Four calls: the statements of both answers, and the verdicts on either.

        One more where statements are unsupported, unless ``contradictions`` is false; if that one fails, the
        score does without.
        """
        answer = case.answer or ""
        claims, golden = yield from statements_in(case.query.text, answer, case.reference)
        if not claims and not golden:
            return self.unscored(case, "neither answer states anything")
        (right,), (covered,) = yield from verdicts(
            SUPPORTED, ([[case.reference]], claims), ([[answer]], golden)
        )
        cosines = yield TextPairs(((answer, case.reference),) if self.similarity_weight else ())
        statements, reference = judged(claims, right), judged(golden, covered)
        if self.contradictions:
            wrong = [statement for statement in statements if not statement["verdict"]]
            texts = [statement["statement"] for statement in wrong]
            ((against,),) = yield from verdicts(CONTRADICTED, ([[case.reference]], texts), needed=False)
            for statement, verdict in zip(wrong, against, strict=False):
                statement["contradicts"] = int(verdict)
        true = sum(right)
        wrong_or_missed = right.count(False) + covered.count(False)
        f1 = true / (true + wrong_or_missed / 2) if true else 0.0
        details: dict[str, Any] = {"statements": statements, "reference": reference, "f1": f1}
        if not cosines:
            return self.score(case, f1, details)
        (cosine,) = cosines
        details["similarity"] = cosine
        if cosine is None:
            return self.unscored(case, "a vector is zero", details)
        weights = self.statements_weight + self.similarity_weight
        return self.score(
            case, (self.statements_weight * f1 + self.similarity_weight * cosine) / weights, details
        )


def _reasons_by_passage(verdicts: Sequence[Reasoned]) -> dict[str, list[str]]:
    """The reasons for the verdicts of all passages on one statement; nothing where none was given."""
    given = reasons_of(verdicts)
    return {"reasons_by_passage": given["reasons"]} if given else {}


class NoiseSensitivity(LlmMeasure):
    """How many statements of an answer are wrong and follow from a passage; less is better."""

    kind: Literal["noise_sensitivity"] = "noise_sensitivity"
    steps: ClassVar = (STATEMENTS, SUPPORTED)
    passages: Literal["relevant", "irrelevant"] = Field(
        "relevant",
        description="Wrong by a passage that supports some statement of the golden answer, or by others "
        "alone (`irrelevant`).",
    )
    facts: ClassVar = MeasureFacts(
        about="the share of the answer's statements that are wrong and follow from a relevant passage (or, "
        "with `passages: irrelevant`, from irrelevant ones alone)",
        formula="|{s: not supported by the reference, supported by a relevant passage}| / |statements of the "
        "answer|; a passage is relevant if it supports a statement of the reference",
        undefined="without an answer or a golden answer, where nothing was read, or where either answer "
        "states nothing",
        source="Ru et al., RAGChecker, NeurIPS 2024 (datasets and benchmarks); ragas `noise_sensitivity`",
        needs=frozenset({"answer", "reference", "passages", "llm"}),
        less_is_better=True,
        compare="ragas takes whatever number of verdicts comes back; here every statement has one.",
    )

    def score_case(self, case: Case) -> Scoring:
        """2n + 3 calls with n passages."""
        statements, golden = yield from statements_in(case.query.text, case.answer or "", case.reference)
        if not statements or not golden:
            return self.unscored(case, f"the {'golden answer' if statements else 'answer'} states nothing")
        passages = [[text] for text in case.texts]
        (true,), right, claimed = yield from verdicts(
            SUPPORTED, ([[case.reference]], statements), (passages, golden), (passages, statements)
        )
        relevant: Bools = np.array(right, dtype=np.bool_).max(axis=1)
        supported: Bools = np.array(claimed, dtype=np.bool_)
        by_relevant: Bools = supported[relevant].max(axis=0, initial=False)
        by_others: Bools = supported[~relevant].max(axis=0, initial=False) & ~by_relevant
        chosen = by_relevant if self.passages == "relevant" else by_others
        details = {
            "statements": [
                {
                    "statement": text,
                    "true": int(good),
                    "by_relevant": int(from_relevant),
                    "by_irrelevant": int(from_others),
                    **({"reason": good.reason} if good.reason else {}),
                    **_reasons_by_passage(verdict),
                }
                for text, good, from_relevant, from_others, verdict in zip(
                    statements, true, by_relevant, by_others, zip(*claimed, strict=True), strict=True
                )
            ],
            "relevant_passages": [int(is_relevant) for is_relevant in relevant],
            "reference": [
                {"statement": text, "by_passages": list(map(int, verdict)), **_reasons_by_passage(verdict)}
                for text, verdict in zip(golden, zip(*right, strict=True), strict=True)
            ],
        }
        return self.score(case, float((chosen & ~np.array(true)).mean()), details)
