"""Chunks as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from harness.measures.ragged import Ints
from harness.types import Chunk


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """The chunks of one chunking, one row each: ``doc`` indexes ``doc_ids``; half-open character offsets."""

    chunk_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    doc: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.chunk_ids)

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> ChunkTable:
        """Read chunks in any order; raises ValueError for one that is empty or stands twice."""
        rows = list(chunks)
        docs: dict[str, int] = {}
        doc = [docs.setdefault(row.doc_id, len(docs)) for row in rows]
        ids = tuple(row.chunk_id for row in rows)
        start = np.array([row.start for row in rows], dtype=np.int64)
        end = np.array([row.end for row in rows], dtype=np.int64)
        _check(ids, start, end)
        return cls(ids, tuple(docs), np.array(doc, dtype=np.int64), start, end)

    def rows(self) -> dict[str, int]:
        """The row of every chunk id."""
        return {chunk_id: row for row, chunk_id in enumerate(self.chunk_ids)}


def _check(ids: tuple[str, ...], start: Ints, end: Ints) -> None:
    empty = np.flatnonzero((start < 0) | (end <= start))
    if len(empty):
        row = int(empty[0])
        raise ValueError(
            f"chunk {ids[row]} ({start[row]}-{end[row]}) has no extent; it needs 0 <= start < end"
        )
    if len(set(ids)) != len(ids):
        seen: set[str] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"chunk {twice} stands more than once among the chunks")
