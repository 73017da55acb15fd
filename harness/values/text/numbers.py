"""How numbers, counts and lists of names are written, and numbers that come from outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

FEWEST_FOR_INTERVAL = 5
"""With fewer queries an interval says less than it seems to, and none is shown."""


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names for a sentence, such as ``a, b and c``; of more than ``most`` only the first ones."""
    more = len(names) - most
    if more > 0:
        return f"{', '.join(names[:most])} and {more} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(count: int, singular: str, plural: str = "") -> str:
    """A count with its word: ``1 query``, ``2,000 queries``.

    Without ``plural`` it is the singular with an s.
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def confidence(level: float) -> str:
    """A level of confidence in a sentence, such as ``95%`` or ``99.9%``."""
    return f"{100 * level:.6g}%"


def number(value: float | None, digits: int = 3) -> str:
    """A figure, or a dash where there is none (None, NaN); what rounds to zero has no sign."""
    if value is None or value != value:
        return "–"
    text = f"{value:.{digits}f}"
    return text if text.strip("-0.") else f"{0:.{digits}f}"


def signed(value: float) -> str:
    """A figure with its sign; what rounds to zero has none."""
    text = f"{value:+.3f}"
    return text if text.strip("+-0.") else "0.000"


def signed_interval(low: float | None, high: float | None, n: int) -> str:
    """`interval` of a difference."""
    if low is None or high is None or n < FEWEST_FOR_INTERVAL:
        return "–"
    return f"{signed(low)} to {signed(high)}"


def interval(low: float | None, high: float | None, n: int) -> str:
    """The two ends of an interval, or a dash where there is none or ``n`` queries are too few for one."""
    if low is None or high is None or n < FEWEST_FOR_INTERVAL:
        return "–"
    return f"{low:.3f}–{high:.3f}"


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
