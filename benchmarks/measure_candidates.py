"""Candidates for a measure that compares chunkings, besides the harness's: functions of a ``Trail``.

Each takes the trail, the budget and L, and returns a value for every query. docs/study-measure.md compares
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from harness.measures.evidence_ndcg import gain_by_place, places
from harness.measures.ragged import before
from harness.measures.ranked import gain_exp
from harness.measures.text_ndcg import ndcg_text
from harness.measures.trail import Trail

Values = np.ndarray
Needed = Callable[[Trail], Values]
L = 1000


def half(trail: Trail) -> Values:
    return trail.length / 2


def whole(trail: Trail) -> Values:
    return trail.length.copy()


def characters(most: int, share: float = 1.0) -> Needed:
    """So many characters of a span, or that share of it where this is less."""
    return lambda trail: np.minimum(trail.length * share, most)


def in_stretches(needed: Needed, enough: int = 200) -> Callable[[Trail, int], Values]:
    """``ndcg_evidence`` under another rule of how much of a span has to be read."""
    return lambda trail, budget: gain_by_place(trail, places(trail, needed(trail)), budget, enough, L)


def at_the_end(needed: Needed, enough: int = 200) -> Callable[[Trail, int], Values]:
    """The same, an evidence being found at the end of the chunk in which enough of it was read."""

    def compute(trail: Trail, budget: int) -> Values:
        place = places(trail, needed(trail))
        found = np.flatnonzero(np.isfinite(place))
        item = item_at(trail, place, found)
        length = trail.chunks.length[trail.item_chunk]
        until = before(length, trail.offsets) + length
        ends = np.full(len(place), np.inf)
        ends[found] = until[item]
        return gain_by_place(trail, ends, budget, enough, L)

    return compute


def item_at(trail: Trail, place: Values, spans: Values) -> Values:
    """The ranked item in which each of ``spans`` was found, at its ``place`` in characters."""
    length = trail.chunks.length[trail.item_chunk]
    until = before(length, trail.offsets) + length
    first, last = trail.offsets[trail.spans.query[spans]], trail.offsets[trail.spans.query[spans] + 1]
    return np.array(
        [
            a + np.searchsorted(until[a:b], at - 1e-9)
            for a, b, at in zip(first, last, place[spans], strict=True)
        ],
        dtype=np.int64,
    )


def unslotted(needed: Needed, spacing: int = 200, begin: int = 0) -> Callable[[Trail, int], Values]:
    """Each evidence discounted at its place, over an ideal of one evidence every ``spacing`` characters.

    The first is at ``begin``. It is not bounded: two evidences may be closer than that.
    """

    def compute(trail: Trail, budget: int) -> Values:
        place = places(trail, needed(trail))
        n, spans = trail.spans.n_evidence, trail.spans
        first = np.full(n, np.inf)
        np.minimum.at(first, spans.evidence, place)
        best, owner = np.zeros(n), np.zeros(n, dtype=np.int64)
        np.maximum.at(best, spans.evidence, gain_exp(spans.grade))
        owner[spans.evidence] = trail.spans.query
        paid = np.where(first <= budget, best / np.log2(2 + np.minimum(first, budget) / L), 0.0)
        order = np.lexsort((-best, owner))
        rank = np.arange(n) - np.searchsorted(owner[order], owner[order])
        at = begin + rank * spacing
        ideal = np.where(at <= budget, best[order] / np.log2(2 + at / L), 0.0)
        found = np.bincount(owner, paid, minlength=trail.n_queries)
        wanted = np.bincount(owner[order], ideal, minlength=trail.n_queries)
        return np.divide(found, wanted, out=np.zeros(len(found)), where=wanted > 0)

    return compute


def text(trail: Trail, budget: int) -> Values:
    return ndcg_text(trail, budget, L)


HALF_OR_200 = characters(200, 0.5)
CANDIDATES: Mapping[str, Callable[[Trail, int], Values]] = {
    "ndcg_text": text,
    "half": in_stretches(half),
    "whole": in_stretches(whole),
    "200": in_stretches(characters(200)),
    "half or 50": in_stretches(characters(50, 0.5), 50),
    "half or 100": in_stretches(characters(100, 0.5), 100),
    "half or 200": in_stretches(HALF_OR_200),
    "half or 400": in_stretches(characters(400, 0.5), 400),
    "half or 200, at the chunk's end": at_the_end(HALF_OR_200),
    "half or 200, no stretches, ideal from 200": unslotted(HALF_OR_200, begin=200),
    "half or 200, no stretches, ideal from 0": unslotted(HALF_OR_200),
}
NEEDED: Mapping[str, Needed] = {
    "half": half,
    "whole": whole,
    "200": characters(200),
    "half or 50": characters(50, 0.5),
    "half or 100": characters(100, 0.5),
    "half or 200": HALF_OR_200,
    "half or 400": characters(400, 0.5),
}
"""How much of a span each rule wants read, for the question whether what is found holds the answer."""
