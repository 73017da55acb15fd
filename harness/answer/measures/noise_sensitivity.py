"""Noise sensitivity: how much of an answer is wrong because of what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from harness.answer.asking import Board, Item, LlmMeasure, LlmMeasureConfig
from harness.answer.case import AnswerScore, AnswerTools, Case, Facts
from harness.answer.form import several
from harness.answer.steps import STATEMENTS, SUPPORTED
from harness.stats.arrays import Bools


class NoiseSensitivityConfig(LlmMeasureConfig):
    """How many statements of an answer are wrong and follow from a passage; less is better."""

    kind: Literal["noise_sensitivity"] = "noise_sensitivity"
    steps: ClassVar = (STATEMENTS, SUPPORTED)
    passages: Literal["relevant", "irrelevant"] = Field(
        "relevant",
        description="Wrong by a passage that supports some statement of the golden answer, or by others "
        "alone (`irrelevant`).",
    )


class NoiseSensitivity(LlmMeasure[NoiseSensitivityConfig]):
    """Wrong statements that passages of one sort support, over all statements of the answer."""

    facts = Facts(
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

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """2n + 3 calls a case with n passages."""
        board = self.board(cases, tools)
        said = board.ask(STATEMENTS, lambda case: (case.query.text, (case.answer or "",)))
        golden = board.ask(STATEMENTS, lambda case: (case.query.text, (case.reference or "",)))
        for place in board.open:
            if not said[place] or not golden[place]:
                whose = "golden answer" if said[place] else "answer"
                board.undefined(place, f"the {whose} states nothing")
        by_reference = board.ask_each(
            SUPPORTED,
            lambda place: [("", (several([board.case(place).reference or ""]), several(said[place])))],
        )
        right, claimed = (self._by_passage(board, its) for its in (golden, said))
        for place in board.open:
            self._settle(board, place, said[place], by_reference[place][0], right[place], claimed[place])
        return board.scores()

    def _by_passage(
        self, board: Board, said: Mapping[int, Sequence[str]]
    ) -> dict[int, list[tuple[bool, ...]]]:
        """Which statements each passage supports by itself."""

        def items(place: int) -> list[Item]:
            return [("", (several([text]), several(said[place]))) for text in board.case(place).texts]

        return board.ask_each(SUPPORTED, items)

    def _settle(
        self,
        board: Board,
        place: int,
        said: Sequence[str],
        true: Sequence[bool],
        right: Sequence[Sequence[bool]],
        claimed: Sequence[Sequence[bool]],
    ) -> None:
        """What passages support of the reference (``right``) and of the answer (``claimed``), by passage."""
        relevant: Bools = np.array(right, dtype=np.bool_).max(axis=1)
        supported: Bools = np.array(claimed, dtype=np.bool_)
        by_relevant: Bools = supported[relevant].max(axis=0, initial=False)
        by_others: Bools = supported[~relevant].max(axis=0, initial=False) & ~by_relevant
        chosen = by_relevant if self.config.passages == "relevant" else by_others
        blamed = chosen & ~np.array(true)
        details: dict[str, Any] = {
            "statements": [
                {"statement": text, "true": int(good), "by_relevant": int(one), "by_irrelevant": int(other)}
                for text, good, one, other in zip(said, true, by_relevant, by_others, strict=True)
            ],
            "relevant_passages": [int(one) for one in relevant],
        }
        board.score(place, float(blamed.mean()), details)
