"""How large a difference is, apart from how sure it is."""

from __future__ import annotations

import numpy as np

from harness.stats.arrays import ROUNDING, Floats, Ints


def win_tie_loss(rows: Floats, tolerance: float = ROUNDING) -> tuple[Ints, Ints, Ints]:
    """In how many queries each row of differences [P, Q] is above, within and below ``tolerance`` of 0."""
    wins = (rows > tolerance).sum(axis=1)
    losses = (rows < -tolerance).sum(axis=1)
    return wins, rows.shape[1] - wins - losses, losses


def cohen_dz(rows: Floats) -> Floats:
    """The mean difference in standard deviations of the differences, [P] (Cohen 1988, d_z).

    0 where nothing differs, and NaN where all queries differ by the same amount or there is only one.
    """
    if rows.shape[1] < 2:
        return np.full(len(rows), np.nan)
    mean = rows.mean(axis=1)
    spread = np.where(np.ptp(rows, axis=1) > ROUNDING, rows.std(axis=1, ddof=1), 0.0)
    alike = np.where(np.abs(mean) <= ROUNDING, 0.0, np.nan)
    size: Floats = np.divide(mean, spread, out=alike, where=spread > 0)
    return size


def dominance(rows: Floats, tolerance: float = ROUNDING) -> Floats:
    """Share of queries won minus share lost, in [-1, 1], [P].

    Cliff's d for paired data (Psychological Bulletin 1993); ``(1 + d) / 2`` is the common-language effect
    size, the chance that the first does better on a query, ties counting half (McGraw and Wong 1992).
    """
    wins, _, losses = win_tie_loss(rows, tolerance)
    share: Floats = (wins - losses) / rows.shape[1]
    return share
