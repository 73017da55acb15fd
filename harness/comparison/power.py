"""How many queries it takes to see a difference that one would act on."""

from __future__ import annotations

import math
from statistics import NormalDist

MOST_QUERIES = 1_000_000
POWER = 0.8


def needed_for(
    difference: float,
    error: float,
    n: int,
    critical: float,
    units: float,
    level: float = 0.95,
) -> tuple[int, int, int | None] | None:
    """Queries that show a true ``difference`` in 4 of 5 studies, and the bounds of that number at ``level``.

    A difference is seen where it is ``critical`` standard errors from 0, in 4 of 5 studies where it is 0.84
    more. The standard error was ``error`` with ``n`` queries and falls with their root. It is known from so
    many ``units`` (queries or clusters), and the bounds are those of a variance (chi-square). The difference
    is one that matters, not the one that was observed: the largest of many is likely smaller in truth.

    None where nothing differs at all or more than a million queries would be needed. The upper bound is None
    where it is above that.
    """
    from scipy.special import chdtri

    if error <= 0 or units < 2:
        return None
    needed = n * ((critical + NormalDist().inv_cdf(POWER)) * error / difference) ** 2
    tail = (1 - level) / 2
    freedom = units - 1
    low, high = (needed * freedom / float(chdtri(freedom, share)) for share in (tail, 1 - tail))
    if needed > MOST_QUERIES:
        return None
    return math.ceil(needed), math.ceil(low), math.ceil(high) if high <= MOST_QUERIES else None
