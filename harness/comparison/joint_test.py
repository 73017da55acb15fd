"""The one rule for real differences: a joint test of all comparisons, and its intervals.

A difference is real where its interval excludes 0, and then alone its p-value is at most the level. Both come
from one critical value: the largest lead that any of the comparisons would have by chance, found by flipping
the signs of whole units (queries or clusters) in all of them together. docs/calibration.md has the
simulations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.comparison import stats
from harness.measures import Bools, Floats, Ints


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

    The statistic of a pair is t by the jackknife over units, drawn into -1 to 1 (see ``leads``). The largest
    of all pairs under joint flips (Westfall and Young 1993, single step, so that intervals exist) gives the
    critical value; it is never below Student's. Bounds reach on either side as far as the wider of Student's
    and Hall's skewness-corrected t with that value, and as far beyond 0 on the short side as on the long one
    (see ``bounds_of_differences``). Under equality and symmetry the test is exact, whatever
    the distribution of one pair and the sizes of the units.
    """
    first, second = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    difference, error, skew, alike = differences(values, first, second, units)
    guarded = _guarded(difference, error, skew, units.count)
    largest, complete = _largest(values, first, second, units, resamples, seed)
    p = np.maximum(
        _reached(largest, _on_scale(guarded, units.count), complete),
        stats.student_tail(guarded, units.effective - 1),
    )
    p[alike] = 1.0
    critical = critical_of(largest, complete, 1 - level, units, len(pairs))
    low, high = stats.bounds_of_differences(difference, error, skew, critical)
    # a test with little power, because of few units, must not be shown next to a narrow interval
    open_ = p > 1 - level
    low[open_], high[open_] = np.minimum(low[open_], 0.0), np.maximum(high[open_], 0.0)
    return Decided(difference, low, high, error, p, critical)


def differences(
    values: Floats, first: Ints, second: Ints, units: stats.Units
) -> tuple[Floats, Floats, Floats, Bools]:
    """Mean, standard error and skewness of pairs of rows [S, Q], and which pairs do not differ at all."""
    count = len(first)
    difference, error, skew, root = (np.empty(count) for _ in range(4))
    size = max(1, stats.CACHE_CELLS // values.shape[1])
    for begin in range(0, count, size):
        part = slice(begin, begin + size)
        rows = values[first[part]] - values[second[part]]
        difference[part], error[part], skew[part] = moments(rows, units)
        root[part] = np.sqrt(np.einsum("pq,pq->p", rows, rows) / rows.shape[1])
    return difference, error, skew, root <= stats.ROUNDING


def bound_below(
    row: Floats, against: float, units: stats.Units, tail: float, resamples: int, seed: int
) -> tuple[float | None, float]:
    """The one-sided lower bound of the mean of ``row`` [Q], and the p-value of its being ``against`` or less.

    The p-value is at most ``tail`` where the bound is above ``against``, and nowhere else, up to rounding.
    Units so few that no data could give a p-value as small as that do not bound the mean: the bound is None.
    """
    bounded = _least_p(units, resamples) <= tail
    rows = (row - against)[None, :]
    if np.sqrt((rows**2).mean()) <= stats.ROUNDING:
        return against if bounded else None, 1.0
    mean, error, skew = moments(rows, units)
    guarded = np.where(mean > 0, _guarded(mean, error, skew, units.count), 0.0)
    # against a row of zeros the difference is the row itself
    pair = np.vstack([rows, np.zeros_like(rows)])
    ahead, complete = leads(pair, np.array([0]), np.array([1]), units, resamples, seed)
    flipped = np.sort(np.concatenate([part[0] for part in ahead]))
    p = 1.0
    if mean[0] > 0:
        reached = _reached(flipped, _on_scale(guarded, units.count), complete)
        p = float(max(reached[0], stats.student_tail(guarded, units.effective - 1)[0] / 2))
    if not bounded:
        return None, p
    critical = critical_of(flipped, complete, tail, units, 1, sides=1)
    low = float(stats.bounds_at(mean, error, skew, critical)[0][0])
    return against + (min(low, 0.0) if p > tail else low), p


def _least_p(units: stats.Units, resamples: int) -> float:
    """The least one-sided p-value that flips of so many units can give: that of the data alone."""
    _, patterns, complete = stats.sign_flips(units.count, resamples, seed=0)
    return 1 / (patterns if complete else patterns + 1)


def moments(rows: Floats, units: stats.Units) -> tuple[Floats, Floats, Floats]:
    """Mean, standard error and skewness over √G of the units of every row of queries [P, Q].

    The error by clusters is not below that of single queries. Queries on one document are not less alike than
    those of several, so where documents agree by more than their queries would let them, that is chance; few
    documents often do so, and of coarse scores to the letter.
    """
    shares = units.shares(rows)
    mean = shares.mean(axis=1)
    left = units.residuals(shares)
    groups = shares.shape[1]
    square = np.einsum("pg,pg->p", left, left)
    some = np.sqrt(square / groups) > stats.ROUNDING
    # of units of one size this is the standard error of Student
    error = np.where(some, np.sqrt(square * (groups - 1) / groups) / groups, 0.0)
    cube = np.einsum("pg,pg->p", left * left, left)
    skew = np.divide(cube, square**1.5, out=np.zeros(len(rows)), where=some)
    if units.kind == "clusters":
        error = np.maximum(error, _error_of_queries(rows))
    return mean, error, skew


def _error_of_queries(rows: Floats) -> Floats:
    """The standard error of the mean of every row [P, Q] of queries that are not alike."""
    spread = rows.std(axis=1)
    error: Floats = np.where(spread > stats.ROUNDING, spread, 0.0) / np.sqrt(max(rows.shape[1] - 1, 1))
    return error


def _guarded(mean: Floats, error: Floats, skew: Floats, count: int) -> Floats:
    """How far 0 is from the mean, by Student's or Hall's t, whichever is nearer, as ``bounds_at`` reaches.

    Infinite for a difference without any spread.
    """
    side = np.sign(mean)
    t = np.divide(np.abs(mean), error, out=np.full(len(mean), np.inf), where=error > 0)
    t = np.where((error == 0) & (np.abs(mean) <= stats.ROUNDING), 0.0, t)
    finite = np.isfinite(t)
    hall = np.where(finite, side * stats.hall_statistic(np.where(finite, side * t, 0.0), skew), np.inf)
    if count < 2:
        return np.zeros(len(mean))
    return np.maximum(np.minimum(t, hall), t / stats.REACH)


def _on_scale(t: Floats, count: int) -> Floats:
    """Student's t of ``count`` units as the mean over the root mean square; 1 for an infinite t."""
    with np.errstate(invalid="ignore"):
        scaled = t / np.sqrt(t**2 + count - 1)
    return np.where(np.isinf(t), 1.0, scaled)


def _largest(
    values: Floats, first: Ints, second: Ints, units: stats.Units, resamples: int, seed: int
) -> tuple[Floats, bool]:
    """The largest statistic of all pairs under each flip, sorted; and whether these are all flips."""
    # a lead of either sign counts, so a pattern and the opposite one say the same
    ahead, complete = leads(values, first, second, units, resamples, seed, mirrored=False)
    return np.sort(np.concatenate([np.abs(part).max(axis=0) for part in ahead])), complete


def leads(
    values: Floats,
    first: Ints,
    second: Ints,
    units: stats.Units,
    resamples: int,
    seed: int,
    *,
    mirrored: bool = True,
) -> tuple[Iterator[Floats], bool]:
    """The statistics of pairs of rows [S, Q] under joint flips of the signs of units, [P, flips] in parts.

    Each is t / √(t² + G - 1), where t has the error of ``moments``. Also whether these are all flips.
    """
    blocks, _, complete = stats.sign_flips(units.count, resamples, seed, mirrored)
    if units.kind == "clusters":
        return _leads_of_clusters(values, first, second, units, blocks), complete
    return _leads_of_queries(values, first, second, blocks), complete


def _leads_of_queries(
    values: Floats, first: Ints, second: Ints, blocks: Iterator[Floats]
) -> Iterator[Floats]:
    """Where queries are the units this is the mean over the root mean square, which no flip changes."""
    root = np.sqrt(_squares(values, first, second, np.ones(values.shape[1])))
    root[root <= stats.ROUNDING] = np.inf
    for means in _columns_of(values, blocks, len(first)):
        ahead = means[first] - means[second]
        ahead /= root[:, None]
        yield ahead


def _leads_of_clusters(
    values: Floats, first: Ints, second: Ints, units: stats.Units, blocks: Iterator[Floats]
) -> Iterator[Floats]:
    """Where clusters are the units this is their mean over a root that flips change.

    With the units x of a pair, of leverage h (the share of the queries), M their mean and C the mean of
    x h / (1 - h)², the root is that of a - b M C + c M² by the jackknife, and of d + e M² by single queries,
    with factors that no flip changes; all that is flipped is linear in the settings. The larger root counts.
    """
    count, leverages, shares = units.count, units.leverages, units.shares(values)
    weights = 1 / (1 - leverages) ** 2
    squares = _squares(shares, first, second, weights * ((count - 1) / count) ** 2)[:, None]
    fewer = (count - 1) / (values.shape[1] - 1)
    of_queries = fewer * _squares(values, first, second, np.ones(values.shape[1]))[:, None]
    squares[of_queries <= fewer * stats.ROUNDING**2] = np.inf
    twice = 2 * (count - 1) ** 2 / count
    square = 1 + twice / 2 * float((leverages**2 * weights).sum())
    rows = np.vstack([shares, shares * leverages * weights])
    for flipped in _columns_of(rows, blocks, len(first)):
        means, pulls = np.split(flipped, 2)
        ahead = means[first] - means[second]
        slopes = square * means - twice * pulls
        spread = slopes[first] - slopes[second]
        spread *= ahead
        spread += squares
        least = ahead * ahead
        least *= 1 - fewer
        least += of_queries
        ahead /= np.sqrt(np.maximum(spread, least, out=spread), out=spread)
        yield ahead


def _columns_of(rows: Floats, blocks: Iterator[Floats], pairs: int) -> Iterator[Floats]:
    """Flipped means of rows, [rows, flips], so many flips at once that those of all pairs fit the cache."""
    columns = max(1, stats.CACHE_CELLS // pairs)
    for block in blocks:
        flipped = np.ascontiguousarray(stats.flipped_means(rows, block).T)
        for begin in range(0, flipped.shape[1], columns):
            yield flipped[:, begin : begin + columns]


def _squares(shares: Floats, first: Ints, second: Ints, weights: Floats) -> Floats:
    """The weighted mean squares of the differences of pairs of rows, [P]."""
    squares = np.empty(len(first))
    size = max(1, stats.CACHE_CELLS // shares.shape[1])
    for begin in range(0, len(first), size):
        part = slice(begin, begin + size)
        rows = shares[first[part]] - shares[second[part]]
        squares[part] = np.einsum("pg,pg,g->p", rows, rows, weights) / rows.shape[1]
    return squares


def _reached(ordered: Floats, statistic: Floats, complete: bool) -> Floats:
    """The share of flips that reach each statistic; random ones may lack the data, so these count too."""
    extra = 0 if complete else 1
    reached = len(ordered) - np.searchsorted(ordered, statistic - stats.ROUNDING)
    share: Floats = (reached + extra) / (len(ordered) + extra)
    return share


def critical_of(
    ordered: Floats, complete: bool, alpha: float, units: stats.Units, comparisons: int, sides: int = 2
) -> float:
    """The t that must be passed to be rarer than ``alpha`` among the flips, and not less than Student's.

    If there are too few flips for that, it is Student's for so many ``comparisons`` (Bonferroni), and no
    difference is called real.
    """
    count = units.count
    if count < 2:
        return float("inf")
    freedom = units.effective - 1
    common = ordered[_reached(ordered, ordered, complete) > alpha]
    most = max(float(common[-1]), 0.0) if len(common) else 0.0
    if most >= 1 - stats.ROUNDING:
        return stats.student_quantile(1 - alpha / sides / comparisons, freedom)
    student = stats.student_quantile(1 - alpha / sides, freedom)
    return float(max(student, most * np.sqrt(count - 1) / np.sqrt(1 - most**2)))
