"""What retrievers share that encode passages and queries differently: learned sparse, multi-vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from harness.models.computing import ComputingConfig
from harness.models.encoder import EncoderConfig
from harness.search.step import Identity, Passages, Retriever, RetrieverConfig
from harness.search.tools import Tools
from harness.types import Query


class PairedConfig(ComputingConfig, RetrieverConfig, ABC):
    """Base of the configurations of retrievers with an encoder for passages and one for queries."""

    @property
    @abstractmethod
    def embed(self) -> EncoderConfig:
        """The encoder of passages."""

    @property
    def embed_queries(self) -> EncoderConfig:
        """The encoder of queries: the same in the other role."""
        return self.embed.model_copy(update={"role": "query"})

    def encoders(self) -> tuple[EncoderConfig, ...]:
        """Both."""
        return self.embed, self.embed_queries


Paired = TypeVar("Paired", bound=PairedConfig)


class PairedRetriever(Retriever[Paired], Generic[Paired]):
    """Base of their retrievers. A higher ``version``: the same vectors are ranked otherwise than before."""

    version: ClassVar[int] = 1

    def identity(self, tools: Tools) -> Identity:
        """Both encoders, and the depth."""
        c = self.config
        encoders = [tools.fingerprint(one) for one in c.encoders()]
        return [c.kind, self.version, encoders, c.top_k, c.top_chars]

    def to_embed(
        self, passages: Passages, queries: Sequence[Query]
    ) -> Iterable[tuple[EncoderConfig, list[str]]]:
        """The passages by one encoder, the queries by the other."""
        return [
            (self.config.embed, list(passages.texts)),
            (self.config.embed_queries, [query.text for query in queries]),
        ]
