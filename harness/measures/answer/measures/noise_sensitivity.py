"""Noise sensitivity: how much of an answer is wrong because of the passages read."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from harness.measures.answer.case import Case
from harness.measures.answer.llm_measure import LlmMeasure, LlmMeasureConfig, Scoring, statements_in, verdicts
from harness.measures.answer.measure import MeasureFacts
from harness.measures.answer.steps import STATEMENTS, SUPPORTED
from harness.measures.ragged import Bools


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

    facts = MeasureFacts(
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

    def one(self, case: Case) -> Scoring:
        """2n + 3 calls with n passages."""
        statements = yield from statements_in(case.query.text, case.answer or "")
        golden = yield from statements_in(case.query.text, case.reference)
        if not statements or not golden:
            return self.unscored(case, f"the {'golden answer' if statements else 'answer'} states nothing")
        (true,) = yield from verdicts(SUPPORTED, [[case.reference]], statements)
        passages = [[text] for text in case.texts]
        right = yield from verdicts(SUPPORTED, passages, golden)
        claimed = yield from verdicts(SUPPORTED, passages, statements)
        relevant: Bools = np.array(right, dtype=np.bool_).max(axis=1)
        supported: Bools = np.array(claimed, dtype=np.bool_)
        by_relevant: Bools = supported[relevant].max(axis=0, initial=False)
        by_others: Bools = supported[~relevant].max(axis=0, initial=False) & ~by_relevant
        chosen = by_relevant if self.config.passages == "relevant" else by_others
        details = {
            "statements": [
                {"statement": text, "true": int(good), "by_relevant": int(one), "by_irrelevant": int(other)}
                for text, good, one, other in zip(statements, true, by_relevant, by_others, strict=True)
            ],
            "relevant_passages": [int(one) for one in relevant],
        }
        return self.score(case, float((chosen & ~np.array(true)).mean()), details)
