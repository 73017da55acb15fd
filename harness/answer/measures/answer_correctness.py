"""Answer correctness: how far an answer states what the golden answer states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from harness.answer.asking import Board, Item, LlmMeasure, LlmMeasureConfig, judged
from harness.answer.best_reference import by_best_reference
from harness.answer.case import AnswerScore, AnswerTools, Case, Facts, Need
from harness.answer.cosine import cosines
from harness.answer.form import several
from harness.answer.steps import CONTRADICTED, STATEMENTS, SUPPORTED

Statements = tuple[str, ...]
Judged = list[dict[str, Any]]


class AnswerCorrectnessConfig(LlmMeasureConfig):
    """How far an answer states what the golden one states, and how near the two are."""

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

    facts = Facts(
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

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """Four calls a golden answer: the statements of both answers, and the verdicts on either.

        One more where statements are unsupported, unless ``contradictions`` is false. Of several golden
        answers of a case the best counts.
        """
        return by_best_reference(cases, lambda own: self._beside_one(own, tools))

    def _beside_one(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        board = self.board(cases, tools)
        said = board.ask(STATEMENTS, lambda case: (case.query.text, (case.answer or "",)))
        golden = board.ask(STATEMENTS, lambda case: (case.query.text, (case.reference or "",)))
        for place in board.open:
            if not said[place] and not golden[place]:
                board.undefined(place, "neither answer states anything")
        right = self._supported(board, said, lambda case: case.reference or "")
        covered = self._supported(board, golden, lambda case: case.answer or "")
        near = self._similarities(board, tools)
        against = self._contradicting(board, said, right)
        for place in board.open:
            statements = judged(said[place], right[place])
            for one, verdict in zip(
                [one for one in statements if not one["verdict"]], against.get(place, ()), strict=False
            ):
                one["contradicts"] = int(verdict)
            self._settle(board, place, statements, judged(golden[place], covered[place]), near)
        return board.scores()

    def _supported(self, board: Board, said: dict[int, Statements], text: Any) -> dict[int, tuple[bool, ...]]:
        """Which statements a text supports; a case without statements is not asked about."""

        def items(place: int) -> list[Item]:
            return [("", (several([text(board.case(place))]), several(said[place])))] if said[place] else []

        found = board.ask_each(SUPPORTED, items)
        return {place: verdicts[0] if verdicts else () for place, verdicts in found.items()}

    def _contradicting(
        self, board: Board, said: dict[int, Statements], right: dict[int, tuple[bool, ...]]
    ) -> dict[int, tuple[bool, ...]]:
        """Which unsupported statements of each answer contradict the golden one.

        A case whose call has failed is absent: the score does without.
        """
        if not self.config.contradictions:
            return {}

        def items(place: int) -> list[Item]:
            wrong = [text for text, good in zip(said[place], right[place], strict=True) if not good]
            return [("", (several([board.case(place).reference or ""]), several(wrong)))] if wrong else []

        found = board.ask_each(CONTRADICTED, items, needed=False)
        return {place: verdicts[0] for place, verdicts in found.items() if verdicts}

    def _similarities(self, board: Board, tools: AnswerTools) -> dict[int, float | None]:
        if not self.config.similarity_weight:
            return {}
        cases = [board.case(place) for place in board.open]
        pairs = [(case.answer or "", case.reference or "") for case in cases]
        return dict(zip(board.open, cosines(pairs, tools), strict=True))

    def _settle(
        self, board: Board, place: int, said: Judged, golden: Judged, near: dict[int, float | None]
    ) -> None:
        c = self.config
        true = sum(one["verdict"] for one in said)
        f1 = f1_of(true, len(said) - true, sum(1 - one["verdict"] for one in golden))
        details: dict[str, Any] = {"statements": said, "reference": golden, "f1": f1}
        if not c.similarity_weight:
            board.score(place, f1, details)
            return
        cosine = near[place]
        details["similarity"] = cosine
        if cosine is None:
            board.undefined(place, "a vector is zero", details)
            return
        weights = c.statements_weight + c.similarity_weight
        board.score(place, (c.statements_weight * f1 + c.similarity_weight * cosine) / weights, details)


def f1_of(true: int, wrong: int, missed: int) -> float:
    """F1 of counts; 0 where nothing is true."""
    return true / (true + (wrong + missed) / 2) if true else 0.0
