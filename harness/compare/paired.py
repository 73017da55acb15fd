"""Two settings, paired by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.compare.arrays import ROUNDING, Floats
from harness.compare.effect import cohen_dz, dominance, win_tie_loss
from harness.compare.interval import Method, intervals, within
from harness.compare.power import queries_needed
from harness.compare.randomise import randomisation_test


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare; differences up to ``tie`` count as ties."""

    level: float = 0.95
    method: Method = "guarded_t"
    resamples: int = 10_000
    seed: int = 7
    tie: float = ROUNDING

    @property
    def alpha(self) -> float:
        """The level of tests."""
        return 1 - self.level


@dataclass(frozen=True, slots=True)
class Comparison:
    """``setting`` against ``against`` over ``n`` queries; ``difference`` is the mean of one minus the other.

    ``low`` and ``high`` bound the difference; ``p`` is of the randomisation test, ``p_holm`` and ``p_max``
    corrected for the family, and equal ``p`` for a family of one. ``d_z`` is the difference in standard
    deviations, ``dominance`` the share of queries won minus lost, ``queries_needed`` how many queries would
    show this difference in 4 of 5 studies. None where the data do not say: a single query, no difference.
    """

    setting: str
    against: str
    n: int
    mean: float
    mean_against: float
    difference: float
    low: float | None
    high: float | None
    p: float
    p_holm: float
    p_max: float
    wins: int
    ties: int
    losses: int
    d_z: float | None
    dominance: float
    queries_needed: int | None

    def significant(self, alpha: float = 0.05) -> bool:
        """Whether the difference is real, the whole family considered."""
        return self.p_max <= alpha


@dataclass(frozen=True, slots=True)
class Description:
    """The columns of ``Comparison`` that need no resampling, one entry per row of differences."""

    difference: Floats
    low: Floats
    high: Floats
    wins: Sequence[int]
    ties: Sequence[int]
    losses: Sequence[int]
    d_z: Floats
    dominance: Floats
    queries_needed: Floats

    def fields(self, row: int) -> dict[str, Any]:
        """The fields of one row as plain values."""
        needed = float(self.queries_needed[row])
        return {
            "difference": float(self.difference[row]),
            "low": number(self.low[row]),
            "high": number(self.high[row]),
            "wins": int(self.wins[row]),
            "ties": int(self.ties[row]),
            "losses": int(self.losses[row]),
            "d_z": number(self.d_z[row]),
            "dominance": float(self.dominance[row]),
            "queries_needed": int(needed) if np.isfinite(needed) else None,
        }


def describe(rows: Floats, options: Options, values: Floats, resampled: Floats | None = None) -> Description:
    """Sum up rows of differences [P, Q] between ``values``; ``resampled`` as in ``intervals``."""
    low, high = intervals(
        rows,
        options.level,
        options.method,
        resamples=options.resamples,
        seed=options.seed,
        resampled=resampled,
    )
    low, high = within(low, high, values, -1.0)
    wins, ties, losses = win_tie_loss(rows, options.tie)
    return Description(
        rows.mean(axis=1),
        low,
        high,
        wins.tolist(),
        ties.tolist(),
        losses.tolist(),
        cohen_dz(rows),
        dominance(rows, options.tie),
        queries_needed(rows, options.alpha),
    )


def compare_pair(
    setting: str, values: Floats, against: str, baseline: Floats, options: Options | None = None
) -> Comparison:
    """Compare two settings on the queries [Q] that both have a value for; ValueError where there is none."""
    options = options or Options()
    if values.shape != baseline.shape or values.ndim != 1:
        raise ValueError(f"the two must be scored on the same queries, not {values.shape}, {baseline.shape}")
    both = ~np.isnan(values) & ~np.isnan(baseline)
    if not both.any():
        raise ValueError(f"{setting} and {against} have no query with a score in common")
    values, baseline = values[both], baseline[both]
    difference = values - baseline
    p = randomisation_test(difference, resamples=options.resamples, seed=options.seed)
    return Comparison(
        setting=setting,
        against=against,
        n=len(difference),
        mean=float(values.mean()),
        mean_against=float(baseline.mean()),
        p=p,
        p_holm=p,
        p_max=p,
        **describe(difference[None, :], options, np.stack([values, baseline])).fields(0),
    )


def number(value: float | np.floating[Any]) -> float | None:
    """A plain float, None for NaN."""
    return None if np.isnan(value) else float(value)
