"""The best order of chunks that greed finds for queries whose evidence is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.measures import Scorer
from harness.measures.projection import overlapping
from harness.measures.ragged import Floats, Ints, offsets_of, slices
from harness.types import Ranking

Orders = Mapping[str, Sequence[str]]
"""Chunk ids by query."""


def best_orders(
    scorer: Scorer, found: Mapping[str, Orders], budget: int
) -> tuple[list[Ranking], dict[str, list[Ranking]]]:
    """For every query the greedy order of all chunks, and of those that each step ``found``.

    Queries no chunk shows relevant evidence of have none. ``budget`` is in characters.
    """
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
        every.append(_greedy(query_id, names, evidence, range(len(names)), budget))
        for step, orders in found.items():
            there = set(orders.get(query_id, ()))
            some = [i for i, name in enumerate(names) if name in there]
            within[step].append(_greedy(query_id, names, evidence, some, budget))
    return every, within


def _greedy(
    query_id: str, names: Sequence[str], evidence: Evidence, allowed: Sequence[int], budget: int
) -> Ranking:
    order = greedy_order(evidence, allowed, budget)
    return Ranking(query_id, tuple(names[i] for i in order), tuple(-float(i) for i in range(len(order))))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The relevant spans of one query and the chunks that show some of them, cut into common segments.

    ``length`` [G] of the segments in characters; ``shows`` [C, G] and ``holds`` [S, G] say which chunk and
    which span contains which segment; ``density`` [S] is a span's gain per character, ``fact`` [S] its
    evidence, numbered from 0; ``size`` [C] the chunks' lengths.
    """

    length: Floats
    shows: Floats
    holds: Floats
    density: Floats
    fact: Ints
    size: Floats

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
        at = np.repeat(doc * width, counts)
        part_from, part_to = at + chunks.part_start[part], at + chunks.part_end[part]
        edges = np.unique(np.concatenate([span_from, span_to, part_from, part_to]))
        left, right = edges[:-1], edges[1:]
        holds = (span_from[:, None] <= left) & (right <= span_to[:, None])
        wanted = holds.any(axis=0)
        left, right, holds = left[wanted], right[wanted], holds[:, wanted]
        shown = ((part_from[:, None] <= left) & (right <= part_to[:, None])).astype(np.float64)
        gain = np.exp2(spans.grade[span_rows]) - 1.0
        return cls(
            length=(right - left).astype(np.float64),
            shows=np.maximum.reduceat(shown, offsets_of(counts)[:-1], axis=0),
            holds=holds.astype(np.float64),
            density=gain / (spans.end[span_rows] - spans.start[span_rows]),
            fact=np.unique(spans.evidence[span_rows], return_inverse=True)[1],
            size=chunks.length[chunk_rows].astype(np.float64),
        )

    def gain(self, shown: Floats) -> Floats:
        """The undiscounted gain of each row of shown segments [N, G]; of copies the best-covered counts."""
        by_span = (shown * self.length) @ self.holds.T * self.density
        best = np.zeros((len(shown), int(self.fact.max(initial=-1)) + 1))
        for span, fact in enumerate(self.fact.tolist()):
            np.maximum(best[:, fact], by_span[:, span], out=best[:, fact])
        total: Floats = best.sum(axis=1)
        return total


def greedy_order(evidence: Evidence, allowed: Sequence[int], budget: float) -> list[int]:
    """Read, again and again, the allowed chunk that adds most gain per character read, up to ``budget``.

    Returns indices into the chunks of ``evidence``; of equals the first. A chunk that adds nothing is left
    out.
    """
    left = list(allowed)
    shown = np.zeros(len(evidence.length))
    have, used = 0.0, 0.0
    order: list[int] = []
    while left and used < budget:
        rate = (evidence.gain(np.maximum(evidence.shows[left], shown)) - have) / evidence.size[left]
        best = int(np.argmax(rate))
        if rate[best] <= 1e-15:
            break
        chunk = left.pop(best)
        order.append(chunk)
        used += float(evidence.size[chunk])
        shown = np.maximum(shown, evidence.shows[chunk])
        have = float(evidence.gain(shown[None, :])[0])
    return order
