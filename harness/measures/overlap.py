"""Which spans and chunks share characters: an interval join on arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from harness.measures.chunks import ChunkTable
from harness.measures.ragged import Ints, slices

_BLOCK_PAIRS = 4_000_000


class Spans(Protocol):
    """Rows of spans: ``doc`` [S] are indices into ``doc_ids``, ``start``, ``end`` [S] half-open offsets."""

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """The names of the documents."""

    @property
    def doc(self) -> Ints:
        """The document of each span."""

    @property
    def start(self) -> Ints:
        """The first character of each span."""

    @property
    def end(self) -> Ints:
        """The place after the last character of each span."""


def overlapping(spans: Spans, chunks: ChunkTable) -> tuple[Ints, Ints, Ints]:
    """All pairs of a span and a chunk with a character in common: (span, chunk, characters shared).

    Pairs come in the order of the spans.
    """
    span, part, shared = overlapping_parts(spans, chunks)
    if len(chunks.part_start) == len(chunks):
        return span, part, shared
    pairs, pair = np.unique(span * len(chunks) + chunks.part_chunk[part], return_inverse=True)
    together = np.bincount(pair, shared, minlength=len(pairs)).astype(np.int64)
    return pairs // len(chunks), pairs % len(chunks), together


def overlapping_parts(spans: Spans, chunks: ChunkTable) -> tuple[Ints, Ints, Ints]:
    """All pairs of a span and a part of a chunk with a character in common, by span, and how many.

    Time is O((S + P) log P + candidates), where the candidates of a span are the parts between the first that
    can reach it and the last that begins before its end.
    """
    part_doc, part_order = _documents_in_common(spans, chunks)
    width = int(max(spans.end.max(initial=0), chunks.part_end.max(initial=0))) + 1
    starts = part_doc * width + chunks.part_start[part_order]
    furthest_end = np.maximum.accumulate(part_doc * width + chunks.part_end[part_order])
    span_key = spans.doc * width
    first = np.searchsorted(furthest_end, span_key + spans.start, side="right")
    last = np.searchsorted(starts, span_key + spans.end, side="left")
    found = [
        _shared(spans, chunks, rows, part_order[slices(first[rows], counts)], counts)
        for rows, counts in _blocks(np.maximum(last - first, 0))
    ]
    if not found:
        return (np.zeros(0, dtype=np.int64),) * 3
    span, part, shared = (np.concatenate(column) for column in zip(*found, strict=True))
    return span, part, shared


def _documents_in_common(spans: Spans, chunks: ChunkTable) -> tuple[Ints, Ints]:
    """The parts of chunks of judged documents by document and start: (their document in ``spans``, row)."""
    number = {doc_id: i for i, doc_id in enumerate(spans.doc_ids)}
    renumber = np.array([number.get(doc_id, -1) for doc_id in chunks.doc_ids], dtype=np.int64)
    doc = renumber[chunks.doc][chunks.part_chunk] if len(chunks) else np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(doc >= 0)
    rows = rows[np.lexsort((chunks.part_start[rows], doc[rows]))]
    return doc[rows], rows


def _blocks(counts: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Split the spans into runs of about so many candidate pairs, to bound memory."""
    filled = np.flatnonzero(counts)
    block = np.cumsum(counts[filled]) // _BLOCK_PAIRS
    for rows in np.split(filled, np.flatnonzero(np.diff(block)) + 1):
        if len(rows):
            yield rows, counts[rows]


def _shared(
    spans: Spans, chunks: ChunkTable, rows: Ints, part: Ints, counts: Ints
) -> tuple[Ints, Ints, Ints]:
    span = np.repeat(rows, counts)
    shared = np.minimum(spans.end[span], chunks.part_end[part]) - np.maximum(
        spans.start[span], chunks.part_start[part]
    )
    real = shared > 0
    return span[real], part[real], shared[real]
