"""Rankings read as text: which characters of the relevant spans are read, and after how much reading.

The trail of a query is the text of its ranked chunks, end to end. Text that two chunks share is read twice,
but counts as found only the first time (Sakai and Dou, SIGIR 2013, call it the trailtext).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from harness.measures.projection import ChunkTable, place_in_rising
from harness.measures.qrels import SpanQrels
from harness.measures.ragged import (
    AnyArray,
    Floats,
    Ints,
    before,
    offsets_of,
    owners,
    place_in,
    positions,
    slices,
)

TokenBoundaries = Callable[[str], Sequence[int] | AnyArray]
"""For a document id the sorted offsets at which its tokens begin, and, last, where the final token ends."""


@dataclass(frozen=True, slots=True)
class Characters:
    """One character is one unit."""

    def positions(self, doc_ids: Sequence[str], doc: Ints, offset: Ints) -> Floats:
        """The offset itself."""
        return offset.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Tokens:
    """One token of the document's own tokenization is one unit, spread evenly over its characters.

    Measuring on the document, not on each chunk, keeps a span equally long under every chunking. Text between
    two tokens belongs to the first of them; tokens that begin together share the text up to the next one.
    """

    boundaries: TokenBoundaries

    def positions(self, doc_ids: Sequence[str], doc: Ints, offset: Ints) -> Floats:
        """How many tokens, in fractions, are before; raises ValueError for unsorted boundaries."""
        tokens_before = np.empty(len(offset))
        for number in np.unique(doc).tolist():
            of_document = doc == number
            tokens_before[of_document] = self._within(doc_ids[number], offset[of_document])
        return tokens_before

    def _within(self, doc_id: str, offset: Ints) -> Floats:
        edges = np.asarray(self.boundaries(doc_id), dtype=np.int64)
        if len(edges) < 2 or (np.diff(edges) < 0).any():
            raise ValueError(f"{doc_id}: token boundaries must be sorted and 2 or more, not {edges[:5]}…")
        # several tokens that hold bytes of one character begin together: none of them is before it
        place_in, before = np.unique(edges, return_index=True)
        return np.interp(offset, place_in, before)


Unit = Characters | Tokens
"""Turns offsets within documents into positions; the length of a text is a difference of positions."""
Ideals = dict[tuple[int, int], Floats]
"""By budget and discount what the best reading of every query earns, [Q]."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The relevant spans of the scored queries, and where on the trail each was first read.

    ``spans`` [S] are those of grade 1 or better, ``group`` [S] their (query, document), ``length`` [S] their
    length on the ``unit``. A read [R] is a part of a span: ``read_span`` its row, ``read_start``/``read_end``
    its characters, ``read_at`` and ``read_until`` its place on the trail, ``read_rank`` the 0-based rank of
    the chunk it was read in. ``offsets`` [Q + 1] delimit the ranked items; ``chunks`` are all chunks of the
    chunking, ``item_chunk`` [N] the rows of the ranked ones. ``judged`` are all judged spans, also those of
    grade 0. ``ideals`` holds those that were asked for.
    """

    spans: SpanQrels
    group: Ints
    length: Floats
    read_span: Ints
    read_start: Ints
    read_end: Ints
    read_at: Floats
    read_until: Floats
    read_rank: Ints
    offsets: Ints
    item_chunk: Ints
    chunks: ChunkTable
    unit: Unit
    judged: SpanQrels
    ideals: Ideals

    @property
    def n_queries(self) -> int:
        """How many queries there are, with a ranking or without."""
        return len(self.offsets) - 1


def read(
    chunk: Ints,
    offsets: Ints,
    spans: SpanQrels,
    chunks: ChunkTable,
    unit: Unit,
    ideals: Ideals | None = None,
) -> Trail:
    """Lay the trail of every query of ``spans``: the ranked rows of ``chunks``, delimited by ``offsets``.

    ``ideals`` are those of other rankings, with the same spans and unit.
    """
    relevant = spans.take(np.flatnonzero(spans.grade > 0))
    groups, group = np.unique(relevant.query * len(spans.doc_ids) + relevant.doc, return_inverse=True)
    item_doc = place_in(chunks.doc_ids, spans.doc_ids)[chunks.doc[chunk]] if len(chunk) else chunk
    there = place_in_rising(owners(offsets) * len(spans.doc_ids) + item_doc, groups)
    item_group = np.where(item_doc >= 0, there, -1)
    # a chunk is read part by part, so the trail is one of parts
    counts = np.diff(chunks.part_offsets)[chunk]
    part, item_of = slices(chunks.part_offsets[chunk], counts), np.repeat(np.arange(len(chunk)), counts)
    part_start, part_end = chunks.part_start[part], chunks.part_end[part]
    of_group, begin, until, of_part = _first_read(item_group[item_of], part_start, part_end)
    span, piece = _meet(group, relevant, of_group, begin, until)
    at = of_part[piece]
    start = np.maximum(relevant.start[span], begin[piece])
    end = np.minimum(relevant.end[span], until[piece])
    part_doc = chunks.doc[chunk][item_of]
    part_begin = unit.positions(chunks.doc_ids, part_doc, part_start)
    part_length = unit.positions(chunks.doc_ids, part_doc, part_end) - part_begin
    shift = (before(part_length, offsets_of(counts)[offsets]) - part_begin)[at]
    return Trail(
        spans=relevant,
        group=group,
        length=_lengths(relevant, unit),
        read_span=span,
        read_start=start,
        read_end=end,
        read_at=shift + unit.positions(spans.doc_ids, relevant.doc[span], start),
        read_until=shift + unit.positions(spans.doc_ids, relevant.doc[span], end),
        read_rank=positions(offsets)[item_of[at]],
        offsets=offsets,
        item_chunk=chunk,
        chunks=chunks,
        unit=unit,
        judged=spans,
        ideals={} if ideals is None else ideals,
    )


def elementary(group: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Cut overlapping intervals at each other's ends.

    Returns (interval, segment, group, start, end): the first two say which interval holds which segment, in
    the order of the intervals; the last three describe the segments, disjoint and sorted by group and start.
    """
    width = int(end.max(initial=0)) + 1
    edges = np.unique(np.concatenate([group * width + start, group * width + end]))
    first = np.searchsorted(edges, group * width + start)
    counts = np.searchsorted(edges, group * width + end) - first
    interval, segment = np.repeat(np.arange(len(group)), counts), slices(first, counts)
    following = np.append(edges[1:], edges[-1:])
    return interval, segment, edges // width, edges % width, following % width


def _lengths(spans: SpanQrels, unit: Unit) -> Floats:
    starts = unit.positions(spans.doc_ids, spans.doc, spans.start)
    lengths = unit.positions(spans.doc_ids, spans.doc, spans.end) - starts
    if (lengths <= 0).any():
        row = int(np.flatnonzero(lengths <= 0)[0])
        where = f"{spans.doc_ids[spans.doc[row]]}:{spans.start[row]}-{spans.end[row]}"
        raise ValueError(f"the span {where} holds no token; do the token boundaries cover the document?")
    return lengths


def _first_read(group: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The text of each part of a ranked item (in reading order) that no earlier part has shown.

    It is given in pieces, disjoint and sorted by group and start: their groups, where they start and end, and
    the part of a ranked item that each is of.
    """
    parts = np.flatnonzero(group >= 0)
    interval, segment, of_group, starts, ends = elementary(group[parts], start[parts], end[parts])
    shown, first = np.unique(segment, return_index=True)
    return of_group[shown], starts[shown], ends[shown], parts[interval[first]]


def _meet(group: Ints, spans: SpanQrels, of_group: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """All pairs of a span and a piece, ``start`` to ``end``, of its group that share a character."""
    width = int(max(end.max(initial=0), spans.end.max(initial=0))) + 1
    first = np.searchsorted(of_group * width + end, group * width + spans.start, side="right")
    last = np.searchsorted(of_group * width + start, group * width + spans.end, side="left")
    counts = np.maximum(last - first, 0)
    return np.repeat(np.arange(len(spans)), counts), slices(first, counts)
