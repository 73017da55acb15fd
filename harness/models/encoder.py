"""Embedding by sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models import Model, ModelTokenizer, resolve
from harness.models.batches import length_sorted_batches
from harness.models.computing import ComputingConfig
from harness.models.load import load_bi_encoder, not_finite


class EmbedConfig(ComputingConfig):
    """A bi-encoder, and how it computes."""

    model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="Hub id, local folder, or `embedded:all-MiniLM-L6-v2` (needs no network).",
    )


class SentenceEncoder:
    """A bi-encoder whose weights are loaded when the first text has to be embedded, and only then."""

    def __init__(self, config: EmbedConfig) -> None:
        self.config = config
        self.model: Model = resolve(config.model)
        self.tokenizer = ModelTokenizer(self.model)
        self._loaded: Any = None

    @property
    def fingerprint(self) -> str:
        """Everything that decides a vector besides the text."""
        return self.model.computing_in(self.config.dtype, self.config.backend)

    def batches(self, texts: Sequence[str]) -> list[list[int]]:
        """Indices of ``texts`` in length-sorted batches of at most ``batch_tokens`` tokens."""
        window = self.tokenizer.window or 1 << 30
        lengths = [min(length, window) for length in self.tokenizer.lengths(texts)]
        return length_sorted_batches(lengths, self.config.batch_tokens)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of one batch of texts, float32 [texts, dimension], as the model gives them."""
        vectors = self._load().encode(
            list(texts), batch_size=max(1, len(texts)), show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(vectors, dtype=np.float32)

    def try_out(self) -> None:
        """Load the model and embed a word; raises ModelError where it cannot be used."""
        if not np.isfinite(self.embed(["word"])).all():
            raise not_finite(self.model)

    def _load(self) -> Any:
        if self._loaded is None:
            c = self.config
            self._loaded = load_bi_encoder(self.model, c.device, c.dtype, c.backend)
        return self._loaded
