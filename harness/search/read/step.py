"""The interface of readers: the text that is read in place of a chunk that was found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pydantic import Field

from harness.kinds import StageConfig
from harness.search.sources import Sources
from harness.text.spans import Span
from harness.types import Chunk

Together = Callable[[Sequence[int]], list[Span]]
"""The numbers of the chunks that a query found, by rank → the span that is read for each."""


class ReadConfig(StageConfig):
    """Base of the configurations of readers."""

    kind: str

    @property
    def larger(self) -> StageConfig | None:
        """How the larger chunks that it reads are cut; None where it cuts none."""
        return None


class MergeConfig(ReadConfig):
    """Base of the configurations of readers that merge what one query has found."""

    top_n: int | None = Field(
        None,
        ge=1,
        description="How many chunks of each ranking are merged; the rest are read unchanged. Empty: "
        "all, so a deep ranking merges more than a short one.",
    )


Configured = TypeVar("Configured", bound=ReadConfig)
Merging = TypeVar("Merging", bound=MergeConfig)


class Reader(ABC, Generic[Configured]):
    """Chunks → the span of its document that is read for each, whatever the query."""

    def __init__(self, config: Configured) -> None:
        self.config = config

    @abstractmethod
    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[Span]:
        """A half-open range of the document of each chunk, in their order; it overlaps the chunk."""


class Merger(Reader[Merging]):
    """A reader that depends on what else was found: chunks close together are read as one."""

    @abstractmethod
    def together(self, chunks: Sequence[Chunk], sources: Sources) -> Together:
        """How chunks of ``chunks``, which are all there are, are read when a query has found some of them.

        A span that is not the chunk itself holds two chunks that were found, or more.
        """

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[Span]:
        """The spans read where all of the chunks are found."""
        return self.together(chunks, sources)(range(len(chunks)))
