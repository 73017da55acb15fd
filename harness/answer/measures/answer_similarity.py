"""Answer similarity: how near an answer is to the golden answer in an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.answer.best_reference import by_best_reference
from harness.answer.case import AnswerMeasure, AnswerMeasureConfig, AnswerScore, AnswerTools, Case, Facts
from harness.answer.cosine import cosines


class AnswerSimilarityConfig(AnswerMeasureConfig):
    """How near an answer is to the golden one, by the vectors of an encoder."""

    kind: Literal["answer_similarity"] = "answer_similarity"


class AnswerSimilarity(AnswerMeasure[AnswerSimilarityConfig]):
    """The cosine of two vectors. It knows subjects better than facts: a wrong figure costs little."""

    facts = Facts(
        about="how similar the answer is to the golden answer, by embedding",
        formula="cos(v(answer), v(reference))",
        range="-1 to 1",
        undefined="without an answer or a golden answer, or if a vector is zero",
        source="Risch et al., Semantic answer similarity, MRQA 2021; ragas `semantic_similarity`",
        needs=frozenset({"answer", "reference", "vectors"}),
    )

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """One cosine a golden answer, of which the highest counts; each text is embedded once."""
        return by_best_reference(cases, lambda own: self._beside_one(own, tools))

    def _beside_one(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        ready = [case for case in cases if not self.missing(case)]
        pairs = [(case.answer or "", case.reference or "") for case in ready]
        found = dict(zip(map(id, ready), cosines(pairs, tools), strict=True))
        return [self.lacking(case) or self._of(case, found[id(case)]) for case in cases]

    def _of(self, case: Case, value: float | None) -> AnswerScore:
        return self.unscored(case, "a vector is zero") if value is None else self.score(case, value)
