"""Retrieval by the vectors of a bi-encoder: shared by all vector stores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from harness import models
from harness.models import ComputingConfig, EmbedConfig, EmbeddingEndpoint, EncoderConfig
from harness.steps.search import step
from harness.steps.search.tools import Tools, VectorRows
from harness.values import Query

Floats = NDArray[np.float32]
Search = Callable[[Sequence[Query], Floats], step.RetrievalResult]
"""Searches for queries with their vectors [queries ≥ 1, d]."""


class DenseConfig(ComputingConfig, step.RetrieverConfig):
    """Base of the configurations of retrievers that embed: the model, and the distance of its vectors."""

    model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="The bi-encoder: hub id, local folder, or `embedded:all-MiniLM-L6-v2` (needs no "
        "network).",
    )
    distance: Literal["cosine", "l2", "ip"] = Field(
        "cosine", description="Between vectors: cosine, squared Euclidean, or inner product."
    )
    endpoint: EmbeddingEndpoint | None = Field(
        None,
        description="An endpoint with OpenAI's protocol that serves the bi-encoder, instead of `model`.",
    )
    query_prefix: str = Field("", description="A prefix for every query, for models trained with one.")
    passage_prefix: str = Field("", description="A prefix for every chunk, for models trained with one.")

    @model_validator(mode="before")
    @classmethod
    def _one_model(cls, fields: Any) -> Any:
        """One bi-encoder: where it is served, ``model`` holds the name that the endpoint has it by."""
        endpoint = fields.get("endpoint") if isinstance(fields, dict) else None
        name = endpoint.get("model") if isinstance(endpoint, dict) else getattr(endpoint, "model", None)
        if name is None:
            return fields
        if fields.get("model", name) != name:
            raise ValueError("model and endpoint both name a bi-encoder; keep one of them")
        return {**fields, "model": name}

    @property
    def embed(self) -> EncoderConfig:
        """The bi-encoder."""
        if self.endpoint is not None:
            return models.ServedEmbedConfig(endpoint=self.endpoint)
        return self.made(EmbedConfig)


Dense = TypeVar("Dense", bound=DenseConfig)


class DenseRetriever(step.Retriever[Dense], Generic[Dense]):
    """Embeds passages and queries, and leaves the search among the vectors to a store."""

    def identity(self, tools: Tools) -> step.Identity:
        """The encoder, the prefixes, the depth, and the facts of the store."""
        c = self.config
        return [
            c.kind,
            tools.fingerprint(c.embed),
            [c.passage_prefix, c.query_prefix],
            [c.distance, c.top_k, c.top_chars],
            self.store_facts(),
        ]

    @abstractmethod
    def store_facts(self) -> step.Identity:
        """The properties of the store that decide which vectors are found."""

    @abstractmethod
    def opened(
        self, passages: step.Passages, vectors: VectorRows, tools: Tools, *, checked: bool = True
    ) -> AbstractContextManager[Search]:
        """A search among ``vectors`` [passages ≥ 1, d], the index open.

        ``checked``: it also finds out what share of the true nearest it finds, where that may be below 1.
        """

    def run(self, passages: step.Passages, queries: Sequence[Query], tools: Tools) -> step.RetrievalResult:
        """Embed the texts that are not embedded yet, then search."""
        read, questions = self._texts(passages, queries)
        with tools.timed("embed"):
            vectors = tools.vector_rows(read, self.config.embed)
            asked = tools.vectors(questions, self.config.embed)
        with tools.timed("retrieve"), self.opened(passages, vectors, tools) as search:
            return search(queries, asked)

    @contextmanager
    def warm(self, passages: step.Passages, tools: Tools) -> Iterator[step.SearchOne]:
        """Embeds each query by itself, and searches the open store with it."""
        c = self.config
        if not c.embed.runs_here:
            raise step.NotMeasuredError(f"{c.embed.model_name} is not a model on this machine")

        def vector(query: Query) -> Floats:
            return np.asarray(tools.embed(c.query_prefix + query.text, c.embed), dtype=np.float32)[None, :]

        read, _ = self._texts(passages, ())
        vectors = tools.vectors(read, c.embed)
        with self.opened(passages, vectors, tools, checked=False) as search:
            yield lambda query: search([query], vector(query)).rankings[0]

    def wants(
        self, passages: step.Passages, queries: Sequence[Query]
    ) -> Iterable[tuple[EncoderConfig, list[str]]]:
        """All passages and queries, with their prefixes."""
        read, questions = self._texts(passages, queries)
        return [(self.config.embed, [*read, *questions])]

    def _texts(self, passages: step.Passages, queries: Sequence[Query]) -> tuple[list[str], list[str]]:
        c = self.config
        return (
            [c.passage_prefix + text for text in passages.texts],
            [c.query_prefix + query.text for query in queries],
        )
