"""The one rule for real differences: a joint test of all comparisons, and its intervals.

A difference is real where its interval excludes 0, and then alone its p-value is at most the level. Both come
from one critical value: the largest lead that any of the comparisons would have by chance, found by flipping
the signs of whole units (queries or clusters) in all of them together. docs/statistics.md has the
simulations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.comparison import stats
from harness.measures import Floats, Ints


@dataclass(frozen=True, slots=True)
class Decided:
    """P comparisons: mean ``difference``, its bounds, standard ``error``, and ``p``, all [P].

    ``p <= 1 - level`` where the interval excludes 0, and nowhere else, up to rounding. ``critical`` is how
    many standard errors the intervals reach, before skewness is allowed for.
    """

    difference: Floats
    low: Floats
    high: Floats
    error: Floats
    p: Floats
    critical: float


def decide(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    units: stats.Units,
    level: float,
    resamples: int,
    seed: int,
) -> Decided:
    """Compare rows of ``values`` [S, Q] in ``pairs``, first minus second, as one family.

    The statistic of a pair is its mean difference over the root mean square of its units, which no flip
    changes and which rises with t. The largest of all pairs under joint flips (Westfall and Young 1993,
    single step, so that intervals exist) gives the critical value; it is never below Student's. Bounds reach
    on either side as far as the wider of Student's and Hall's skewness-corrected t with that value. Under
    equality and symmetry the test is exact, whatever the distribution of one pair.
    """
    shares = units.shares(values)
    first, second = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    count = len(pairs)
    difference, error, skew, root = (np.empty(count) for _ in range(4))
    size = max(1, stats.CACHE_CELLS // shares.shape[1])
    for begin in range(0, count, size):
        part = slice(begin, begin + size)
        rows = shares[first[part]] - shares[second[part]]
        difference[part], error[part], skew[part] = moments(rows, units)
        root[part] = np.sqrt(np.einsum("pg,pg->p", rows, rows) / rows.shape[1])
    alike = root <= stats.ROUNDING
    observed = np.divide(np.abs(difference), root, out=np.zeros(count), where=~alike)
    guarded = _guarded(difference, error, skew, units.count)
    largest, complete = _largest(shares, first, second, root, resamples, seed)
    p = np.maximum(
        _reached(largest, np.minimum(observed, _on_scale(guarded, units.count)), complete),
        stats.student_tail(guarded, units.effective - 1),
    )
    p[alike] = 1.0
    critical = _critical(largest, complete, 1 - level, units)
    low, high = stats.bounds_at(difference, error, skew, critical)
    # a test with little power, because of few units, must not be shown next to a narrow interval
    open_ = p > 1 - level
    low[open_], high[open_] = np.minimum(low[open_], 0.0), np.maximum(high[open_], 0.0)
    return Decided(difference, low, high, error, p, critical)


def bound_below(
    row: Floats, against: float, units: stats.Units, tail: float, resamples: int, seed: int
) -> tuple[float, float]:
    """The one-sided lower bound of the mean of ``row`` [Q], and the p-value of its being ``against`` or less.

    The p-value is at most ``tail`` where the bound is above ``against``, and nowhere else, up to rounding.
    """
    shares = units.shares((row - against)[None, :])
    mean, error, skew = moments(shares, units)
    root = np.sqrt((shares**2).mean(axis=1))
    if root[0] <= stats.ROUNDING:
        return against, 1.0
    guarded = np.where(mean > 0, _guarded(mean, error, skew, units.count), 0.0)
    blocks, _, complete = stats.sign_flips(shares.shape[1], resamples, seed)
    flipped = np.sort(np.concatenate([stats.flipped_means(shares, block)[:, 0] for block in blocks]) / root)
    statistic = min(float(mean[0] / root[0]), float(_on_scale(guarded, units.count)[0]))
    p = 1.0
    if mean[0] > 0:
        reached = _reached(flipped, np.array([statistic]), complete)
        p = float(max(reached[0], stats.student_tail(guarded, units.effective - 1)[0] / 2))
    critical = _critical(flipped, complete, tail, units, sides=1)
    low = float(stats.bounds_at(mean, error, skew, critical)[0][0])
    return against + (min(low, 0.0) if p > tail else low), p


def moments(rows: Floats, units: stats.Units) -> tuple[Floats, Floats, Floats]:
    """Mean, standard error and skewness over √G of every row of units [P, G]."""
    mean = rows.mean(axis=1)
    left = units.residuals(rows)
    groups = rows.shape[1]
    square = np.einsum("pg,pg->p", left, left) / groups
    some = np.sqrt(square) > stats.ROUNDING
    error = np.where(some, np.sqrt(square / max(groups - 1, 1)), 0.0)
    skew = np.divide(
        np.einsum("pg,pg->p", left * left, left) / groups, square**1.5, out=np.zeros(len(rows)), where=some
    )
    return mean, error, skew / np.sqrt(groups)


def _guarded(mean: Floats, error: Floats, skew: Floats, count: int) -> Floats:
    """How far 0 is from the mean, by Student's or Hall's t, whichever is nearer; 0 if Hall's is beyond it.

    Infinite for a difference without any spread.
    """
    side = np.sign(mean)
    t = np.divide(np.abs(mean), error, out=np.full(len(mean), np.inf), where=error > 0)
    t = np.where((error == 0) & (np.abs(mean) <= stats.ROUNDING), 0.0, t)
    finite = np.isfinite(t)
    hall = np.where(finite, side * stats.hall_statistic(np.where(finite, side * t, 0.0), skew), np.inf)
    if count < 2:
        return np.zeros(len(mean))
    return np.maximum(np.minimum(t, hall), 0.0)


def _on_scale(t: Floats, count: int) -> Floats:
    """Student's t of ``count`` units as the mean over the root mean square; 1 for an infinite t."""
    with np.errstate(invalid="ignore"):
        scaled = t / np.sqrt(t**2 + count - 1)
    return np.where(np.isinf(t), 1.0, scaled)


def _largest(
    shares: Floats, first: Ints, second: Ints, root: Floats, resamples: int, seed: int
) -> tuple[Floats, bool]:
    """The largest statistic of all pairs under each flip, sorted; and whether these are all flips."""
    inverse = np.divide(1.0, root, out=np.zeros(len(root)), where=root > stats.ROUNDING)
    blocks, count, complete = stats.sign_flips(shares.shape[1], resamples, seed)
    largest = np.empty(count)
    at = 0
    columns = max(1, stats.CACHE_CELLS // len(first))
    for block in blocks:
        means = np.ascontiguousarray(stats.flipped_means(shares, block).T)
        for begin in range(0, means.shape[1], columns):
            part = means[:, begin : begin + columns]
            ahead = np.abs(part[first] - part[second]) * inverse[:, None]
            largest[at : at + part.shape[1]] = ahead.max(axis=0)
            at += part.shape[1]
    return np.sort(largest), complete


def _reached(ordered: Floats, statistic: Floats, complete: bool) -> Floats:
    """The share of flips that reach each statistic; random ones may lack the data, so these count too."""
    own = 0 if complete else 1
    reached = len(ordered) - np.searchsorted(ordered, statistic - stats.ROUNDING)
    share: Floats = (reached + own) / (len(ordered) + own)
    return share


def _critical(ordered: Floats, complete: bool, alpha: float, units: stats.Units, sides: int = 2) -> float:
    """The t that must be passed to be rarer than ``alpha`` among the flips, and not less than Student's.

    If there are too few flips for that, Student's t is used, and no difference is called real.
    """
    count = units.count
    student = stats.student_quantile(1 - alpha / sides, units.effective - 1) if count > 1 else np.inf
    common = ordered[_reached(ordered, ordered, complete) > alpha]
    most = float(common[-1]) if len(common) else 0.0
    if most >= 1 - stats.ROUNDING:
        return float(student)
    return float(max(student, most * np.sqrt(count - 1) / np.sqrt(1 - most**2)))
