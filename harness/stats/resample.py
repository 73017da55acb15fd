"""Resamples of queries, drawn in blocks and shared by all settings through one matrix product.

A mean over resampled queries is linear in the scores, so is a difference of means: the resamples of all pairs
of settings cost no more than those of the settings themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.stats.arrays import BLOCK_CELLS, AnyInts, Floats

# All sign patterns are listed, instead of drawn, where there are no more than this many.
MOST_PATTERNS = 2**14


def bootstrap_means(values: Floats, resamples: int, seed: int) -> Floats:
    """Means over resampled queries, [resamples, S], of ``values`` [S, Q] (Efron, Annals of Statistics 1979).

    Every setting is resampled with the same queries, so differences of columns are paired.
    """
    n = _queries(values)
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, len(values)))
    for first, last in _blocks(resamples, n):
        draws = rng.integers(0, n, size=(last - first, n)) + n * np.arange(last - first)[:, None]
        counts = np.bincount(draws.ravel(), minlength=(last - first) * n).reshape(last - first, n)
        means[first:last] = counts.astype(np.float64) @ values.T / n
    return means


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
    """Means after flipping the sign of whole queries, [rows, S], of ``values`` [S, Q]."""
    return flips @ values.T / _queries(values)


def _all_patterns(n: int) -> Iterator[Floats]:
    numbers = np.arange(2**n)
    for first in range(0, len(numbers), 4096):
        bits = (numbers[first : first + 4096, None] >> np.arange(n)) & 1
        yield _signs(bits)


def _random_patterns(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    rng = np.random.default_rng(seed)
    for first, last in _blocks(resamples, n):
        bits = np.unpackbits(
            np.frombuffer(rng.bytes((last - first) * ((n + 7) // 8)), dtype=np.uint8).reshape(
                last - first, -1
            ),
            axis=1,
            count=n,
        )
        yield _signs(bits)


def _signs(bits: AnyInts) -> Floats:
    return np.where(bits, -1.0, 1.0)


def _blocks(resamples: int, n: int) -> Iterator[tuple[int, int]]:
    rows = max(1, min(1000, BLOCK_CELLS // n))
    for first in range(0, resamples, rows):
        yield first, min(first + rows, resamples)


def _queries(values: Floats) -> int:
    if values.ndim != 2 or values.shape[1] < 1:
        raise ValueError(f"values must be settings × queries with at least one query, not {values.shape}")
    if np.isnan(values).any():
        raise ValueError("values hold NaN; leave undefined queries out first")
    return int(values.shape[1])
