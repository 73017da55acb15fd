"""The interval of a share of independent trials, which still says something where none or all succeed."""

from __future__ import annotations

import math


def wilson_interval(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share (JASA 1927); ``n`` is at least 1.

    Of 60 trials without a success the share may still be 6 %; an interval by the standard error, which is 0
    there, would say that it cannot.
    """
    from scipy.special import ndtri

    if not 0 <= successes <= n or not n:
        raise ValueError(f"{successes} of {n} trials is no share")
    z = float(ndtri((1 + level) / 2))
    share = successes / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(0.0, middle - half) if successes else 0.0, min(1.0, middle + half) if successes < n else 1.0
