"""Learned sparse encoding (SPLADE): a weight for every word of the vocabulary that a text is about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models.encoder import LocalEncoder, LocalEncoderConfig
from harness.models.load import Kind

Role = Literal["passage", "query"]


class SparseConfig(LocalEncoderConfig):
    """A learned sparse encoder for passages or for queries, which some models read differently."""

    model: str = Field(description="Hub id or local folder.")
    role: Role = Field("passage", description="What it encodes.")
    max_active_dims: int | None = Field(
        None, ge=1, description="The maximum number of weights kept per text, the largest ones."
    )

    def make(self) -> SparseTextEncoder:
        """The encoder."""
        return SparseTextEncoder(self)


class SparseTextEncoder(LocalEncoder):
    """Texts → sparse vectors; each is an array [2, n]: dimensions in ascending order, and their weights.

    Vocabularies are far smaller than 2²⁴, up to which single precision holds whole numbers exactly.
    """

    config: SparseConfig

    @property
    def fingerprint(self) -> str:
        """Everything that decides a sparse vector besides the text."""
        c = self.config
        facts = ["sparse", self.model.computing_in(c.dtype, c.backend), c.role, c.max_active_dims]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The sparse vector of every text of one batch; zeros are left out."""
        model = self.loaded()
        encode = model.encode_query if self.config.role == "query" else model.encode_document
        vectors = encode(
            list(texts),
            batch_size=max(1, len(texts)),
            show_progress_bar=False,
            convert_to_tensor=False,
            save_to_cpu=True,
            max_active_dims=self.config.max_active_dims,
        )
        return [_as_rows(vector) for vector in vectors]

    @property
    def kind(self) -> Kind:
        """A learned sparse encoder."""
        return "SparseEncoder"


def _as_rows(vector: Any) -> NDArray[np.float32]:
    sparse = vector.coalesce()
    values = sparse.values().float().numpy()
    kept = values != 0
    dimensions = sparse.indices().numpy().reshape(-1)[kept]
    return np.stack([dimensions.astype(np.float32), values[kept].astype(np.float32)])
