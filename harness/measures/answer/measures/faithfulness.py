"""Faithfulness: how many claims of an answer follow from the passages read."""

from __future__ import annotations

from typing import ClassVar, Literal

from harness.measures.answer.case import Case
from harness.measures.answer.llm_measure import (
    LlmMeasure,
    LlmMeasureConfig,
    Scoring,
    judged,
    share_of,
    statements_in,
    verdicts,
)
from harness.measures.answer.measure import MeasureFacts
from harness.measures.answer.steps import STATEMENTS, SUPPORTED


class FaithfulnessConfig(LlmMeasureConfig):
    """How much of what an answer claims follows from the passages that were read."""

    kind: Literal["faithfulness"] = "faithfulness"
    steps: ClassVar = (STATEMENTS, SUPPORTED)


class Faithfulness(LlmMeasure[FaithfulnessConfig]):
    """Supported statements over statements. It does not ask whether they are true."""

    facts = MeasureFacts(
        about="the share of the answer's statements that follow from the passages read",
        formula="|statements supported by the passages| / |statements of the answer|",
        undefined="without an answer, if nothing was read, or if the answer states nothing",
        source="Es et al., RAGAS, EACL 2024 (demonstrations); ragas `faithfulness`",
        needs=frozenset({"answer", "passages", "llm"}),
        compare="ragas divides by the verdicts that came back, however many; here every statement has one or "
        "the case is not scored.",
    )

    def one(self, case: Case) -> Scoring:
        """Two calls: the statements of the answer, and their verdicts."""
        statements = yield from statements_in(case.query.text, case.answer or "")
        if not statements:
            return self.unscored(case, "the answer states nothing")
        (found,) = yield from verdicts(SUPPORTED, [case.texts], statements)
        return self.score(case, share_of(found), {"statements": judged(statements, found)})
