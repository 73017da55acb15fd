"""Reranking by a cross-encoder that reads query and passage together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from harness.models import DTYPE_TEXT, EMBEDDED, Dtype, Model, ModelTokenizer, resolve
from harness.models.batches import length_sorted_batches
from harness.models.load import load_cross_encoder, not_finite
from harness.search.rerank.scorer import Pair, PairScorer
from harness.search.step import RerankerConfig


class CrossEncoderConfig(RerankerConfig):
    """A cross-encoder over the head of the ranking."""

    kind: Literal["cross_encoder"] = "cross_encoder"
    model: str = Field("cross-encoder/ms-marco-MiniLM-L-6-v2", description="Hub id or local folder.")
    batch_tokens: int = Field(8192, ge=64, description="Tokens in one batch, padding included.")
    device: str | None = Field(None, description="`cpu`, `cuda`, `mps`; empty: the best one there is.")
    dtype: Dtype = Field("float32", description=DTYPE_TEXT)

    @property
    def model_name(self) -> str:
        """The cross-encoder."""
        return self.model

    @field_validator("model")
    @classmethod
    def _is_a_cross_encoder(cls, name: str) -> str:
        if name in EMBEDDED:
            raise ValueError(
                f"{name} is no cross-encoder; use rerank: {{kind: late_interaction, model: {name}}} "
                f"or name a cross-encoder such as cross-encoder/ms-marco-MiniLM-L-6-v2"
            )
        return name


class CrossEncoderScorer(PairScorer):
    """Scores pairs; the weights are loaded with the first pair that has to be scored."""

    def __init__(self, config: CrossEncoderConfig) -> None:
        self.config = config
        self.model: Model = resolve(config.model)
        self.tokenizer = ModelTokenizer(self.model)
        self._loaded: Any = None

    @property
    def fingerprint(self) -> str:
        """Everything that decides a score besides the pair."""
        return f"cross_encoder:{self.model.computing_in(self.config.dtype)}"

    def describe(self) -> dict[str, str]:
        """The model, for the run record."""
        return self.model.describe()

    def batches(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """Indices of ``pairs`` in length-sorted batches of at most ``batch_tokens`` tokens."""
        window = self.tokenizer.window or 1 << 30
        firsts = self.tokenizer.lengths([query for query, _ in pairs])
        seconds = self.tokenizer.lengths([passage for _, passage in pairs])
        lengths = [min(a + b, window) for a, b in zip(firsts, seconds, strict=True)]
        return length_sorted_batches(lengths, self.config.batch_tokens)

    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """The model's score of every (query, passage) pair of one batch, float32 [pairs]."""
        scores = self._load().predict(list(pairs), batch_size=len(pairs), show_progress_bar=False)
        return np.asarray(scores, dtype=np.float32).reshape(len(pairs))

    def try_out(self) -> None:
        """Load the model and score a pair; raises ModelError where it cannot be used."""
        if not np.isfinite(self.score([("word", "word")])).all():
            raise not_finite(self.model)

    def _load(self) -> Any:
        if self._loaded is None:
            self._loaded = load_cross_encoder(self.model, self.config.device, self.config.dtype)
        return self._loaded
