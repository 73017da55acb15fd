"""Paired randomisation test: were two settings alike, each query's difference could bear either sign.

Fisher, The Design of Experiments (1935); for retrieval Smucker, Allan and Carterette (CIKM 2007). The test is
exact where the differences are symmetric under the null hypothesis, whatever their distribution.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import numpy as np

from harness.stats.arrays import ROUNDING, Floats, Ints
from harness.stats.resample import flipped_means, sign_flips

Alternative = Literal["two-sided", "greater"]


def randomisation_test(
    differences: Floats,
    *,
    resamples: int = 10_000,
    seed: int = 7,
    alternative: Alternative = "two-sided",
    mid: bool = True,
) -> float:
    """The p-value of the mean of ``differences`` [Q] being 0 (``greater``: being at most 0).

    Queries that do not differ carry no sign and are left out, which changes nothing but the cost. With few
    differing queries every pattern of signs is counted once; else ``resamples`` random ones, of which the
    data are one (Phipson and Smyth 2010), so that p is never 0.

    ``mid`` counts patterns that come out equal to the data by half (Lancaster, JASA 1961). Scores are coarse
    and queries tie, and then the plain p-value (``mid=False``) rejects too seldom. Where nothing differs p
    is 1.
    """
    known = differences[~np.isnan(differences)]
    apart = known[np.abs(known) > ROUNDING]
    if not len(apart):
        return 1.0
    blocks, count, complete = sign_flips(len(apart), resamples, seed)
    row = apart[None, :]
    observed = _statistic(row.mean(axis=1), alternative)
    above = equal = 0
    for block in blocks:
        flipped = _statistic(flipped_means(row, block), alternative)
        above += int(np.sum(flipped > observed + ROUNDING))
        equal += int(np.sum(np.abs(flipped - observed) <= ROUNDING))
    return float(p_value(above, equal, count, complete, mid))


Count = TypeVar("Count", int, Ints)


def p_value(above: Count, equal: Count, count: int, complete: bool, mid: bool) -> Any:
    """The share of ``count`` patterns above the data, and equal to it (by half where ``mid``).

    Random patterns do not surely hold the data themselves, so they are added to them.
    """
    own = 0 if complete else 1
    weight = 0.5 if mid else 1.0
    return (above + weight * (equal + own)) / (count + own)


def _statistic(means: Floats, alternative: Alternative) -> Floats:
    return np.abs(means) if alternative == "two-sided" else means
