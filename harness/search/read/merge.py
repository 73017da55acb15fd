"""Where most of a larger chunk is found, all of it is read (auto-merging)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny

from harness.kinds import Section, StageConfig
from harness.search.read.parent import parents_of
from harness.search.read.step import MergeConfig, Merger, Together
from harness.search.sources import Sources
from harness.text.spans import Span
from harness.types import Chunk


class ParentMergeConfig(MergeConfig):
    """The larger chunk, of another chunker, where enough of its chunks are found; else the chunk itself."""

    kind: Literal["merge"] = "merge"
    chunk: Annotated[SerializeAsAny[StageConfig], Section("chunk")] = Field(
        description="How the larger chunks are cut: a section like `chunk`. A chunk belongs to the one that "
        "contains most of it; in a tie, to the first.",
    )
    share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="A larger chunk is read if at least this share of its chunks is found, and at least "
        "two of them.",
    )

    @property
    def larger(self) -> StageConfig:
        """The section ``chunk``."""
        return self.chunk


class ParentMerge(Merger[ParentMergeConfig]):
    """Counts, for every query, how many chunks of each larger chunk were found."""

    def together(self, chunks: Sequence[Chunk], sources: Sources) -> Together:
        """The parent where enough of its chunks are found."""
        own: list[Span] = [(chunk.start, chunk.end) for chunk in chunks]
        parents = parents_of(chunks, sources.chunks(self.config.chunk))
        keys = [(chunk.doc_id, *parent) for chunk, parent in zip(chunks, parents, strict=True)]
        size = Counter(keys)

        def read(found: Sequence[int]) -> list[Span]:
            hits = Counter(keys[i] for i in found)
            return [
                parents[i]
                if hits[keys[i]] > 1 and hits[keys[i]] / size[keys[i]] >= self.config.share
                else own[i]
                for i in found
            ]

        return read
