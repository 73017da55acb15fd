"""The best order of chunks that greed finds for queries whose evidence is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.measures import FAMILIES, Measure, Scorer
from harness.measures.measure import arguments
from harness.measures.projection import overlapping
from harness.measures.ragged import Floats, Ints, before, offsets_of, slices
from harness.measures.text_ndcg import paid_up_to
from harness.types import Ranking

Orders = Mapping[str, Sequence[str]]
"""Chunk ids by query."""
# A place beyond every budget.
_NOWHERE = 2**40


def best_orders(
    scorer: Scorer, found: Mapping[str, Orders], measure: Measure
) -> tuple[list[Ranking], dict[str, list[Ranking]]]:
    """For every query the greedy order of all chunks, and of those that each step ``found``.

    Queries no chunk shows relevant evidence of have none. ``measure`` is an ``ndcg_text``.
    """
    paid = paid_up_to(measure.cutoff or 0, arguments(measure, FAMILIES[measure.family])["L"])
    spans, chunk_ids = scorer.spans, scorer.chunks.chunk_ids
    relevant = np.flatnonzero(spans.grade > 0)
    span, chunk, _ = overlapping(spans.take(relevant), scorer.chunks)
    # spans are in the order of their queries, and pairs in that of their spans
    first_span = np.searchsorted(spans.query[relevant], np.arange(len(scorer.queries) + 1))
    first_pair = np.searchsorted(span, first_span)
    every: list[Ranking] = []
    within: dict[str, list[Ranking]] = {step: [] for step in found}
    for at in np.flatnonzero(np.diff(first_pair)).tolist():
        query_id = scorer.query_ids[at]
        rows = np.unique(chunk[first_pair[at] : first_pair[at + 1]])
        evidence = Evidence.of(scorer, relevant[first_span[at] : first_span[at + 1]], rows)
        names = [chunk_ids[row] for row in rows]
        every.append(_greedy(query_id, names, evidence, range(len(names)), paid))
        for step, orders in found.items():
            there = set(orders.get(query_id, ()))
            some = [i for i, name in enumerate(names) if name in there]
            within[step].append(_greedy(query_id, names, evidence, some, paid))
    return every, within


def _greedy(
    query_id: str, names: Sequence[str], evidence: Evidence, allowed: Sequence[int], paid: Floats
) -> Ranking:
    order = greedy_order(evidence, allowed, paid)
    return Ranking(query_id, tuple(names[i] for i in order), tuple(-float(i) for i in range(len(order))))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The relevant spans of one query and the chunks that show some of them, cut into common segments.

    ``length`` [G] of the segments in characters; ``at`` [C, G] is the place of a segment in a chunk's text,
    ``_NOWHERE`` where the chunk does not contain it; ``holds`` [S, G] says which span contains which segment;
    ``density`` [S] is a span's gain per character, ``fact`` [S] its evidence, numbered from 0; ``size`` [C]
    the chunks' lengths.
    """

    length: Ints
    at: Ints
    holds: Floats
    density: Floats
    fact: Ints
    size: Ints

    @classmethod
    def of(cls, scorer: Scorer, span_rows: Ints, chunk_rows: Ints) -> Evidence:
        """Cut the given spans and chunks at each other's ends; documents are laid end to end."""
        spans, chunks = scorer.spans, scorer.chunks
        number = {doc_id: i for i, doc_id in enumerate(spans.doc_ids)}
        outside = len(number)
        doc = np.array([number.get(chunks.doc_ids[d], outside) for d in chunks.doc[chunk_rows]])
        width = int(max(spans.end[span_rows].max(initial=0), chunks.part_end.max(initial=0))) + 1
        span_from = spans.doc[span_rows] * width + spans.start[span_rows]
        span_to = spans.doc[span_rows] * width + spans.end[span_rows]
        counts = np.diff(chunks.part_offsets)[chunk_rows]
        part = slices(chunks.part_offsets[chunk_rows], counts)
        document_at = np.repeat(doc * width, counts)
        part_from, part_to = document_at + chunks.part_start[part], document_at + chunks.part_end[part]
        edges = np.unique(np.concatenate([span_from, span_to, part_from, part_to]))
        left, right = edges[:-1], edges[1:]
        holds = (span_from[:, None] <= left) & (right <= span_to[:, None])
        wanted = holds.any(axis=0)
        left, right, holds = left[wanted], right[wanted], holds[:, wanted]
        shown = (part_from[:, None] <= left) & (right <= part_to[:, None])
        parts = offsets_of(counts)
        # a chunk's text is that of its parts, one after another
        part_at = before((part_to - part_from).astype(np.float64), parts).astype(np.int64)
        at = np.where(shown, part_at[:, None] + left - part_from[:, None], _NOWHERE)
        gain = np.exp2(spans.grade[span_rows]) - 1.0
        return cls(
            length=right - left,
            at=np.minimum.reduceat(at, parts[:-1], axis=0),
            holds=holds.astype(np.float64),
            density=gain / (spans.end[span_rows] - spans.start[span_rows]),
            fact=np.unique(spans.evidence[span_rows], return_inverse=True)[1],
            size=chunks.length[chunk_rows],
        )

    def earned(self, chunks: Sequence[int], read: int, paid: Floats) -> Floats:
        """The discounted length of each segment in each of the ``chunks``, [N, G], after ``read`` characters.

        ``paid`` is the sum of the discounts up to each place of the budget; 0 beyond the budget and for
        segments that a chunk does not contain.
        """
        start, budget = read + self.at[chunks], len(paid) - 1
        earned: Floats = paid[np.minimum(start + self.length, budget)] - paid[np.minimum(start, budget)]
        return earned

    def gain(self, earned: Floats) -> Floats:
        """The gain of each row of earned segments [N, G]; of copies the one that earned most counts."""
        by_span = earned @ self.holds.T * self.density
        best = np.zeros((len(earned), int(self.fact.max(initial=-1)) + 1))
        for span, fact in enumerate(self.fact.tolist()):
            np.maximum(best[:, fact], by_span[:, span], out=best[:, fact])
        total: Floats = best.sum(axis=1)
        return total


def greedy_order(evidence: Evidence, allowed: Sequence[int], paid: Floats) -> list[int]:
    """The better of two greedy orders of the allowed chunks, read up to the budget.

    One reads next the chunk that adds most discounted gain per character, the other the chunk that adds most;
    the first can spend on short chunks what one long chunk needs. ``paid`` is the sum of the discounts up to
    each place of the budget. Returns indices into the chunks of ``evidence``; of equals the first. Chunks
    that add nothing are left out.
    """
    by_rate = _read_greedily(evidence, allowed, paid, per_character=True)
    by_gain = _read_greedily(evidence, allowed, paid, per_character=False)
    return max(by_rate, by_gain, key=lambda reading: reading[1])[0]


def _read_greedily(
    evidence: Evidence, allowed: Sequence[int], paid: Floats, *, per_character: bool
) -> tuple[list[int], float]:
    """The chunks in the order read, and the gain they earn."""
    budget = len(paid) - 1
    left = list(allowed)
    earned = np.zeros(len(evidence.length))
    have, read = 0.0, 0
    order: list[int] = []
    while left and read < budget:
        # text read again is discounted more than before, so the greater value is that of its first reading
        after = np.maximum(evidence.earned(left, read, paid), earned)
        gain = evidence.gain(after)
        added = gain - have
        best = int(
            np.argmax(added / np.minimum(evidence.size[left], budget - read) if per_character else added)
        )
        if added[best] <= 1e-12:
            break
        have, earned = float(gain[best]), after[best]
        order.append(left.pop(best))
        read += int(evidence.size[order[-1]])
    return order, have
