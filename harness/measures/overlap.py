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

    Pairs come in the order of the spans. Time is O((S + C) log C + candidates), where the candidates of a
    span are the chunks between the first that can reach it and the last that begins before its end.
    """
    chunk_doc, chunk_order = _documents_in_common(spans, chunks)
    width = int(max(spans.end.max(initial=0), chunks.end.max(initial=0))) + 1
    starts = chunk_doc * width + chunks.start[chunk_order]
    furthest_end = np.maximum.accumulate(chunk_doc * width + chunks.end[chunk_order])
    span_key = spans.doc * width
    first = np.searchsorted(furthest_end, span_key + spans.start, side="right")
    last = np.searchsorted(starts, span_key + spans.end, side="left")
    found = [
        _shared(spans, chunks, rows, chunk_order[slices(first[rows], counts)], counts)
        for rows, counts in _blocks(np.maximum(last - first, 0))
    ]
    if not found:
        return (np.zeros(0, dtype=np.int64),) * 3
    span, chunk, shared = (np.concatenate(column) for column in zip(*found, strict=True))
    return span, chunk, shared


def _documents_in_common(spans: Spans, chunks: ChunkTable) -> tuple[Ints, Ints]:
    """The chunks of judged documents by document and start: (their document in ``spans``, their row)."""
    number = {doc_id: i for i, doc_id in enumerate(spans.doc_ids)}
    renumber = np.array([number.get(doc_id, -1) for doc_id in chunks.doc_ids], dtype=np.int64)
    doc = renumber[chunks.doc] if len(chunks) else np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(doc >= 0)
    rows = rows[np.lexsort((chunks.start[rows], doc[rows]))]
    return doc[rows], rows


def _blocks(counts: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Split the spans into runs of about so many candidate pairs, to bound memory."""
    filled = np.flatnonzero(counts)
    block = np.cumsum(counts[filled]) // _BLOCK_PAIRS
    for rows in np.split(filled, np.flatnonzero(np.diff(block)) + 1):
        if len(rows):
            yield rows, counts[rows]


def _shared(
    spans: Spans, chunks: ChunkTable, rows: Ints, chunk: Ints, counts: Ints
) -> tuple[Ints, Ints, Ints]:
    span = np.repeat(rows, counts)
    shared = np.minimum(spans.end[span], chunks.end[chunk]) - np.maximum(
        spans.start[span], chunks.start[chunk]
    )
    real = shared > 0
    return span[real], chunk[real], shared[real]
