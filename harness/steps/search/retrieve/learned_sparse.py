"""Learned sparse retrieval (SPLADE): the dot product of sparse vectors that a model makes of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from harness.models import EncoderConfig, SparseConfig
from harness.steps.search.dense import Floats
from harness.steps.search.depth import Doubles, Ints
from harness.steps.search.retrieve.paired import PairedConfig, PairedRetriever


class LearnedSparseConfig(PairedConfig):
    """A model weighs the words that a text is about, those it does not say among them (SPLADE)."""

    encoder = SparseConfig
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
    def embed_queries(self) -> EncoderConfig:
        """The encoder of queries."""
        return super().embed_queries.model_copy(update={"max_active_dims": self.query_max_active_dims})


class LearnedSparseRetriever(PairedRetriever[LearnedSparseConfig]):
    """Formal, Piwowarski and Clinchant, SPLADE, SIGIR 2021.

    All chunks are scored, in double precision, from vectors that are cached like dense ones. A chunk is a hit
    where it shares a word with the query; a score of zero is none.
    """

    def stored(self, values: Iterable[bytes]) -> Any:
        """One scipy CSR array [chunks, words], as wide as the words need."""
        from scipy.sparse import csr_array

        vectors = list(map(self.question, values))
        data, words = (np.concatenate([vector[part] for vector in vectors]) for part in (1, 0))
        starts = np.cumsum([0, *(vector.shape[1] for vector in vectors)])
        shape = len(vectors), 1 + int(words.max(initial=0))
        return csr_array((data.astype(np.float64), words.astype(np.int64), starts), shape=shape)

    def question(self, value: bytes) -> Floats:
        """A sparse vector as it is kept, [2, n]: dimensions and weights."""
        return np.frombuffer(value, dtype=np.float32).reshape(2, -1)

    def hits(
        self, query_vectors: Sequence[Floats], stored: Any, count: int
    ) -> Iterator[tuple[Ints, Doubles]]:
        """The chunks that share a word with each query, with their dot products."""
        for vector in query_vectors:
            # a word that no chunk has adds nothing
            words, weights = vector[:, vector[0] < stored.shape[1]]
            query = np.zeros(stored.shape[1])
            query[words.astype(np.int64)] = weights
            scores = stored @ query
            rows = np.flatnonzero(scores > 0)
            yield rows, scores[rows]
