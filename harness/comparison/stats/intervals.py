"""An estimate with bounds, by Student's t from its standard error, and by Hall's from its skewness too.

Which method is right is a matter of calibration: see docs/statistics.md. The rule here is the wider of the
two on either side. With few queries, bootstrap intervals cover less than they claim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.measures import Floats

# Differences of means below this are rounding, not differences; scores lie between 0 and 1.
ROUNDING = 1e-10

# How many numbers one block of work may hold (32 MB of doubles): memory stays bounded, whatever the size.
BLOCK_CELLS = 4_000_000

# How many numbers fit the processor's cache while several operations pass over them (1 MB of doubles).
CACHE_CELLS = 131_072


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, NaN without data, and its bounds, None if unknown; ``n`` is how many values it is of."""

    value: float = float("nan")
    low: float | None = None
    high: float | None = None
    n: int = 0

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.3f} [no interval]"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def guarded_pair(value: float, error: float, skew: float, freedom: float, tail: float) -> tuple[float, float]:
    """On either side the wider of Student's t and Hall's; ``tail`` is left out.

    ``error`` is the standard error of ``value``, ``skew`` the skewness of its sampling distribution (for a
    mean of n values, their skewness over √n), ``freedom`` the degrees of freedom of ``error``. Sources:
    Student, Biometrika 1908; Hall, JRSS B 1992. docs/statistics.md has how well they cover.
    """
    critical = student_quantile(1 - tail, freedom)
    low, high = bounds_at(np.array([value]), np.array([error]), np.array([skew]), critical)
    return float(low[0]), float(high[0])


def bounds_at(value: Floats, error: Floats, skew: Floats, critical: float) -> tuple[Floats, Floats]:
    """The same of many values, out by ``critical`` standard errors and skewness; NaN where that is infinite.

    Seldom differing queries make differences skewed, and with few queries Student's interval then misses the
    mean on the long side. Hall's reaches out on that side, and gives way on the other.
    """
    if not np.isfinite(critical):
        return np.full(len(value), np.nan), np.full(len(value), np.nan)
    low = value - error * np.maximum(critical, inverse_hall(critical, skew))
    high = value - error * np.minimum(-critical, inverse_hall(-critical, skew))
    return low, high


def within(low: Floats, high: Floats, values: Floats, lowest: float) -> tuple[Floats, Floats]:
    """Bounds cut to ``lowest`` and 1 if all ``values`` they rest on are in [0, 1], as measures mostly are.

    Values that no mean can reach are cut off; with few queries t-intervals include them.
    """
    known = values[~np.isnan(values)]
    if not known.size or known.min() < 0 or known.max() > 1:
        return low, high
    return np.maximum(low, lowest), np.minimum(high, 1.0)


def student_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t with ``freedom`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def student_tail(t: Floats, freedom: float) -> Floats:
    """The two-sided p-value of each t; 1 without a degree of freedom."""
    from scipy.special import stdtr

    return np.ones(len(t)) if freedom < 1 else np.asarray(2 * stdtr(freedom, -np.abs(t)), dtype=np.float64)


def hall_statistic(t: Floats, skew: Floats) -> Floats:
    """Hall's transformation of t, which is monotone; ``skew`` is the skewness over √n."""
    changed: Floats = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
    return changed


def inverse_hall(x: float, skew: Floats) -> Floats:
    """The t that Hall's transformation maps to x."""
    small = np.abs(skew) < 1e-8
    safe = np.where(small, 1.0, skew)
    curved = 3 / safe * (np.cbrt(1 + safe * (x - safe / 6)) - 1)
    return np.where(small, x, curved)
