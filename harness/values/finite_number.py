"""Numbers that come from outside: from JSON, or from a user's code."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

SINGLE = 3e38
"""About the largest number of single precision, in which scores and vectors are kept."""


def finite(value: Any, largest: float = math.inf) -> float | None:
    """A finite number of at most ``largest`` in magnitude; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        # JSON knows whole numbers of any length
        return None
    return number if math.isfinite(number) and abs(number) <= largest else None
