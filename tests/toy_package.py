"""Kinds as another package would add them, whose keys have names of their own.

A chunker whose size is called ``span_length``, a retriever with its own depth ``pool``, and a reranker whose
``effort`` has levels in an order.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from harness.steps import (
    ChunkerConfig,
    PairScorer,
    RerankerConfig,
    RetrievalResult,
    Retriever,
    RetrieverConfig,
    cut,
)
from harness.values import Amount, Kind, Ordered, Overlap, Ranking, Size


class SpansConfig(ChunkerConfig):
    """Spans of even length."""

    kind: Literal["spans"] = "spans"
    span_length: Annotated[int, Size()] = Field(80, ge=1, description="The characters of a span.")
    shared: Annotated[int, Overlap("span_length")] = Field(0, ge=0, description="What neighbours share.")

    def split(self, documents, tokenizer, vectors):
        step = self.span_length - self.shared
        return [
            [
                (start, min(start + self.span_length, len(document.text)))
                for start in range(0, len(document.text), step)
            ]
            for document in documents
        ]


class PooledConfig(RetrieverConfig):
    """Chunks by the words that they share with the query."""

    kind: Literal["pooled"] = "pooled"
    pool: Annotated[int, Amount()] = Field(
        4, ge=1, description="Passages of the pool that is searched. The rest is not found."
    )


class Pooled(Retriever[PooledConfig]):
    def identity(self, fingerprint):
        return [1, self.config.model_dump(mode="json")]

    def run(self, passages, queries):
        words = [set(text.lower().split()) for text in passages.texts]
        rankings = []
        for query in queries:
            asked = set(query.text.lower().split())
            ranking = Ranking.by_score(
                query.query_id, passages.ids, [float(len(asked & held)) for held in words]
            )
            pool = self.config.pool
            ranking = Ranking(query.query_id, ranking.chunk_ids[:pool], ranking.scores[:pool])
            rankings.append(cut(ranking, self.config, passages.length_of))
        return RetrievalResult(rankings)


class CarefulConfig(RerankerConfig):
    """Longer passages first."""

    kind: Literal["careful"] = "careful"
    effort: Annotated[Literal["low", "medium", "high"], Ordered(("low", "medium", "high"))] = Field(
        "low", description="How carefully passages are compared."
    )

    @property
    def model_name(self):
        return "none"


class Careful(PairScorer):
    @property
    def fingerprint(self):
        return f"careful:{self.config.effort}"

    def describe(self):
        return {"name": "none", "origin": "package", "fingerprint": self.fingerprint}

    def batches(self, pairs):
        return [list(range(len(pairs)))]

    def score(self, pairs):
        sign = -1 if self.config.effort == "low" else 1
        return np.array([sign * len(passage) for _, passage in pairs], dtype=np.float32)


SPANS = Kind(SpansConfig, lambda config: config, words="even spans")
POOLED = Kind(PooledConfig, Pooled, words="pool search", by=("words",))
CAREFUL = Kind(CarefulConfig, Careful, words="careful reading")
