"""Reranking by a cross-encoder that reads query and passage together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from harness.models import EMBEDDED, length_sorted_batches
from harness.steps.search.rerank import LocalModelConfig, LocalModelScorer, Pair


class CrossEncoderConfig(LocalModelConfig):
    """A cross-encoder over the head of the ranking."""

    kind: Literal["cross_encoder"] = "cross_encoder"
    model: str = Field("cross-encoder/ms-marco-MiniLM-L-6-v2", description="Hub id or local folder.")

    @field_validator("model")
    @classmethod
    def _is_a_cross_encoder(cls, name: str) -> str:
        if name in EMBEDDED:
            raise ValueError(
                f"{name} is not a cross-encoder; use rerank: {{kind: late_interaction, model: {name}}} "
                f"or name a cross-encoder such as cross-encoder/ms-marco-MiniLM-L-6-v2"
            )
        return name


class CrossEncoderScorer(LocalModelScorer[CrossEncoderConfig]):
    """Scores pairs; the weights are loaded with the first pair that has to be scored."""

    kind = "CrossEncoder"

    def batches(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """Indices of ``pairs`` in length-sorted batches of at most ``batch_tokens`` tokens."""
        window = self.tokenizer.window or 1 << 30
        firsts = self.tokenizer.lengths([query for query, _ in pairs])
        seconds = self.tokenizer.lengths([passage for _, passage in pairs])
        lengths = [min(a + b, window) for a, b in zip(firsts, seconds, strict=True)]
        return length_sorted_batches(lengths, self.config.batch_tokens)

    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """The model's score of every (query, passage) pair of one batch, float32 [pairs]."""
        scores = self.loaded().predict(list(pairs), batch_size=len(pairs), show_progress_bar=False)
        return np.asarray(scores, dtype=np.float32).reshape(len(pairs))
