"""Answer similarity: how near an answer is to the golden answer in an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.measures.answer.case import AnswerScore, Case
from harness.measures.answer.cosine import cosines
from harness.measures.answer.measure import AnswerMeasure, AnswerMeasureConfig, AnswerTools, MeasureFacts


class AnswerSimilarityConfig(AnswerMeasureConfig):
    """How near an answer is to the golden one, by the vectors of an encoder."""

    kind: Literal["answer_similarity"] = "answer_similarity"


class AnswerSimilarity(AnswerMeasure[AnswerSimilarityConfig]):
    """The cosine of two vectors. It knows subjects better than facts: a wrong figure costs little."""

    best_reference = True
    facts = MeasureFacts(
        about="how similar the answer is to the golden answer, by embedding",
        formula="cos(v(answer), v(reference))",
        range="-1 to 1",
        undefined="without an answer or a golden answer, or if a vector is zero",
        source="Risch et al., Semantic answer similarity, MRQA 2021; ragas `semantic_similarity`",
        needs=frozenset({"answer", "reference", "vectors"}),
    )

    def scores(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """One cosine per case; each text is embedded once."""
        found = [self.lacking(case) for case in cases]
        ready = [case for case, lack in zip(cases, found, strict=True) if not lack]
        near = iter(cosines([(case.answer or "", case.reference) for case in ready], tools))
        return [lack or self._of(case, next(near)) for case, lack in zip(cases, found, strict=True)]

    def _of(self, case: Case, value: float | None) -> AnswerScore:
        return self.unscored(case, "a vector is zero") if value is None else self.score(case, value)
