"""The interval of a mean, the same everywhere: in summary.csv, on the page and in a comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.comparison.decide import bounds_at
from harness.comparison.paired import number
from harness.comparison.stats.arrays import Floats
from harness.comparison.stats.bounds import student_quantile, within
from harness.comparison.stats.interval import Interval
from harness.comparison.stats.units import Units, units_of


def mean_of(values: Floats, clusters: Sequence[str] = (), level: float = 0.95) -> Interval:
    """The mean of the values [Q] that are defined, with its interval.

    By whole clusters where there are enough of them. ``clusters`` has a name for every value, or is empty.
    """
    known = ~np.isnan(values)
    kept = values[known]
    if not len(kept):
        return Interval()
    units = units_of([clusters[i] for i in np.flatnonzero(known).tolist()] if clusters else (), len(kept))
    low, high = bounds_of_means(kept[None, :], units, level)
    return Interval(float(kept.mean()), number(low[0]), number(high[0]), len(kept))


def bounds_of_means(values: Floats, units: Units, level: float) -> tuple[Floats, Floats]:
    """Bounds of the mean of every row [S, Q]: the wider of Student's and Hall's t, between units.

    NaN for a single query. Bounds outside 0 to 1 are cut where all values lie inside.
    """
    if values.shape[1] < 2:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    critical = student_quantile((1 + level) / 2, units.effective - 1)
    return within(*bounds_at(units.shares(values), units, critical), values, 0.0)
