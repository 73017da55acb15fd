"""Learned sparse retrieval (SPLADE): the dot product of sparse vectors that a model makes of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from harness.models import ComputingConfig, SparseConfig
from harness.steps.search.dense import Floats
from harness.steps.search.depth import Doubles, Ints
from harness.steps.search.retrieve.lexical import dot_products
from harness.steps.search.retrieve.paired import PairedConfig, PairedRetriever


class LearnedSparseConfig(PairedConfig):
    """A model weighs the words that a text is about, those it does not say among them (SPLADE)."""

    kind: Literal["learned_sparse"] = "learned_sparse"
    model: str = Field(
        "naver/splade-cocondenser-ensembledistil",
        description="A sparse encoder of sentence-transformers: hub id or local folder.",
    )
    max_active_dims: int | None = Field(
        None,
        ge=1,
        description="The maximum number of words kept per chunk, those with the largest weights. Empty: "
        "the model's own limit. Fewer make a smaller index.",
    )
    query_max_active_dims: int | None = Field(
        None, ge=1, description="The same for queries. Fewer make a faster search."
    )

    @property
    def embed(self) -> SparseConfig:
        """The encoder of passages."""
        return SparseConfig(
            model=self.model,
            role="passage",
            max_active_dims=self.max_active_dims,
            **{name: getattr(self, name) for name in ComputingConfig.model_fields},
        )

    @property
    def embed_queries(self) -> SparseConfig:
        """The encoder of queries."""
        return self.embed.model_copy(update={"role": "query", "max_active_dims": self.query_max_active_dims})


class LearnedSparseRetriever(PairedRetriever[LearnedSparseConfig]):
    """Formal, Piwowarski and Clinchant, SPLADE, SIGIR 2021.

    All chunks are scored, in double precision, from vectors that are cached like dense ones. A chunk is a hit
    where it shares a word with the query; a score of zero is none.
    """

    def stored(self, values: Iterable[bytes]) -> Any:
        """One CSR array [chunks, words]."""
        return _as_csr(list(map(self.question, values)))

    def question(self, value: bytes) -> Floats:
        """A sparse vector as it is kept, [2, n]: dimensions and weights."""
        return np.frombuffer(value, dtype=np.float32).reshape(2, -1)

    def hits(self, asked: Sequence[Floats], stored: Any, count: int) -> Iterator[tuple[Ints, Doubles]]:
        """The chunks that share a word with each query, with their dot products."""
        # a word that no chunk has adds nothing
        known = [vector[:, vector[0] < stored.shape[1]] for vector in asked]
        for scores in dot_products(_as_csr(known, stored.shape[1]), stored):
            rows = np.flatnonzero(scores > 0)
            yield rows, scores[rows]


def _as_csr(vectors: Sequence[Floats], width: int | None = None) -> Any:
    """Sparse vectors [2, n] each as a scipy CSR array [vectors, width]; by default as wide as they need."""
    from scipy.sparse import csr_array

    needed = 1 + max((int(one[0].max()) for one in vectors if one.size), default=0)
    return csr_array(
        (
            np.concatenate([one[1] for one in vectors]).astype(np.float64),
            np.concatenate([one[0] for one in vectors]).astype(np.int64),
            np.cumsum([0, *(one.shape[1] for one in vectors)]),
        ),
        shape=(len(vectors), needed if width is None else width),
    )
