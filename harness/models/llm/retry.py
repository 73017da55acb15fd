"""When a failed call is tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with full jitter: pauses drawn evenly from 0 to ``first * 2**(tries - 1)`` s.

    Source: M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
    """

    first: float = 0.5
    longest: float = 20.0

    def pause(self, tries: int, asked: float | None, left: float, rng: random.Random) -> float | None:
        """The seconds to wait after ``tries`` failed tries; None when ``left`` seconds do not allow them.

        After a pause that the endpoint ``asked`` for, which itself does not count, a little jitter keeps
        the waiting callers from coming back all at once.
        """
        highest = min(self.longest, self.first * 2 ** min(tries - 1, 30))
        pause = rng.uniform(0, min(highest, self.first) if asked else highest)
        return pause if pause < left else None


def retry_after(headers: dict[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``retry-after`` (in seconds or as a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
