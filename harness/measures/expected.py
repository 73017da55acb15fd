"""The NDCG to expect if unjudged items are like the judged ones at their rank."""

from __future__ import annotations

import numpy as np

from harness.measures.graded import Graded
from harness.measures.ndcg import Gain, dcg
from harness.measures.ragged import Floats, Ints, head, owners, positions, sorted_descending

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
    inside, _ = head(graded.ideal_offsets, k)
    ideal, owner_of_ideal = graded.ideal[inside], owners(graded.ideal_offsets)[inside]
    owner_of_unknown = owners(offsets)[unknown]
    if unknown.any() and unknown.all():
        return _nothing_known(graded, owner_of_unknown)
    below = _shares_below(earned[~unknown], rank[~unknown], k)[rank[unknown]] if unknown.any() else None
    random = np.random.default_rng(_SEED)
    total = np.zeros(graded.n_queries)
    for _ in range(draws if below is not None else 1):
        guess = earned.copy()
        drawn = np.zeros(0, dtype=np.int64)
        if below is not None:
            drawn = (random.random(len(below))[:, None] >= below).sum(axis=1)
            guess[unknown] = np.maximum(guess[unknown], drawn)
        grades = np.concatenate([ideal, drawn])
        best, best_offsets = sorted_descending(
            grades, np.concatenate([owner_of_ideal, owner_of_unknown]), graded.n_queries
        )
        found, most = dcg(guess, offsets, k, gain), dcg(best, best_offsets, k, gain)
        total += np.divide(found, most, out=np.zeros(graded.n_queries), where=most > 0)
    return total / (draws if below is not None else 1)


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


def _nothing_known(graded: Graded, owner_of_unknown: Ints) -> Floats:
    values = np.zeros(graded.n_queries)
    values[owner_of_unknown] = np.nan
    return values
