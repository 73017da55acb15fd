"""Chunks as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from harness.measures.ragged import Ints, offsets_of, owners, segment_sum
from harness.values import Chunk


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """The chunks of one chunking, one row each: ``doc`` indexes ``doc_ids``.

    Chunk c shows the parts ``part_offsets[c]`` to ``part_offsets[c + 1]``, in the order of the text and apart
    from each other: half-open character offsets ``part_start``, ``part_end`` [P]. ``length`` [C] is what they
    hold together, in characters.
    """

    chunk_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    doc: Ints
    part_offsets: Ints
    part_start: Ints
    part_end: Ints
    length: Ints

    def __len__(self) -> int:
        return len(self.chunk_ids)

    @property
    def part_chunk(self) -> Ints:
        """The row of the chunk that each part belongs to, [P]."""
        return owners(self.part_offsets)

    @classmethod
    def of(cls, chunks: Iterable[Chunk]) -> ChunkTable:
        """Read chunks in any order; raises ValueError for one that is empty or is twice."""
        rows = list(chunks)
        docs: dict[str, int] = {}
        doc = [docs.setdefault(row.doc_id, len(docs)) for row in rows]
        ids = tuple(row.chunk_id for row in rows)
        spans = [span for row in rows for span in row.spans]
        start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        offsets = offsets_of(np.array([1 + len(row.before) for row in rows], dtype=np.int64))
        _check(ids, offsets, start, end)
        length = segment_sum(end - start, offsets).astype(np.int64)
        return cls(ids, tuple(docs), np.array(doc, dtype=np.int64), offsets, start, end, length)

    def rows(self) -> dict[str, int]:
        """The row of every chunk id."""
        return {chunk_id: row for row, chunk_id in enumerate(self.chunk_ids)}


def _check(ids: tuple[str, ...], offsets: Ints, start: Ints, end: Ints) -> None:
    chunk = owners(offsets)
    empty = np.flatnonzero((start < 0) | (end <= start))
    if len(empty):
        part = int(empty[0])
        raise ValueError(
            f"chunk {ids[chunk[part]]} ({start[part]}-{end[part]}) has no extent; it needs 0 <= start < end"
        )
    wrong = np.flatnonzero((chunk[1:] == chunk[:-1]) & (start[1:] < end[:-1]))
    if len(wrong):
        part = int(wrong[0])
        raise ValueError(
            f"chunk {ids[chunk[part]]} shows {start[part]}-{end[part]} before "
            f"{start[part + 1]}-{end[part + 1]}; its parts must be in text order and disjoint"
        )
    if len(set(ids)) != len(ids):
        seen: set[str] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"chunk {twice} occurs more than once among the chunks")
