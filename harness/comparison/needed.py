"""How many queries, on how many documents, would show a difference that matters.

A mean difference varies by documents and by queries within them: its variance is A / G + W / N for N queries
on G documents of one size. More queries on the same documents make only the second part smaller. Both parts
are estimated from the queries at hand, and A from few documents only: the chance to see the difference is
therefore averaged over how large the variance may be in truth. On the same documents that is not enough: a
number can be stated only where documents seem alike, and where they seem so by chance it is too low. So it
has to suffice even where A is as large as it may well be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.comparison.stats import Units, student_quantile
from harness.measures import Floats

MOST_QUERIES = 1_000_000
POWER = 0.8
# On the documents at hand a count beyond so many times the other one rests on the last digits of an estimate.
MOST_TIMES = 10
# How sure it is that A is no larger than what queries on the documents at hand are counted by.
SURE = 0.9
# points of the distributions of variances in truth, and of errors in the next study, that are averaged over
_POINTS, _ERRORS = 99, 25


@dataclass(frozen=True, slots=True)
class Needed:
    """Queries in all that show a ``difference`` in 4 of 5 studies, and bounds of that number.

    ``clusters`` is on how many documents, or other clusters, they have to be: about as many each as now; 0
    where queries are tested one by one. ``same`` is how many queries on the present clusters alone show it,
    even where these differ as much as they may (``SURE``); None where no number does, or each query is tested
    for itself.
    """

    difference: float
    queries: int
    low: int
    high: int | None
    clusters: int = 0
    same: int | None = None


def needed_for(
    difference: float, row: Floats, error: float, critical: float, units: Units, level: float = 0.95
) -> Needed | None:
    """The queries that show a true ``difference`` in 4 of 5 studies, where documents grow with them or not.

    ``row`` [Q] are the differences of the queries at hand, ``error`` the standard error of their mean. A
    difference is seen where it is ``critical`` standard errors from 0; with more units that falls as the
    quantile of Student's t at ``level`` does. The difference is one that matters, not the one that was
    observed: the largest of many is likely larger than the truth. The bounds are those of a variance.

    None if nothing differs at all or more than a million queries would be needed. The upper bound is None
    if it is above that.
    """
    n, worth = len(row), units.effective
    if error <= 0 or worth < 2:
        return None
    clustered = units.kind == "clusters"
    freedom = _freedom(row, units)
    reach = _Reach(difference, critical, worth, freedom, level)
    # Queries of one cluster are not less alike than others. An error that is raised to what they give before
    # it is varied would count that twice.
    estimate = _error_between(row, units) if clustered else error
    within = _within(row, units) if clustered else 0.0

    def variances(tails: Floats) -> Floats:
        return np.maximum(_variances(estimate, freedom, tails), within / n)

    def growing(tails: Floats) -> int | None:
        likely = variances(tails)
        return _fewest(lambda queries: reach.chance(likely * n / queries, queries / n))

    def staying(tails: Floats, most: int) -> int | None:
        between = variances(tails) - within / n
        return _fewest(lambda count: reach.chance(between + within / count, 1.0, within / count), most)

    every = (np.arange(_POINTS) + 0.5) / _POINTS
    queries = growing(every)
    if queries is None:
        return None
    low, high = (growing(np.array([tail])) for tail in (0.025, 0.975))
    if not clustered:
        return Needed(difference, queries, low or queries, high)
    most = MOST_TIMES * queries
    counts = staying(every, most), staying(np.array([SURE]), most)
    same = None if None in counts else max(count for count in counts if count is not None)
    return Needed(difference, queries, low or queries, high, math.ceil(queries * units.clusters / n), same)


@dataclass(frozen=True, slots=True)
class _Reach:
    """How far from 0 a mean has to be, now and with more units."""

    difference: float
    critical: float
    worth: float
    freedom: float
    level: float

    def chance(self, variances: Floats, times: float, least: float = 0.0) -> float:
        """That the difference is seen with so many ``times`` the units, averaged over ``variances``.

        The error that is estimated in the next study varies too, which takes from the power (noncentral t;
        Johnson and Welch, Biometrika 1940), and its square is not below ``least``.
        """
        from scipy.special import chdtri, ndtr

        tail = (1 + self.level) / 2
        t = student_quantile(tail, max(self.worth * times - 1, 1.0)) / student_quantile(tail, self.worth - 1)
        freedom = self.freedom * times
        squares = chdtri(freedom, (np.arange(_ERRORS) + 0.5) / _ERRORS) / freedom
        errors = np.sqrt(np.maximum(variances[:, None] * squares, least))
        seen = ndtr((self.difference - self.critical * t * errors) / np.sqrt(variances)[:, None])
        return float(seen.mean())


def _freedom(row: Floats, units: Units) -> float:
    """How many degrees of freedom the variance between units has, fewer where a few units hold most of it.

    2 G / (kurtosis - 1) for G units (O'Neill, The American Statistician 2014), and not more than what they
    are worth less one.
    """
    left = units.residuals(units.shares(row[None, :]))[0]
    square = float((left**2).mean())
    excess = float((left**4).mean()) - square**2
    most = units.effective - 1
    return most if excess <= 0 else min(most, 2 * len(left) * square**2 / excess)


def _error_between(row: Floats, units: Units) -> float:
    """The standard error of the mean by the spread of units alone (jackknife)."""
    left = units.residuals(units.shares(row[None, :]))[0]
    count = units.count
    return math.sqrt(float((left**2).sum()) * (count - 1) / count) / count


def _variances(error: float, freedom: float, tails: Floats) -> Floats:
    """The variances of the mean that are larger than the true one with these probabilities (chi-square)."""
    from scipy.special import chdtri

    variances: Floats = error**2 * freedom / chdtri(freedom, tails)
    return variances


def _fewest(chance: Callable[[int], float], most: int = MOST_QUERIES) -> int | None:
    """The fewest queries that have the power; None if not even the ``most`` have it."""
    if chance(most) < POWER:
        return None
    few, many = 2, most
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if chance(middle) >= POWER else (middle + 1, many)
    return few


def _within(row: Floats, units: Units) -> float:
    """The variance of the queries of one cluster."""
    means = np.bincount(units.of, weights=row) / units.sizes
    freedom = len(row) - units.count
    return float(((row - means[units.of]) ** 2).sum()) / freedom if freedom else 0.0
