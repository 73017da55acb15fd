"""From graded spans to graded chunks, under any chunking: which share characters, and which grade follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.measures.qrels import SpanQrels, Spans
from harness.measures.ragged import Bools, Ints, offsets_of, owners, place_in, repeated, segment_sum, slices
from harness.values import MAX_GRADE, Chunk


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
    def of(cls, chunks: ChunkTable | Iterable[Chunk]) -> ChunkTable:
        """Read chunks in any order; raises ValueError for one that is empty or is twice."""
        if isinstance(chunks, ChunkTable):
            return chunks
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
        raise ValueError(f"chunk {repeated(ids)} occurs more than once among the chunks")


Rule = Literal["half_of_span_or_chunk", "any_overlap", "full_cover"]
_BLOCK_PAIRS = 4_000_000


@dataclass(frozen=True, slots=True)
class Projection:
    """When a chunk covers a span.

    ``half_of_span_or_chunk``: they share at least ``span_share`` of the span or ``chunk_share`` of the chunk;
    ``any_overlap``: they share a character; ``full_cover``: the chunk holds the whole span.
    Touching ends share no character and never count.
    """

    rule: Rule = "half_of_span_or_chunk"
    span_share: float = 0.5
    chunk_share: float = 0.5

    def covers(self, shared: Ints, span_length: Ints, chunk_length: Ints) -> Bools:
        """Whether each pair counts, given the characters shared (at least 1) and both lengths."""
        if self.rule == "any_overlap":
            return np.ones(len(shared), dtype=np.bool_)
        if self.rule == "full_cover":
            return np.equal(shared, span_length)
        # divided, not multiplied: 11 of 20 is 0.55 exactly as written, while 0.55 * 20 is above 11
        enough: Bools = (shared / span_length >= self.span_share) | (
            shared / chunk_length >= self.chunk_share
        )
        return enough


@dataclass(frozen=True, slots=True)
class ChunkGrades:
    """The judged chunks of every query, one row per (query, chunk), sorted by query and chunk row.

    ``grade`` [P] is the highest grade of the spans the chunk covers; ``evidence`` [P] what it stands for: the
    evidence of its best span (then the larger share of the span, the larger overlap, the earlier evidence).
    The spans it covers are ``cover_span[cover_offsets[p]:cover_offsets[p + 1]]``, rows of the ``SpanQrels``.
    ``partly`` [P]: it covers a span without a grade too, so it may be worth more than its ``grade``. A
    (query, chunk) that has no row is unjudged; so is one of grade 0 that covers a span without a grade.
    """

    n_chunks: int
    query: Ints
    chunk: Ints
    grade: Ints
    evidence: Ints
    cover_offsets: Ints
    cover_span: Ints
    partly: Bools

    def rows_of(self, query: Ints, chunk: Ints) -> Ints:
        """The row of each (query, chunk), -1 if it is unjudged."""
        return place_in_rising(query * self.n_chunks + chunk, self.query * self.n_chunks + self.chunk)


def place_in_rising(numbers: Ints, ordered: Ints) -> Ints:
    """For every number its place among others that rise, -1 for one that is not there."""
    if not len(ordered):
        return np.full(len(numbers), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
    return np.where(ordered[place] == numbers, place, -1)


def project(
    spans: SpanQrels, chunks: Iterable[Chunk] | ChunkTable, rule: Projection | None = None
) -> ChunkGrades:
    """Grade every chunk for every query by the spans it covers; see ``ChunkGrades``."""
    rule = rule or Projection()
    table = ChunkTable.of(chunks)
    span, chunk, shared = _covering(spans, table, rule)
    part = shared / (spans.end[span] - spans.start[span])
    best_first = np.lexsort(
        (spans.evidence[span], -shared, -part, -spans.grade[span], chunk, spans.query[span])
    )
    span, chunk = span[best_first], chunk[best_first]
    pair = spans.query[span] * len(table) + chunk
    failed, touching, _ = _covering(spans.unscored, table, rule)
    partly = np.isin(pair, spans.unscored.query[failed] * len(table) + touching)
    _, first, of_pair = np.unique(pair, return_index=True, return_inverse=True)
    settled = ~partly | (spans.grade[span[first]] > 0)[of_pair]
    span, chunk, pair, partly = span[settled], chunk[settled], pair[settled], partly[settled]
    first = np.unique(pair, return_index=True)[1]
    return ChunkGrades(
        n_chunks=len(table),
        query=spans.query[span[first]],
        chunk=chunk[first],
        grade=spans.grade[span[first]],
        evidence=spans.evidence[span[first]],
        cover_offsets=offsets_of(np.diff(np.append(first, len(span)))),
        cover_span=span,
        partly=partly[first] & (spans.grade[span[first]] < MAX_GRADE),
    )


def _covering(spans: Spans, table: ChunkTable, rule: Projection) -> tuple[Ints, Ints, Ints]:
    """All pairs of a span and a chunk that covers it, and the characters they share."""
    span, chunk, shared = overlapping(spans, table)
    covered = rule.covers(shared, spans.end[span] - spans.start[span], table.length[chunk])
    return span[covered], chunk[covered], shared[covered]


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
    blocks = []
    for rows, counts in _blocks(np.maximum(last - first, 0)):
        span, part = np.repeat(rows, counts), part_order[slices(first[rows], counts)]
        start = np.maximum(spans.start[span], chunks.part_start[part])
        shared = np.minimum(spans.end[span], chunks.part_end[part]) - start
        real = shared > 0
        blocks.append((span[real], part[real], shared[real]))
    if not blocks:
        return (np.zeros(0, dtype=np.int64),) * 3
    span, part, shared = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return span, part, shared


def _documents_in_common(spans: Spans, chunks: ChunkTable) -> tuple[Ints, Ints]:
    """The parts of chunks of judged documents by document and start: (their document in ``spans``, row)."""
    doc = place_in(chunks.doc_ids, spans.doc_ids)[chunks.doc][chunks.part_chunk]
    rows = np.flatnonzero(doc >= 0)
    rows = rows[np.lexsort((chunks.part_start[rows], doc[rows]))]
    return doc[rows], rows


def _blocks(counts: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Split the spans into runs of a bounded number of candidate pairs, to bound memory."""
    filled = np.flatnonzero(counts)
    block = np.cumsum(counts[filled]) // _BLOCK_PAIRS
    for rows in np.split(filled, np.flatnonzero(np.diff(block)) + 1):
        if len(rows):
            yield rows, counts[rows]
