"""How many queries it takes to see a difference."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from harness.compare.arrays import ROUNDING, Floats
from harness.compare.interval import t_quantile

MOST_QUERIES = 1_000_000


def queries_needed(rows: Floats, alpha: float = 0.05, power: float = 0.8) -> Floats:
    """Queries for a two-sided paired test to see each observed mean difference, [P] from [P, Q].

    ``((z(1 - alpha/2) + z(power)) sd / mean)² + z(1 - alpha/2)²/2``, the normal approximation with Guenther's
    correction for the estimated spread (The American Statistician 1981), rounded up. It takes the observed
    difference and spread for true, so it is no more certain than they are: a plan for the next study, not a
    verdict on this one. Infinite where nothing differs or more than a million queries would be needed; NaN
    for a single query.
    """
    if rows.shape[1] < 2:
        return np.full(len(rows), np.nan)
    z_alpha = NormalDist().inv_cdf(1 - alpha / 2)
    z_power = NormalDist().inv_cdf(power)
    mean = np.abs(rows.mean(axis=1))
    ratio = np.divide(rows.std(axis=1, ddof=1), mean, out=np.full(len(rows), np.inf), where=mean > ROUNDING)
    needed = np.ceil(((z_alpha + z_power) * ratio) ** 2 + z_alpha**2 / 2)
    return np.where(needed <= MOST_QUERIES, needed, np.inf)


def simulated_power(
    differences: Floats, n: int, alpha: float = 0.05, *, trials: int = 2_000, seed: int = 7
) -> float:
    """How often a paired t test on ``n`` queries, drawn from ``differences`` [Q], is significant."""
    if n < 2 or not len(differences):
        raise ValueError(f"power needs at least two queries to draw and one to draw from, not {n}")
    rng = np.random.default_rng(seed)
    critical = t_quantile(1 - alpha / 2, n)
    seen = 0
    rows = max(1, min(trials, 2_000_000 // n))
    for first in range(0, trials, rows):
        drawn = rng.choice(differences, size=(min(rows, trials - first), n))
        spread = drawn.std(axis=1, ddof=1)
        reach = critical * spread / np.sqrt(n)
        seen += int(np.sum(np.abs(drawn.mean(axis=1)) > reach + ROUNDING))
    return seen / trials
