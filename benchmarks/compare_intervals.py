"""Intervals of a mean over queries by several methods, of which the harness uses the first: their coverage.

``compare_calibration`` has the answer. Each interval is that of many rows of paired differences at once.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal

import numpy as np

from harness.comparison.stats import blocks_of, inverse_hall, student_quantile
from harness.measures import Floats

Method = Literal["guarded_t", "t", "percentile", "bca"]
BOOTSTRAP = ("percentile", "bca")
_NORMAL = NormalDist()


def intervals(
    rows: Floats,
    level: float = 0.95,
    method: Method = "guarded_t",
    *,
    resamples: int = 10_000,
    seed: int = 7,
    resampled: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Lower and upper bounds of the mean of every row of ``rows`` [P, Q]: ([P], [P]).

    ``resampled`` [B, P] are bootstrap means of the rows for the methods that need them, where known already.
    NaN for a single query, which bounds nothing. Rows without any spread get their mean twice: the data hold
    no sign of a difference, which is no proof. Raises ValueError for an unknown method or a level outside
    (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    if rows.shape[1] < 2:
        return np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    tail = (1 - level) / 2
    if method == "t":
        return student(rows, tail)
    if method == "guarded_t":
        return guarded(rows, tail)
    if method not in BOOTSTRAP:
        raise ValueError(f"there is no interval method {method!r}; known: guarded_t, t, percentile, bca")
    means = bootstrap_means(rows, resamples, seed) if resampled is None else resampled
    return percentile(means, tail) if method == "percentile" else bca(means, rows, tail)


def guarded(rows: Floats, tail: float) -> tuple[Floats, Floats]:
    """The wider of ``student`` and ``hall`` on either side, each with ``tail`` left out."""
    t_low, t_high = student(rows, tail)
    hall_low, hall_high = hall(rows, tail)
    return np.minimum(t_low, hall_low), np.maximum(t_high, hall_high)


def student(rows: Floats, tail: float) -> tuple[Floats, Floats]:
    """Student's t interval (Biometrika 1908)."""
    mean = rows.mean(axis=1)
    reach = student_quantile(1 - tail, rows.shape[1] - 1) * standard_error(rows)
    return mean - reach, mean + reach


def hall(rows: Floats, tail: float) -> tuple[Floats, Floats]:
    """Hall's interval: t corrected for skewness by a monotone cubic transformation (Hall, JRSS B 1992).

    Seldom differing queries make differences skewed, and with few queries Student's interval then misses the
    mean on the long side. This one reaches out on that side, and gives way on the other.
    """
    n = rows.shape[1]
    mean, error = rows.mean(axis=1), standard_error(rows)
    skew = skewness(rows) / np.sqrt(n)
    x = student_quantile(1 - tail, n - 1)
    return mean - error * inverse_hall(x, skew), mean - error * inverse_hall(-x, skew)


def percentile(means: Floats, tail: float) -> tuple[Floats, Floats]:
    """Percentiles of bootstrap means [B, P] (Efron, Annals of Statistics 1979)."""
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high


def bca(means: Floats, rows: Floats, tail: float) -> tuple[Floats, Floats]:
    """Bias-corrected and accelerated percentiles (Efron, JASA 1987) of bootstrap means [B, P].

    The acceleration of a mean is known in closed form from the jackknife: skewness over 6 √n.
    """
    observed = rows.mean(axis=1)
    below = (means < observed).mean(axis=0) + (means == observed).mean(axis=0) / 2
    bias = _ppf(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means)))
    acceleration = skewness(rows) / (6 * np.sqrt(rows.shape[1]))
    ordered = np.sort(means, axis=0)
    low, high = (
        _quantiles(ordered, _cdf(bias + (bias + z) / (1 - acceleration * (bias + z))))
        for z in (_NORMAL.inv_cdf(tail), _NORMAL.inv_cdf(1 - tail))
    )
    return low, high


def bootstrap_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Means over resampled queries, [resamples, S], of ``values`` [S, Q] (Efron 1979)."""
    n = values.shape[1]
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, len(values)))
    for first, last in blocks_of(resamples, n):
        draws = rng.integers(0, n, size=(last - first, n)) + n * np.arange(last - first)[:, None]
        counts = np.bincount(draws.ravel(), minlength=(last - first) * n).reshape(last - first, n)
        means[first:last] = counts.astype(np.float64) @ values.T / n
    return means


def standard_error(rows: Floats) -> Floats:
    """The standard error of the mean of every row; exactly 0 if all values are equal."""
    same = np.ptp(rows, axis=1) == 0
    return np.where(same, 0.0, rows.std(axis=1, ddof=1) / np.sqrt(rows.shape[1]))


def skewness(rows: Floats) -> Floats:
    """The moment coefficient of skewness of every row; 0 if all values are equal."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    square = (centred**2).mean(axis=1)
    cube = (centred**3).mean(axis=1)
    skew: Floats = np.divide(cube, square**1.5, out=np.zeros(len(rows)), where=np.ptp(rows, axis=1) > 0)
    return skew


def _quantiles(ordered: Floats, share: Floats) -> Floats:
    """The quantile ``share[p]`` of each sorted column p, interpolated."""
    place = share * (len(ordered) - 1)
    below = np.floor(place).astype(np.int64)
    column = np.arange(ordered.shape[1])
    under = ordered[below, column]
    over = ordered[np.minimum(below + 1, len(ordered) - 1), column]
    result: Floats = under + (place - below) * (over - under)
    return result


def _ppf(probability: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(probability), dtype=np.float64)


def _cdf(z: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(z), dtype=np.float64)
