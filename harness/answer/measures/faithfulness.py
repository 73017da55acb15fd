"""Faithfulness: how much of what an answer claims follows from what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from harness.answer.asking import LlmMeasure, LlmMeasureConfig, judged
from harness.answer.case import AnswerScore, AnswerTools, Case, Facts
from harness.answer.form import several
from harness.answer.steps import STATEMENTS, SUPPORTED


class FaithfulnessConfig(LlmMeasureConfig):
    """How much of what an answer claims follows from the passages that were read."""

    kind: Literal["faithfulness"] = "faithfulness"
    steps: ClassVar = (STATEMENTS, SUPPORTED)


class Faithfulness(LlmMeasure[FaithfulnessConfig]):
    """Supported statements over statements. It does not ask whether they are true."""

    facts = Facts(
        about="the share of the answer's statements that follow from the passages read",
        formula="|statements supported by the passages| / |statements of the answer|",
        undefined="without an answer, if nothing was read, or if the answer states nothing",
        source="Es et al., RAGAS, EACL 2024 (demonstrations); ragas `faithfulness`",
        needs=frozenset({"answer", "passages", "llm"}),
        compare="ragas divides by the verdicts that came back, however many; here every statement has one or "
        "the case is not scored.",
    )

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """Two calls a case: its statements, and their verdicts."""
        board = self.board(cases, tools)
        said = board.ask(STATEMENTS, lambda case: (case.query.text, (case.answer or "",)))
        for place, statements in said.items():
            if not statements:
                board.undefined(place, "the answer states nothing")
        verdicts = board.ask_each(
            SUPPORTED, lambda place: [("", (several(board.case(place).texts), several(said[place])))]
        )
        for place, (found,) in verdicts.items():
            details = {"statements": judged(said[place], found)}
            board.score(place, sum(found) / len(found), details)
        return board.scores()
