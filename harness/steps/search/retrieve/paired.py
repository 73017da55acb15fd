"""Shared by retrievers that encode passages and queries differently: learned sparse, multi-vector."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from harness.models import ComputingConfig, EncoderConfig
from harness.steps.search import step
from harness.steps.search.dense import Floats
from harness.steps.search.depth import Doubles, Ints, SearchDepth, ranked
from harness.steps.search.needs import Built, Texts
from harness.steps.search.passages import Passages
from harness.values import Query, Ranking, Run, Together

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

    one_by_one = True
    exact_share: ClassVar[float | None] = None

    @abstractmethod
    def stored(self, values: Iterable[bytes]) -> Any:
        """The data to search, made of the encoded passages; bulky ones are read again at each iteration."""

    @abstractmethod
    def question(self, value: bytes) -> Floats:
        """An encoded query."""

    @abstractmethod
    def hits(
        self, query_vectors: Sequence[Floats], stored: Any, count: int
    ) -> Iterator[tuple[Ints, Doubles]]:
        """For each query the rows that match of ``count`` passages, and their scores."""

    def identity(self, fingerprint: step.Fingerprint) -> step.Identity:
        """Both encoders, and the depth."""
        c = self.config
        encoders = [fingerprint(encoder) for encoder in c.encoders()]
        return [c.kind, _VERSION, encoders, c.top_k, c.top_chars]

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[step.RetrievalResult]:
        """Rank the chunks that match, equal scores in the order of the chunks."""
        c = self.config
        depth = SearchDepth.of(c, passages.lengths)
        encoded, questions = yield Together(
            (
                Texts(c.embed, passages.texts, "passages", "encodings", passages.key),
                Texts(c.embed_queries, [query.text for query in queries], "queries", "encodings"),
            )
        )
        stored = yield Built(lambda: self.stored(encoded), ("stored", passages.key))
        query_vectors = list(map(self.question, questions))
        return step.RetrievalResult(
            self._ranked(queries, query_vectors, stored, passages, depth), self.exact_share
        )

    def _ranked(
        self,
        queries: Sequence[Query],
        query_vectors: Sequence[Floats],
        stored: Any,
        passages: Passages,
        depth: SearchDepth,
    ) -> list[Ranking]:
        return [
            ranked(query.query_id, *hits, depth, passages.ids)
            for query, hits in zip(queries, self.hits(query_vectors, stored, len(passages.ids)), strict=True)
        ]
