"""The best NDCG that judging the unjudged items could reveal."""

from __future__ import annotations

import numpy as np

from harness.measures.graded import Graded
from harness.measures.ndcg import Gain, dcg
from harness.measures.ragged import Floats, Ints, head, owners, positions, running_count
from harness.values import MAX_GRADE

_BLOCK_CELLS = 4_000_000


def ndcg_upper(graded: Graded, k: int, gain: Gain, max_grade: int = MAX_GRADE) -> Floats:
    """The highest NDCG@k over all ways to grade the unjudged items 0..max_grade, each as its own evidence.

    A partly judged item counts both with its known grade and as unjudged; the ideal holds what is judged
    whole. The bound is then not exact, but still never below the truth.

    An unjudged item that turns out relevant adds to the ranking's gain *and* to the ideal, so grading all of
    them highest is not always the best case: a late one would cost more than it brings. This is the exact
    maximum, hence never below ``ndcg`` and never above 1.

    Derivation. Write gain(g) as the sum of its steps ``gain(l) - gain(l - 1)``, l = 1..g. Best grades fall
    along the ranking, so an assignment is, for each level l, how many of the first unjudged items reach it:
    m_l. DCG and ideal DCG are both sums over levels, and for a guess t of the maximum ``DCG - t * ideal``
    splits into one small search per level. Raising t to the ratio found until it stands still (Dinkelbach,
    Management Science 1967) ends at the maximum. The search for level l prefers a larger m the more judged
    items reach l, so the m_l come out nested by themselves.
    """
    values = np.zeros(graded.n_queries)
    rows = max(1, _BLOCK_CELLS // (max_grade * (k + 1)))
    holes, hole_positions = _holes(graded, k)
    found = dcg(graded.earned, graded.offsets, k, gain)
    reach = _reach(graded, k, max_grade)
    steps = np.diff(gain(np.arange(max_grade + 1)))
    offsets, ideal = graded.certain_ideal
    above = dcg(ideal, offsets, k, gain) - _capped(reach, k) @ steps
    for first in range(0, graded.n_queries, rows):
        block = slice(first, first + rows)
        brought = _brought(holes, hole_positions, first, min(first + rows, graded.n_queries), k)
        values[block] = _dinkelbach(found[block], above[block], brought, reach[block], steps, k)
    return values


def _holes(graded: Graded, k: int) -> tuple[Ints, Ints]:
    """Query and 0-based position of every unjudged item among the first k."""
    index, offsets = head(graded.offsets, k)
    unjudged = graded.open[index]
    return owners(offsets)[unjudged], positions(offsets)[unjudged]


def _reach(graded: Graded, k: int, max_grade: int) -> Ints:
    """How many items of the ideal reach each grade 1..max_grade, at most k: [Q, max_grade]."""
    offsets, ideal = graded.certain_ideal
    owner = owners(offsets)
    levels = [
        np.bincount(owner[ideal >= grade], minlength=graded.n_queries) for grade in range(1, max_grade + 1)
    ]
    return np.minimum(np.stack(levels, axis=1), k)


def _cumulative_discount(k: int) -> Floats:
    """``C[n]``: the sum of the first n discounts, 0..k."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, k + 2)))])


def _capped(reach: Ints, k: int) -> Floats:
    return np.asarray(_cumulative_discount(k)[reach], dtype=np.float64)


def _brought(holes: Ints, hole_positions: Ints, first: int, last: int, k: int) -> Floats:
    """The yield of the first m holes of a ranking per unit of gain: [rows, k + 1]; -inf past the last."""
    inside = slice(*np.searchsorted(holes, [first, last]))
    row = holes[inside] - first
    offsets = np.searchsorted(row, np.arange(last - first + 1)).astype(np.int64)
    nth = running_count(np.ones(len(row), dtype=np.bool_), offsets)
    table = np.full((last - first, k + 1), -np.inf)
    table[:, 0] = 0.0
    table[row, nth] = 1.0 / np.log2(hole_positions[inside] + 2.0)
    return np.cumsum(table, axis=1)


def _dinkelbach(found: Floats, above: Floats, brought: Floats, reach: Ints, steps: Floats, k: int) -> Floats:
    """Maximise ``(found + brought) / ideal`` for every row; 0 if nothing is found or could be."""
    count = np.arange(k + 1)
    ideal = _cumulative_discount(k)[np.minimum(reach[:, :, None] + count, k)]
    ratio = np.zeros(len(found))
    while True:
        choice = (brought[:, None, :] - ratio[:, None, None] * ideal).argmax(axis=2)
        gained = np.take_along_axis(brought, choice, axis=1) @ steps
        best = np.take_along_axis(ideal, choice[:, :, None], axis=2)[:, :, 0] @ steps + above
        total = found + gained
        higher = np.divide(total, best, out=np.zeros_like(found), where=best > 0)
        if not (higher > ratio + 1e-15).any():
            return np.minimum(ratio, 1.0)
        ratio = np.maximum(ratio, higher)
