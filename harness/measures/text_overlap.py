"""Recall, precision and intersection-over-union of text, as in "Evaluating Chunking" (Smith, Chroma 2024).

Text is counted in characters. What must be found is the text of all relevant evidence; of several copies of
one evidence the best-covered one. Text that two chunks share is found once but read twice.
"""

from __future__ import annotations

import numpy as np

from harness.measures.projection import overlapping_parts
from harness.measures.ragged import Bools, Floats, Ints, head, segment_sum, share_of
from harness.measures.trail import Trail


def text_recall(trail: Trail, k: int | None) -> Floats:
    """The share of the wanted text that the first k chunks show."""
    wanted, found, _ = _amounts(trail, k)
    return share_of(found, wanted)


def text_precision(trail: Trail, k: int | None) -> Floats:
    """The share of the text of the first k chunks that is wanted and new; 0 if nothing is ranked."""
    _, found, text = _amounts(trail, k)
    return share_of(found, text)


def text_iou(trail: Trail, k: int | None) -> Floats:
    """Wanted text found, over all text that is wanted or read by the first k chunks (Jaccard index)."""
    wanted, found, text = _amounts(trail, k)
    return share_of(found, text + wanted - found)


def precision_omega(trail: Trail, _k: None = None) -> Floats:
    """The precision of reading every chunk that shares a character with wanted text, whatever was ranked.

    The best precision the chunking leaves to a retriever that finds everything. Of copies the shortest
    counts.
    """
    wanted = _best_copies(trail, np.zeros(len(trail.spans)))
    span, chunk, shared_from, shared_to = _chunks_with(trail, wanted)
    found = _union(trail, span, shared_from, shared_to)
    pairs = np.unique(np.stack([trail.spans.query[span], chunk]), axis=1)
    length = trail.chunks.length[pairs[1]]
    return share_of(found, np.bincount(pairs[0], length, minlength=trail.n_queries).astype(np.float64))


def _amounts(trail: Trail, k: int | None) -> tuple[Floats, Floats, Floats]:
    """Per query, in characters: wanted text, the wanted text that was found, the text read."""
    spans = trail.spans
    seen = np.ones(len(trail.read_rank), dtype=np.bool_) if k is None else trail.read_rank < k
    covered = np.bincount(
        trail.read_span[seen], (trail.read_end - trail.read_start)[seen], minlength=len(spans)
    )
    chosen = _best_copies(trail, covered / (spans.end - spans.start))
    found = seen & chosen[trail.read_span]
    span = trail.read_span[found]
    index, offsets = head(trail.offsets, k)
    return (
        _union(trail, chosen, spans.start[chosen], spans.end[chosen]),
        _union(trail, span, trail.read_start[found], trail.read_end[found]),
        segment_sum(trail.item_length[index], offsets),
    )


def _best_copies(trail: Trail, share: Floats) -> Bools:
    """One span of each evidence: the highest share, then the shortest, then the first."""
    spans = trail.spans
    order = np.lexsort((spans.end - spans.start, -share, spans.evidence))
    _, first = np.unique(spans.evidence[order], return_index=True)
    chosen = np.zeros(len(spans), dtype=np.bool_)
    chosen[order[first]] = True
    return chosen


def _chunks_with(trail: Trail, wanted: Bools) -> tuple[Ints, Ints, Ints, Ints]:
    """All (span, chunk, start, end) where a wanted span and a chunk share the characters start..end."""
    rows = np.flatnonzero(wanted)
    chunks = trail.chunks
    span, part, _ = overlapping_parts(trail.spans.take(rows), chunks)
    span = rows[span]
    start = np.maximum(trail.spans.start[span], chunks.part_start[part])
    return span, chunks.part_chunk[part], start, np.minimum(trail.spans.end[span], chunks.part_end[part])


def _union(trail: Trail, rows: Ints | Bools, start: Ints, end: Ints) -> Floats:
    """How many characters of the spans at ``rows`` each query has, counting shared ones once: [Q].

    They are those from ``start`` to ``end``, one pair a row.
    """
    group, owner = trail.group[rows], trail.spans.query[rows]
    width = int(end.max(initial=0)) + 1
    order = np.lexsort((start, group))
    starts, ends = (group * width + start)[order], (group * width + end)[order]
    furthest = np.maximum.accumulate(ends)
    reached = np.concatenate([starts[:1], furthest[:-1]])
    new = np.maximum(ends - np.maximum(starts, reached), 0)
    return np.bincount(owner[order], new, minlength=trail.n_queries).astype(np.float64)
