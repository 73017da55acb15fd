"""Retrieval by the vectors of a bi-encoder: shared by all vector stores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models import BiEncoderConfig
from harness.steps.search import step
from harness.steps.search.needs import Texts
from harness.steps.search.passages import Passages
from harness.steps.search.tools import VectorRows
from harness.values import Query, Run, Together

Floats = NDArray[np.float32]


class DenseConfig(BiEncoderConfig, step.RetrieverConfig):
    """Base of the configurations of retrievers that embed: the model, and the distance of its vectors."""

    distance: Literal["cosine", "l2", "ip"] = Field(
        "cosine", description="Between vectors: cosine, squared Euclidean, or inner product."
    )
    query_prefix: str = Field("", description="A prefix for every query, for models trained with one.")
    passage_prefix: str = Field("", description="A prefix for every chunk, for models trained with one.")


Dense = TypeVar("Dense", bound=DenseConfig)


class DenseRetriever(step.Retriever[Dense], Generic[Dense]):
    """Embeds passages and queries, and leaves the search among the vectors to a store."""

    one_by_one = True

    def identity(self, fingerprint: step.Fingerprint) -> step.Identity:
        """The encoder, the prefixes, the depth, and the facts of the store."""
        c = self.config
        return [
            c.kind,
            fingerprint(c.embed),
            [c.passage_prefix, c.query_prefix],
            [c.distance, c.top_k, c.top_chars],
            self.store_facts(),
        ]

    @abstractmethod
    def store_facts(self) -> step.Identity:
        """The properties of the store that decide which vectors are found."""

    @abstractmethod
    def search(
        self, passages: Passages, vectors: VectorRows, queries: Sequence[Query], query_vectors: Floats
    ) -> Run[step.RetrievalResult]:
        """The rankings of queries by their vectors [queries ≥ 1, d] among ``vectors`` [passages ≥ 1, d]."""

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[step.RetrievalResult]:
        """Have the texts embedded, then search."""
        c = self.config
        vectors, query_vectors = yield Together(
            (
                Texts(
                    c.embed,
                    [c.passage_prefix + text for text in passages.texts],
                    "passages",
                    "rows",
                    passages.key,
                ),
                Texts(c.embed, [c.query_prefix + query.text for query in queries], "queries"),
            )
        )
        return (yield from self.search(passages, vectors, queries, query_vectors))
