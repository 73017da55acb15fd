"""Estimates with bounds, the units that are sampled (queries or clusters), and resamples of them.

Which method is right is a matter of calibration: see docs/calibration.md. The rule here is the wider of the
two on either side. With few queries, bootstrap intervals cover less than they claim.

Queries on one document are alike, so tests and intervals go by whole clusters (Cameron and Miller, Journal
of Human Resources 2015). Of fewer than six, or where sizes are so unequal that they are worth fewer, such a
test finds next to nothing, and one by queries is far too sure of new clusters: what it finds is of these
clusters alone.

A mean under flipped signs is linear in the scores, and so is a difference of means: through one matrix
product the flips of all pairs of settings cost no more than those of the settings themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.measures import Floats, Ints

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


# Differences of means below this are rounding, not differences; scores lie between 0 and 1.
ROUNDING = 1e-10

# How many numbers one block of work may hold (32 MB of doubles): memory stays bounded, whatever the size.
BLOCK_CELLS = 4_000_000

# How many numbers fit the processor's cache while several operations pass over them (1 MB of doubles).
CACHE_CELLS = 131_072


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, NaN without data, and its bounds, None if unknown; ``n`` is how many values it is of."""

    value: float = float("nan")
    low: float | None = None
    high: float | None = None
    n: int = 0

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "–"
        if self.low is None or self.high is None:
            return f"{self.value:.3f} [no interval]"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


# How far Hall's bound may reach in a comparison, in critical values. At those of a family it comes near its
# pole, where it is many times wider than any difference in the data (docs/statistics.md).
REACH = 1.5


def guarded_pair(value: float, error: float, skew: float, freedom: float, tail: float) -> tuple[float, float]:
    """On either side the wider of Student's t and Hall's; ``tail`` is left out.

    ``error`` is the standard error of ``value``, ``skew`` the skewness of its sampling distribution (for a
    mean of n values, their skewness over √n), ``freedom`` the degrees of freedom of ``error``. Sources:
    Student, Biometrika 1908; Hall, JRSS B 1992. docs/calibration.md has how well they cover.
    """
    critical = student_quantile(1 - tail, freedom)
    low, high = bounds_at(np.array([value]), np.array([error]), np.array([skew]), critical, np.inf)
    return float(low[0]), float(high[0])


def bounds_at(
    value: Floats, error: Floats, skew: Floats, critical: float | Floats, reach: float = REACH
) -> tuple[Floats, Floats]:
    """The same of many values, out by ``critical`` standard errors and skewness; NaN where that is infinite.

    Seldom differing queries make differences skewed, and with few queries Student's interval then misses the
    mean on the long side. Hall's reaches out on that side, to ``reach`` critical values at most, and gives
    way on the other.
    """
    if not np.isfinite(critical).all():
        return np.full(len(value), np.nan), np.full(len(value), np.nan)
    down, up = _reaches(skew, critical, reach)
    return value - error * down, value + error * up


def bounds_of_differences(
    difference: Floats, error: Floats, skew: Floats, critical: float | Floats
) -> tuple[Floats, Floats]:
    """The bounds of differences: what lies beyond 0 is stretched by the ratio of the long side to the short.

    Queries that seldom differ are skewed to the side on which their mean lies, so that Hall's bound reaches
    far on that side. Of a truth on the other side of 0 they would be skewed the other way. A bound on the
    side of the mean is as in ``bounds_at``, and so is whether the interval holds 0.
    """
    if not np.isfinite(critical).all():
        return np.full(len(difference), np.nan), np.full(len(difference), np.nan)
    down, up = _reaches(skew, critical, REACH)
    long = np.maximum(down, up)
    t = np.divide(difference, error, out=np.zeros_like(difference), where=error > 0)
    # a side that reaches less far than the mean lies from 0 does not go beyond it
    down = np.where((t > 0) & (down > t), t + (down - t) * long / down, down)
    up = np.where((t < 0) & (up > -t), (up + t) * long / up - t, up)
    return difference - error * down, difference + error * up


def _reaches(skew: Floats, critical: float | Floats, reach: float) -> tuple[Floats, Floats]:
    """How many standard errors an interval reaches below and above its value."""
    most = reach * critical
    down = np.minimum(most, np.maximum(critical, inverse_hall(critical, skew)))
    up = np.minimum(most, np.maximum(critical, -inverse_hall(-critical, skew)))
    return down, up


def within(low: Floats, high: Floats, values: Floats, lowest: float) -> tuple[Floats, Floats]:
    """Bounds cut to ``lowest`` and 1 if all ``values`` they rest on are in [0, 1], as measures mostly are.

    Values that no mean can reach are cut off; with few queries t-intervals include them.
    """
    defined = values[~np.isnan(values)]
    if not defined.size or defined.min() < 0 or defined.max() > 1:
        return low, high
    return np.maximum(low, lowest), np.minimum(high, 1.0)


def student_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t with ``freedom`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def student_tail(t: Floats, freedom: float) -> Floats:
    """The two-sided p-value of each t; 1 without a degree of freedom."""
    from scipy.special import stdtr

    return np.ones(len(t)) if freedom < 1 else np.asarray(2 * stdtr(freedom, -np.abs(t)), dtype=np.float64)


def hall_statistic(t: Floats, skew: Floats) -> Floats:
    """Hall's transformation of t, which is monotone; ``skew`` is the skewness over √n."""
    changed: Floats = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
    return changed


def inverse_hall(x: float | Floats, skew: Floats) -> Floats:
    """The t that Hall's transformation maps to x."""
    small = np.abs(skew) < 1e-8
    safe = np.where(small, 1.0, skew)
    curved = 3 / safe * (np.cbrt(1 + safe * (x - safe / 6)) - 1)
    return np.where(small, x, curved)


# The signs of five agree by chance in 1 of 16 studies, so no test at 5 % finds anything; from six on tests by
# clusters hold their level and have power (docs/calibration.md has the simulation). Six are seldom of exactly
# equal size, so they need not be worth six in full; fewer are never worth as much.
FEWEST_CLUSTERS = 6
LEAST_WORTH = 5.5

Kind = Literal["clusters", "few clusters", "queries", "unknown"]


@dataclass(frozen=True, slots=True)
class Units:
    """The units of Q queries: ``of`` [Q] says which unit a query is in, ``sizes`` [G] how many are in each.

    ``kind``: ``clusters`` are the units; there are too ``few clusters``, so queries are the units, and what
    is found holds for more queries on these clusters alone; every query is a cluster of its own
    (``queries``); the clusters are ``unknown``, so queries are the units. ``clusters`` is how many there are,
    0 if unknown; ``effective`` how many units of equal size would be worth as much, n² / Σ size² (Kish 1965).
    Queries without a cluster are units of their own, but no clusters, and do not add to what these are worth.
    """

    kind: Kind
    of: Ints
    sizes: Floats
    clusters: int
    effective: float

    @property
    def count(self) -> int:
        """The number of units, G."""
        return len(self.sizes)

    def shares(self, values: Floats) -> Floats:
        """Rows of query values [S, Q] as rows of units [S, G] with the same means: sums times G / Q."""
        if self.kind != "clusters":
            return values
        member = np.zeros((len(self.of), self.count))
        member[np.arange(len(self.of)), self.of] = self.count / len(self.of)
        shared: Floats = values @ member
        return shared

    @property
    def leverages(self) -> Floats:
        """The share of the queries that is in each unit, [G]: how far it pulls the mean to itself."""
        shares: Floats = self.sizes / self.sizes.sum()
        return shares

    def residuals(self, shares: Floats) -> Floats:
        """``shares`` [P, G] without the mean per query, of the queries that are not in the unit.

        Large units are expected to hold more of the sum, so their size is taken out (the linearised ratio of
        survey sampling; Cochran, Sampling Techniques, 1977, ch. 6). A unit draws the mean of all to itself by
        its leverage, so it is set against the mean without it, which makes the variance that of a jackknife
        (CR3; Bell and McCaffrey, Survey Methodology 2002). Zeros where there is one unit.
        """
        if self.count < 2:
            return np.zeros_like(shares)
        expected = shares.mean(axis=1, keepdims=True) * (self.leverages * self.count)
        left: Floats = (shares - expected) / (1 - self.leverages)
        return left


def units_of(clusters: Sequence[str], n: int) -> Units:
    """The units of n queries; ``clusters`` names each query's, '' for none; empty if unknown."""
    alone = np.arange(n, dtype=np.int64)
    if not any(clusters):
        return Units("unknown", alone, np.ones(n), 0, float(n))
    whole = whole_clusters(clusters)
    few = whole.effective < LEAST_WORTH
    if whole.count == n and not (few and whole.clusters < n):
        return Units("queries", alone, np.ones(n), whole.clusters, float(n))
    if few:
        return Units("few clusters", alone, np.ones(n), whole.clusters, float(n))
    return whole


def whole_clusters(clusters: Sequence[str]) -> Units:
    """The named clusters as units, however few they are."""
    of, counts = _numbered(clusters)
    sizes = counts.astype(np.float64)
    named = sizes[sorted({number for number, name in zip(of, clusters, strict=True) if name})]
    worth = float(named.sum() ** 2 / (named**2).sum())
    return Units("clusters", of, sizes, len(named), worth)


def icc(values: Floats, clusters: Sequence[str]) -> float | None:
    """How alike the values [Q] of one cluster are: the intraclass correlation by analysis of variance.

    The share of the variance that lies between clusters (Donner, International Statistical Review 1986), with
    the size of unequal clusters averaged as there; not above 1, and 0 if clusters differ by no more than
    chance would have them. None if no cluster has two queries, there is only one cluster, or nothing varies
    by more than rounding. Queries without a cluster are left out.
    """
    values = values[[bool(name) for name in clusters]]
    of, counts = _numbered([name for name in clusters if name])
    n, groups = len(values), len(counts)
    if groups < 2 or groups == n or np.ptp(values) <= ROUNDING:
        return None
    means = np.bincount(of, weights=values) / counts
    between = float((counts * (means - values.mean()) ** 2).sum()) / (groups - 1)
    within = float(((values - means[of]) ** 2).sum()) / (n - groups)
    size = (n - float((counts.astype(np.float64) ** 2).sum()) / n) / (groups - 1)
    spread = between + (size - 1) * within
    return max(0.0, min(1.0, (between - within) / spread))


def _numbered(clusters: Sequence[str]) -> tuple[Ints, Ints]:
    """The number of every query's cluster [Q], and how many queries each has [G].

    A query without a cluster is one of its own.
    """
    place: dict[str | int, int] = {}
    of = np.array(
        [place.setdefault(name or i, len(place)) for i, name in enumerate(clusters)], dtype=np.int64
    )
    return of, np.bincount(of).astype(np.int64)


# All sign patterns are listed, instead of drawn, where there are no more than this many.
MOST_PATTERNS = 2**14


def sign_flips(
    n: int, resamples: int, seed: int, mirrored: bool = True
) -> tuple[Iterator[Floats], int, bool]:
    """Patterns of +1 and -1 over n queries, in blocks [rows, n]; their number; whether these are all.

    Few queries: every pattern once, the first being all +1; without ``mirrored`` one of every two that differ
    in the sign of all queries. Otherwise ``resamples`` random ones.
    """
    if n < 1:
        raise ValueError("there is no query to resample")
    if 2**n <= min(MOST_PATTERNS, 4 * resamples):
        count = 2**n if mirrored else 2 ** (n - 1)
        return _all_patterns(n, count), count, True
    return _random_patterns(n, resamples, seed), resamples, False


def flipped_means(values: Floats, flips: Floats) -> Floats:
    """Means after flipping the sign of whole queries, [rows, S], of ``values`` [S, Q].

    In one thread: waiting for others takes longer than these small products, and the last digits would depend
    on the number of cores.
    """
    with _threads().limit(limits=1, user_api="blas"):
        means: Floats = flips @ values.T / values.shape[1]
    return means


@cache
def _threads() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _all_patterns(n: int, count: int) -> Iterator[Floats]:
    # the last half is the first one with all signs changed
    numbers = np.arange(count)
    for first in range(0, len(numbers), 4096):
        yield np.where((numbers[first : first + 4096, None] >> np.arange(n)) & 1, -1.0, 1.0)


def _random_patterns(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    for first, last in blocks_of(resamples, n):
        packed = np.frombuffer(rng.bytes((last - first) * ((n + 7) // 8)), dtype=np.uint8)
        bits = np.unpackbits(packed.reshape(last - first, -1), axis=1, count=n)
        yield np.where(bits, -1.0, 1.0)


def blocks_of(resamples: int, n: int) -> Iterator[tuple[int, int]]:
    """Ranges of resamples whose n numbers each fit into memory."""
    rows = max(1, min(1000, BLOCK_CELLS // n))
    for first in range(0, resamples, rows):
        yield first, min(first + rows, resamples)


def jackknife(statistic: Callable[[Ints], float], groups: np.ndarray, level: float = 0.95) -> Interval:
    """Interval of a coefficient of rows, from leaving out one whole group (query) at a time.

    ``groups`` names the group of each row; ``statistic`` takes an array of row numbers and gives a
    coefficient of at most 1. Pairs of one query are not independent, so whole queries are left out
    (Efron and Tibshirani 1993, ch. 11). The bounds are those of ``guarded_pair``, for the queries are few
    and unequal: with 12 of them percentiles of a bootstrap cover some 90 %
    (benchmarks/agreement_coverage.py has both). On Fisher's z scale, so that bounds stay below 1. No
    bounds with fewer than three groups, where leaving one out leaves the coefficient undefined, and where
    all agree: no spread says nothing about the doubt.
    """
    value = statistic(np.arange(len(groups)))
    names, members = np.unique(groups, return_inverse=True)
    count = len(names)
    if count < 3:
        return Interval(value)
    without = np.array([statistic(np.flatnonzero(members != group)) for group in range(count)])
    if not (np.abs([value, *without]) < 1).all() or np.ptp(without) == 0:
        return Interval(value)
    scaled = np.arctanh(without)
    # A query that pulls the coefficient up leaves it lower when it is out.
    pull = scaled.mean() - scaled
    error = np.sqrt((count - 1) * (pull**2).mean())
    skew = (pull**3).mean() / (pull**2).mean() ** 1.5 / np.sqrt(count)
    ends = guarded_pair(np.arctanh(value), error, skew, count - 1, (1 - level) / 2)
    return Interval(value, *np.tanh(ends).tolist())


def bootstrap(
    statistic: Callable[[Ints], float], n: int, resamples: int, seed: int, level: float = 0.95
) -> Interval:
    """Percentile interval of a statistic of n queries, drawn with replacement (Efron and Tibshirani, ch. 13).

    ``statistic`` takes an array of query numbers. Draws for which it is undefined are left out; no bounds
    when all are.
    """
    rng = np.random.default_rng(seed)
    draws = np.array([statistic(rng.integers(n, size=n)) for _ in range(resamples)])
    defined = draws[~np.isnan(draws)]
    value = statistic(np.arange(n))
    if not defined.size:
        return Interval(value)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high))
