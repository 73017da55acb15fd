"""Several samples of one judgment become one grade and a spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import floor
from typing import Literal

Combine = Literal["majority", "mean", "expected"]


def combine_grades(grades: Sequence[int], how: Combine) -> int:
    """One grade out of several: the most frequent (of equals the lower), or the mean rounded, halves down.

    Doubt goes to the lower grade, as the prompts ask of a single answer. Raises ValueError on no grades.
    """
    if not grades:
        raise ValueError("there is no grade to combine")
    if how == "majority":
        counts = Counter(grades)
        return min(counts, key=lambda grade: (-counts[grade], grade))
    return rounded_mean(grades)


def rounded_mean(values: Sequence[float]) -> int:
    """The mean as a grade, halves down."""
    mean = sum(values) / len(values)
    return floor(mean) if mean - floor(mean) <= 0.5 else floor(mean) + 1


def spread_of(grades: Sequence[int]) -> int:
    """The range of the samples: highest less lowest; 0 for one sample."""
    return max(grades) - min(grades) if grades else 0
