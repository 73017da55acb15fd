"""Resamples of queries: sign flips, jackknife, bootstrap.

A mean under flipped signs is linear in the scores, and so is a difference of means: through one matrix
product the flips of all pairs of settings cost no more than those of the settings themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from harness.comparison.stats.intervals import BLOCK_CELLS, Interval, guarded_pair
from harness.measures import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

# All sign patterns are listed, instead of drawn, where there are no more than this many.
MOST_PATTERNS = 2**14


def sign_flips(n: int, resamples: int, seed: int) -> tuple[Iterator[Floats], int, bool]:
    """Patterns of +1 and -1 over n queries, in blocks [rows, n]; their number; whether these are all.

    Few queries: every pattern once, the first being all +1. Otherwise ``resamples`` random ones.
    """
    if n < 1:
        raise ValueError("there is no query to resample")
    if 2**n <= min(MOST_PATTERNS, 4 * resamples):
        return _all_patterns(n), 2**n, True
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


def _all_patterns(n: int) -> Iterator[Floats]:
    numbers = np.arange(2**n)
    for first in range(0, len(numbers), 4096):
        bits = (numbers[first : first + 4096, None] >> np.arange(n)) & 1
        yield _signs(bits)


def _random_patterns(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    for first, last in blocks_of(resamples, n):
        bits = np.unpackbits(
            np.frombuffer(rng.bytes((last - first) * ((n + 7) // 8)), dtype=np.uint8).reshape(
                last - first, -1
            ),
            axis=1,
            count=n,
        )
        yield _signs(bits)


def _signs(bits: AnyArray) -> Floats:
    return np.where(bits, -1.0, 1.0)


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
