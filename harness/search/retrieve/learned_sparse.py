"""Learned sparse retrieval (SPLADE): the dot product of sparse vectors that a model makes of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from harness.models.computing import ComputingConfig
from harness.models.encoder import EncoderConfig
from harness.models.sparse_encoder import SparseConfig
from harness.search.depth import Depth
from harness.search.retrieve.ranked import in_order
from harness.search.retrieve.sparse import dot_products
from harness.search.step import Found, Identity, Passages, Retriever, RetrieverConfig
from harness.search.tools import Tools
from harness.types import Query, Ranking

# Raised when the same vectors are ranked otherwise than before.
_VERSION = 1


class LearnedSparseConfig(ComputingConfig, RetrieverConfig):
    """A model weighs the words that a text is about, those it does not say among them (SPLADE)."""

    kind: Literal["learned_sparse"] = "learned_sparse"
    model: str = Field(
        "naver/splade-cocondenser-ensembledistil",
        description="A sparse encoder of sentence-transformers: hub id or local folder.",
    )
    max_active_dims: int | None = Field(
        None,
        ge=1,
        description="The most words that a chunk keeps, those of the largest weights. Empty: as the model "
        "has it. Fewer make a smaller index.",
    )
    query_max_active_dims: int | None = Field(
        None, ge=1, description="The same for a query. Fewer make a faster search."
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

    def encoders(self) -> tuple[EncoderConfig, ...]:
        """Both."""
        return self.embed, self.embed_queries


class LearnedSparseRetriever(Retriever[LearnedSparseConfig]):
    """Formal, Piwowarski and Clinchant, SPLADE, SIGIR 2021.

    All chunks are scored, in double precision, from vectors that are cached like dense ones. A chunk is a hit
    where it shares a word with the query; a score of zero is none.
    """

    def identity(self, tools: Tools) -> Identity:
        """Both encoders, and the depth."""
        c = self.config
        encoders = [tools.fingerprint(c.embed), tools.fingerprint(c.embed_queries)]
        return ["learned_sparse", _VERSION, encoders, c.top_k, c.top_chars]

    def run(self, passages: Passages, queries: Sequence[Query], tools: Tools) -> Found:
        """Rank the chunks that match, equal scores in the order of the chunks."""
        c = self.config
        if not passages.ids or not queries:
            return Found([Ranking(query.query_id, (), ()) for query in queries])
        with tools.timed("embed"):
            stored = list(tools.values(passages.texts, c.embed))
            asked = list(tools.values([query.text for query in queries], c.embed_queries))
        with tools.timed("retrieve"):
            chunks, questions = _as_csr(stored, asked)
            depth = Depth.of(c, passages)
            rankings = []
            for query, scores in zip(queries, dot_products(questions, chunks), strict=True):
                hits = np.flatnonzero(scores > 0)
                rows, rounded = in_order(hits, scores[hits])
                end = depth.of_ranked(depth.lengths[rows])
                ids = tuple(passages.ids[row] for row in rows[:end])
                rankings.append(Ranking(query.query_id, ids, tuple(rounded[:end].tolist())))
            return Found(rankings)

    def to_embed(
        self, passages: Passages, queries: Sequence[Query]
    ) -> Iterable[tuple[EncoderConfig, list[str]]]:
        """The passages by one encoder, the queries by the other."""
        return [
            (self.config.embed, list(passages.texts)),
            (self.config.embed_queries, [query.text for query in queries]),
        ]


def _as_csr(*parts: Sequence[bytes]) -> list[Any]:
    """Sparse vectors, each [2, n] of dimensions and weights, as scipy CSR arrays of one width."""
    from scipy.sparse import csr_array

    read = [[np.frombuffer(raw, dtype=np.float32).reshape(2, -1) for raw in part] for part in parts]
    width = 1 + max((int(one[0].max()) for part in read for one in part if one.size), default=0)
    return [
        csr_array(
            (
                np.concatenate([one[1] for one in part]).astype(np.float64),
                np.concatenate([one[0] for one in part]).astype(np.int64),
                np.cumsum([0, *(one.shape[1] for one in part)]),
            ),
            shape=(len(part), width),
        )
        for part in read
    ]
