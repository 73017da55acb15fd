"""Shared by retrievers that encode passages and queries differently: learned sparse, multi-vector."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from harness.models import ComputingConfig, EncoderConfig, Value
from harness.steps.search import step
from harness.steps.search.dense import Floats
from harness.steps.search.depth import Doubles, Ints, SearchDepth, ranked
from harness.steps.search.tools import Tools
from harness.values import Query, Ranking

# Raised when the same vectors are ranked otherwise.
_VERSION = 1


class PairedConfig(ComputingConfig, step.RetrieverConfig):
    """Base of the configurations of retrievers with an encoder for passages and one for queries.

    ``encoder`` is its configuration, whose fields are among those of the retriever.
    """

    encoder: ClassVar[type[EncoderConfig]]

    @property
    def embed(self) -> EncoderConfig:
        """The encoder of passages."""
        return self.made(self.encoder)

    @property
    def embed_queries(self) -> EncoderConfig:
        """The encoder of queries: the same in the other role."""
        return self.embed.model_copy(update={"role": "query"})

    def encoders(self) -> tuple[EncoderConfig, ...]:
        """Both."""
        return self.embed, self.embed_queries


Paired = TypeVar("Paired", bound=PairedConfig)


class PairedRetriever(step.Retriever[Paired], Generic[Paired]):
    """Scores all chunks for every query, by what one encoder makes of chunks and another of queries.

    ``exact_share``: as in ``RetrievalResult``.
    """

    exact_share: ClassVar[float | None] = None

    @abstractmethod
    def stored(self, values: Iterable[bytes]) -> Any:
        """The data to search, made of the encoded passages; bulky ones are read again at each iteration."""

    @abstractmethod
    def question(self, value: bytes) -> Floats:
        """An encoded query."""

    @abstractmethod
    def hits(self, asked: Sequence[Floats], stored: Any, count: int) -> Iterator[tuple[Ints, Doubles]]:
        """For each query the rows that match of ``count`` passages, and their scores."""

    def identity(self, tools: Tools) -> step.Identity:
        """Both encoders, and the depth."""
        c = self.config
        encoders = [tools.fingerprint(one) for one in c.encoders()]
        return [c.kind, _VERSION, encoders, c.top_k, c.top_chars]

    def wants(
        self, passages: step.Passages, queries: Sequence[Query]
    ) -> Iterable[tuple[EncoderConfig, list[str]]]:
        """The passages by one encoder, the queries by the other."""
        return [
            (self.config.embed, list(passages.texts)),
            (self.config.embed_queries, [query.text for query in queries]),
        ]

    def run(self, passages: step.Passages, queries: Sequence[Query], tools: Tools) -> step.RetrievalResult:
        """Rank the chunks that match, equal scores in the order of the chunks."""
        c = self.config
        depth = SearchDepth.of(c, passages.lengths)
        with tools.timed("embed"):
            stored = self.stored(tools.values(passages.texts, c.embed))
            asked = list(map(self.question, tools.values([query.text for query in queries], c.embed_queries)))
        with tools.timed("retrieve"):
            return step.RetrievalResult(
                self._ranked(queries, asked, stored, passages, depth), self.exact_share
            )

    @contextmanager
    def warm(self, passages: step.Passages, tools: Tools) -> Iterator[step.SearchOne]:
        """The same search among encoded chunks; each query is encoded by itself."""
        stored = self.stored(tools.values(passages.texts, self.config.embed))
        depth = SearchDepth.of(self.config, passages.lengths)

        def search(query: Query) -> Ranking:
            value: Value = tools.embed(query.text, self.config.embed_queries)
            raw = value if isinstance(value, bytes) else np.asarray(value, dtype=np.float32).tobytes()
            return self._ranked([query], [self.question(raw)], stored, passages, depth)[0]

        yield search

    def _ranked(
        self,
        queries: Sequence[Query],
        asked: Sequence[Floats],
        stored: Any,
        passages: step.Passages,
        depth: SearchDepth,
    ) -> list[Ranking]:
        return [
            ranked(query.query_id, *own, depth, passages.ids)
            for query, own in zip(queries, self.hits(asked, stored, len(passages.ids)), strict=True)
        ]
