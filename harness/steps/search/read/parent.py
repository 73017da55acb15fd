"""A small chunk is found, and the larger one that holds it is read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Literal

from pydantic import Field, SerializeAsAny

from harness.steps.search.read import ReadConfig, Reader
from harness.steps.search.tools import Sources
from harness.values import Chunk, Section, Span, StageConfig, by_key


class ParentConfig(ReadConfig):
    """The larger chunk, of another chunker, that holds the chunk."""

    kind: Literal["parent"] = "parent"
    chunk: Annotated[SerializeAsAny[StageConfig], Section("chunk")] = Field(
        description="How the larger chunks are cut: a section like `chunk`. If several contain a part of "
        "a chunk, the one with most of it is read (in a tie, the first); if none does, the chunk itself.",
    )

    @property
    def larger(self) -> StageConfig:
        """The section ``chunk``."""
        return self.chunk


class Parent(Reader[ParentConfig]):
    """Chunks with one parent are read once, where the first of them is ranked."""

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[Span]:
        """The larger chunk with most of each, of two alike the first; itself where none has a part of it."""
        larger = sources.chunks(self.config.chunk)
        parents = by_key((chunk.doc_id, (chunk.start, chunk.end)) for chunk in larger)
        reached = {
            doc_id: list(accumulate((end for _, end in spans), max)) for doc_id, spans in parents.items()
        }
        return [
            _parent((chunk.start, chunk.end), parents.get(chunk.doc_id, []), reached.get(chunk.doc_id, []))
            for chunk in chunks
        ]


def _parent(chunk: Span, parents: Sequence[Span], reached: Sequence[int]) -> Span:
    """Of ``parents``, in the order of the text, the one that holds most of ``chunk``.

    ``reached`` is the largest end of each and those before it.
    """
    start, end = chunk
    best, most = chunk, 0
    # those that begin before the chunk ends, the last one first, until none reaches it
    for i in range(bisect_left(parents, end, key=lambda span: span[0]) - 1, -1, -1):
        if reached[i] <= start:
            break
        held = min(end, parents[i][1]) - max(start, parents[i][0])
        if held >= max(most, 1):
            best, most = parents[i], held
    return best
