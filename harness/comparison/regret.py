"""What each setting may lose to any other at most: multiple comparisons with the best, one-sided.

Hsu (Annals of Statistics 1981; Multiple Comparisons, 1996, ch. 4): each setting is taken for the best in
turn, and only its leads over the others are bounded at once, from above. Whichever is the best, all its leads
are then within their bounds with the confidence asked for, so no setting loses more than the largest of its
bounds, whichever is chosen. That takes one critical value for S - 1 comparisons in one direction, where the
intervals of all pairs take one for S (S - 1) / 2 in two. Units, statistic and flips are those of the joint
test.
"""

from __future__ import annotations

import numpy as np

from harness.comparison import stats
from harness.comparison.joint_test import critical_of, differences, leads
from harness.measures import Bools, Floats, Ints

# A quantile of so many flips is known as well as a bound of two digits needs it.
MOST_FLIPS = 2_000


def losses(
    values: Floats, compared: Bools, units: stats.Units, level: float, resamples: int, seed: int
) -> Floats:
    """At most how much the mean of each row of ``values`` [S, Q] is below that of any other, [S], 0 or more.

    ``compared`` [S, S] says which rows can be compared, the same both ways; NaN for a row that is compared
    with none, and where there is a single unit.
    """
    bounds = np.full(len(values), np.nan)
    compares = compared.any(axis=1)
    if not compares.any():
        return bounds
    leads_over = upper_leads(values, compared, units, 1 - level, resamples, seed)
    # NaN: a single unit bounds nothing
    bounds[compares] = np.maximum(np.where(compared, leads_over, 0.0).max(axis=0), 0.0)[compares]
    return stats.within(bounds, bounds, values, 0.0)[1]


def upper_leads(
    values: Floats,
    compared: Bools,
    units: stats.Units,
    alpha: float,
    resamples: int,
    seed: int,
    least: Floats | None = None,
) -> Floats:
    """At most how far each row of ``values`` [S, Q] leads each other one, [S, S]; NaN if not ``compared``.

    With the confidence 1 - ``alpha`` all leads of the best row are within these bounds at once, whichever it
    is. ``least`` [S] are critical values that are not undercut, such as those of a larger family.
    """
    first, second = (side.astype(np.int64) for side in np.nonzero(np.triu(compared, 1)))
    bounds = np.full(compared.shape, np.nan)
    if not len(first):
        return bounds
    critical = criticals(values, compared, units, alpha, resamples, seed)
    critical = critical if least is None else np.maximum(critical, least)
    difference, error, skew, _ = differences(values, first, second, units)
    # how far the first leads if it is the best, and the second likewise
    _, ahead = stats.bounds_at(difference, error, skew, critical[first])
    behind, _ = stats.bounds_at(difference, error, skew, critical[second])
    bounds[first, second] = ahead
    bounds[second, first] = -behind
    return bounds


def criticals(
    values: Floats, compared: Bools, units: stats.Units, alpha: float, resamples: int, seed: int
) -> Floats:
    """How many standard errors the leads of each row of ``values``, taken for the best, are bounded by, [S].

    0 for a row that is compared with none.
    """
    first, second = (side.astype(np.int64) for side in np.nonzero(np.triu(compared, 1)))
    if not len(first):
        return np.zeros(len(values))
    return _critical_of_each(values, first, second, units, alpha, min(resamples, MOST_FLIPS), seed)


def _critical_of_each(
    values: Floats, first: Ints, second: Ints, units: stats.Units, alpha: float, resamples: int, seed: int
) -> Floats:
    """The t that the leads of each setting, taken for the best, must pass to be rarer than ``alpha``, [S]."""
    ahead, complete = leads(values, first, second, units, resamples, seed)
    largest = []
    for part in ahead:
        of_each = np.full((len(values), part.shape[1]), -1.0)
        # pairs come in the order of their first row
        starts = np.flatnonzero(np.diff(first, prepend=-1))
        of_each[first[starts]] = np.maximum.reduceat(part, starts, axis=0)
        for begin, end in zip(starts, [*starts[1:], len(first)], strict=True):
            rows = second[begin:end]
            of_each[rows] = np.maximum(of_each[rows], -part[begin:end])
        largest.append(of_each)
    ordered = np.sort(np.concatenate(largest, axis=1), axis=1)
    others = max(len(values) - 1, 1)
    return np.array([critical_of(row, complete, alpha, units, others, sides=1) for row in ordered])
