"""Where quality is lost, part by part, from a perfect score down to the score achieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.measures import Bools, Floats
from harness.values import HarnessError

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Level:
    """The best score each query can still reach after a ``part`` of a ``step``, [Q], NaN if it has none.

    All levels are of one measure with one ideal. ``may_rise``: it may be above the level before it.
    ``bound`` [Q] is what the best score cannot exceed, where ``scores`` are the best that a search has found.
    """

    step: str
    part: str
    scores: Floats
    may_rise: bool = False
    bound: Floats | None = None


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The loss of each query at each of P parts, ``losses`` [Q, P], and what was ``left`` after it [Q, P].

    ``1 - losses.sum(axis=1) == left[:, -1]`` for every query, and so for the means. Below 0 are only losses
    of levels that may rise. Queries for which the measure is undefined are left out.
    """

    query_ids: tuple[str, ...]
    losses: Floats
    left: Floats


def waterfall(query_ids: Sequence[str], levels: Sequence[Level]) -> Waterfall:
    """Take a way of levels apart; those that may rise come last.

    Raises ValueError for shapes that do not fit and for a level above the one before it that may not be.
    Differences within rounding are set right.
    """
    n = len(query_ids)
    if any(level.scores.shape != (n,) for level in levels):
        raise ValueError(f"every level needs one score per query, {n}")
    table = np.stack([np.ones(n), *(level.scores for level in levels)], axis=1)
    known: Bools = np.logical_not(np.isnan(table).any(axis=1))
    if not known.any():
        raise HarnessError("No query has a score, so there are no losses to report.")
    table = table[known]
    kept = tuple(query for query, k in zip(query_ids, known, strict=True) if k)
    falling = 1 + sum(not level.may_rise for level in levels)
    rising = np.argwhere(np.diff(table[:, :falling], axis=1) > _ROUNDING)
    if len(rising):
        row, at = rising[0]
        raise ValueError(
            f"query {kept[row]}: the level after {levels[at].step}, {levels[at].part} is "
            f"{table[row, at + 1]:.6f}, above the {table[row, at]:.6f} before it"
        )
    table[:, :falling] = np.minimum.accumulate(table[:, :falling], axis=1)
    return Waterfall(kept, table[:, :-1] - table[:, 1:], table[:, 1:])
