"""A mean over queries and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.measures.ragged import Floats

_BLOCK_DRAWS = 4_000_000


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """``mean`` of the ``n`` defined values; ``low`` and ``high`` bound it, None where n is 1."""

    mean: float
    low: float | None
    high: float | None
    n: int


def mean_and_interval(
    values: Floats, seed: int, resamples: int = 10_000, level: float = 0.95
) -> MeanInterval | None:
    """The mean of the defined values with a percentile bootstrap interval over queries (Efron, 1979).

    NaN is left out and not counted; no value at all gives None. The same seed gives the same interval.
    Memory is bounded by the block of draws, about 64 MB, or one resample where that is larger.
    Raises ValueError for a level outside (0, 1) or fewer than 1 resample.
    """
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(
            f"level must be between 0 and 1 and resamples at least 1, not {level} and {resamples}"
        )
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    mean = float(known.mean())
    if len(known) == 1:
        return MeanInterval(mean, None, None, 1)
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(_resampled_means(known, seed, resamples), [tail, 100 - tail])
    return MeanInterval(mean, float(low), float(high), len(known))


def _resampled_means(values: Floats, seed: int, resamples: int) -> Floats:
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    rows = max(1, _BLOCK_DRAWS // len(values))
    for first in range(0, resamples, rows):
        last = min(first + rows, resamples)
        draws = rng.integers(0, len(values), size=(last - first, len(values)))
        means[first:last] = values[draws].mean(axis=1)
    return means
