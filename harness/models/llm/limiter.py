"""Keep to the requests and tokens per minute that an endpoint allows, and use nearly all of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class Bucket:
    """A token bucket that may run a debt: an amount is taken immediately, with the wait until it is covered.

    Taking first keeps the callers in order and makes the long-run rate exact, however late a sleeper wakes.
    The tokens of one second may be saved up.
    """

    def __init__(self, per_minute: float, *, clock: Clock = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._capacity = max(1.0, self._rate)
        self._level = self._capacity
        self._clock = clock
        self._filled_at = clock()

    def take(self, amount: float) -> float:
        """Take ``amount``, or give it back if it is negative; returns the seconds to wait before using it."""
        now = self._clock()
        filled = min(self._capacity, self._level + (now - self._filled_at) * self._rate)
        self._level = min(self._capacity, filled - amount)
        self._filled_at = now
        return max(0.0, -self._level / self._rate)


class RateLimiter:
    """Both limits of an endpoint, and the pause that it asks for when it answers 429 with Retry-After.

    The buckets' clock stands still during a pause, and each caller waits that much longer: callers keep their
    place in the queue, and there is no burst at the end.
    """

    def __init__(
        self,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        *,
        clock: Clock = time.monotonic,
    ) -> None:
        self._clock = clock
        self._held_until = 0.0
        self._held = 0.0
        self._held_before = 0.0
        self._requests = (
            Bucket(requests_per_minute, clock=self.unpaused_time) if requests_per_minute else None
        )
        self._tokens = Bucket(tokens_per_minute, clock=self.unpaused_time) if tokens_per_minute else None

    async def acquire(self, tokens: int, sleep: Sleep = asyncio.sleep) -> None:
        """Wait, by ``sleep``, until a request of about ``tokens`` tokens may be sent."""
        waits = [bucket.take(n) for bucket, n in ((self._requests, 1), (self._tokens, tokens)) if bucket]
        seen = self._held
        await sleep(max(waits, default=0.0) + self.remaining_pause())
        while (added := self._held - seen) > 0:
            seen = self._held
            await sleep(added)

    def correct(self, estimated: int, used: int) -> None:
        """Replace the estimate of one request by the tokens that it used."""
        if self._tokens:
            self._tokens.take(used - estimated)

    def hold(self, seconds: float) -> float:
        """Pause all sending for this long, as the endpoint has asked.

        Returns the seconds of the pauses since the last answer, those to come included.
        """
        until = self._clock() + seconds
        added = seconds - self.remaining_pause()
        if added > 0:
            self._held_until = until
            self._held += added
        return self._held - self._held_before

    def answered(self) -> None:
        """An answer has come: pauses are counted from zero again."""
        self._held_before = self._held

    def remaining_pause(self) -> float:
        """The seconds until the present pause is over."""
        return max(0.0, self._held_until - self._clock())

    def unpaused_time(self) -> float:
        """The time without the pauses."""
        return self._clock() - self._held + self.remaining_pause()


_limiters: dict[tuple[str, float | None, float | None], RateLimiter] = {}


def limiter_of(
    address: str, requests_per_minute: float | None, tokens_per_minute: float | None = None
) -> RateLimiter:
    """The limiter of an address, which lasts as long as the process: a rate is one over all that is sent.

    A pause that the last sender did not wait for is not taken over, because it has reported it.
    """
    key = (address, requests_per_minute, tokens_per_minute)
    known = _limiters.get(key)
    if known is None or known.remaining_pause():
        known = _limiters[key] = RateLimiter(requests_per_minute, tokens_per_minute)
    known.answered()
    return known
