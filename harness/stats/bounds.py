"""Bounds of an estimate from its standard error and skewness: arithmetic that several rooms share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def guarded_bounds(
    value: Floats, error: Floats, skew: Floats, freedom: float, tail: float
) -> tuple[Floats, Floats]:
    """On either side the wider of Student's t and Hall's, which allows for skew; ``tail`` is left out.

    ``error`` is the standard error of ``value``, ``skew`` the skewness of its sampling distribution (for a
    mean of n values, their skewness over √n), ``freedom`` the degrees of freedom of ``error``. Sources:
    Student, Biometrika 1908; Hall, JRSS B 1992. docs/statistics.md has how well they cover.
    """
    x = student_quantile(1 - tail, freedom)
    low = np.minimum(value - x * error, value - error * inverse_hall(x, skew))
    high = np.maximum(value + x * error, value - error * inverse_hall(-x, skew))
    return low, high


def student_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t with ``freedom`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def inverse_hall(x: float, skew: Floats) -> Floats:
    """The t that Hall's transformation maps to x."""
    small = np.abs(skew) < 1e-8
    safe = np.where(small, 1.0, skew)
    curved = 3 / safe * (np.cbrt(1 + safe * (x - safe / 6)) - 1)
    return np.where(small, x, curved)
