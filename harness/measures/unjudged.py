"""NDCG if what is unjudged were judged: the most that it could be, and what to expect."""

from __future__ import annotations

import numpy as np

from harness.measures.ragged import Floats, Ints, head, owners, positions, share_of, sorted_descending
from harness.measures.ranked import Gain, Graded, dcg
from harness.measures.text_ndcg import paid_up_to
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
    index, heads = head(graded.offsets, k)
    unjudged = graded.open[index]
    holes, hole_positions = owners(heads)[unjudged], positions(heads)[unjudged]
    achieved = dcg(graded.earned, graded.offsets, k, gain)
    reach = _reach(graded, k, max_grade)
    steps = np.diff(gain(np.arange(max_grade + 1)))
    above = dcg(*graded.certain, k, gain) - paid_up_to(k, 1)[reach] @ steps
    for first in range(0, graded.n_queries, rows):
        block = slice(first, first + rows)
        brought = _brought(holes, hole_positions, first, min(first + rows, graded.n_queries), k)
        values[block] = _dinkelbach(achieved[block], above[block], brought, reach[block], steps, k)
    return values


def _reach(graded: Graded, k: int, max_grade: int) -> Ints:
    """How many items of the ideal reach each grade 1..max_grade, at most k: [Q, max_grade]."""
    ideal, offsets = graded.certain
    owner = owners(offsets)
    levels = [
        np.bincount(owner[ideal >= grade], minlength=graded.n_queries) for grade in range(1, max_grade + 1)
    ]
    return np.minimum(np.stack(levels, axis=1), k)


def _brought(holes: Ints, hole_positions: Ints, first: int, last: int, k: int) -> Floats:
    """The yield of the first m holes of a ranking per unit of gain: [rows, k + 1]; -inf past the last."""
    inside = slice(*np.searchsorted(holes, [first, last]))
    row = holes[inside] - first
    offsets = np.searchsorted(row, np.arange(last - first + 1)).astype(np.int64)
    table = np.full((last - first, k + 1), -np.inf)
    table[:, 0] = 0.0
    table[row, positions(offsets) + 1] = 1.0 / np.log2(hole_positions[inside] + 2.0)
    return np.cumsum(table, axis=1)


def _dinkelbach(
    achieved: Floats, above: Floats, brought: Floats, reach: Ints, steps: Floats, k: int
) -> Floats:
    """Maximise ``(found + brought) / ideal`` for every row; 0 if nothing is found or could be."""
    count = np.arange(k + 1)
    ideal = paid_up_to(k, 1)[np.minimum(reach[:, :, None] + count, k)]
    ratio = np.zeros(len(achieved))
    while True:
        choice = (brought[:, None, :] - ratio[:, None, None] * ideal).argmax(axis=2)
        gained = np.take_along_axis(brought, choice, axis=1) @ steps
        best = np.take_along_axis(ideal, choice[:, :, None], axis=2)[:, :, 0] @ steps + above
        total = achieved + gained
        higher = share_of(total, best)
        if not (higher > ratio + 1e-15).any():
            return np.minimum(ratio, 1.0)
        ratio = np.maximum(ratio, higher)


_DRAWS = 50
_SEED = 7
# The fewest judged items for a distribution; if a rank has fewer, its neighbours are included.
_FEWEST = 30


def ndcg_expected(graded: Graded, k: int, gain: Gain, draws: int = _DRAWS) -> Floats:
    """The mean NDCG@k over ``draws`` in which every unjudged item earns as much as a judged one at its rank.

    **Assumption: within a rank, what is unjudged is like what is judged.** A pool that a judge grades to a
    depth comes close to it; labels that people wrote for the answers alone do not, and the value is then too
    high. ``ndcg`` takes every unjudged item for irrelevant, ``ndcg_upper`` for what would raise the value
    most; this is an estimate in between, based on data. What is drawn adds to the ideal too, each item as
    evidence of its own. Draws have a fixed seed, so the value is the same in every run. NaN if an item is
    unjudged and nothing is judged anywhere. The idea of infNDCG (Yilmaz, Kanoulas and Aslam, SIGIR 2008),
    with the rank as stratum.
    """
    index, offsets = head(graded.offsets, k)
    earned, unknown, rank = graded.earned[index], graded.open[index], positions(offsets)
    inside, ideal_offsets = head(graded.ideal[1], k)
    ideal, owner_of_ideal = graded.ideal[0][inside], owners(ideal_offsets)
    owner_of_unknown = owners(offsets)[unknown]
    total = np.zeros(graded.n_queries)
    if not unknown.any():
        return share_of(dcg(earned, offsets, k, gain), dcg(*graded.ideal, k, gain))
    if unknown.all():
        total[owner_of_unknown] = np.nan
        return total
    below = _shares_below(earned[~unknown], rank[~unknown], k)[rank[unknown]]
    random = np.random.default_rng(_SEED)
    for _ in range(draws):
        guess = earned.copy()
        drawn = (random.random(len(below))[:, None] >= below).sum(axis=1)
        guess[unknown] = np.maximum(guess[unknown], drawn)
        grades = np.concatenate([ideal, drawn])
        best, best_offsets = sorted_descending(
            grades, np.concatenate([owner_of_ideal, owner_of_unknown]), graded.n_queries
        )
        achieved, most = dcg(guess, offsets, k, gain), dcg(best, best_offsets, k, gain)
        total += share_of(achieved, most)
    return total / draws


def _shares_below(earned: Ints, rank: Ints, k: int) -> Floats:
    """``shares[r, g]``: the share of the judged items about rank r that earn g or less, [k, grades - 1]."""
    grades = int(earned.max(initial=0)) + 1
    counts = np.zeros((k, grades))
    np.add.at(counts, (rank, earned), 1.0)
    rows = []
    for place in range(k):
        reach = 0
        while (near := counts[max(0, place - reach) : place + reach + 1].sum(axis=0)).sum() < _FEWEST:
            if reach >= k:
                break
            reach += 1
        rows.append(np.cumsum(near)[:-1] / near.sum())
    return np.array(rows).reshape(k, grades - 1)
