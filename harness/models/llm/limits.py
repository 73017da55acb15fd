"""What keeps calls within bounds: the rate, the pauses between tries, and the end of calls that are in vain.

The rate is kept to, and nearly all of it used. An endpoint that is down, refuses every call or gives no
usable answer is asked no more.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from harness.models.llm.faults import UNUSABLE, CallError
from harness.values import LlmError

# An endpoint that has never answered and refuses this many calls will refuse all of them.
FIRST_REFUSALS = 3
# Nor does one that has never answered usefully and gives this many paid answers that nobody can read. As many
# as an endpoint for vectors is allowed, since each is on the bill.
FIRST_USELESS = 2
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
    limiter = _limiters.get(key)
    if limiter is None or limiter.remaining_pause():
        limiter = _limiters[key] = RateLimiter(requests_per_minute, tokens_per_minute)
    limiter.answered()
    return limiter


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with full jitter: pauses drawn evenly from 0 to ``first * 2**(tries - 1)`` s.

    Source: M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
    """

    first: float = 0.5
    longest: float = 20.0

    def pause(self, tries: int, requested: float | None, left: float, rng: random.Random) -> float | None:
        """The seconds to wait after ``tries`` failed tries; None when ``left`` seconds do not allow them.

        After a pause that the endpoint ``requested``, which itself does not count, a little jitter keeps
        the waiting callers from coming back all at once.
        """
        highest = min(self.longest, self.first * 2 ** min(tries - 1, 30))
        pause = rng.uniform(0, min(highest, self.first) if requested else highest)
        return pause if pause < left else None


class Breaker:
    """Counts calls in a row without a usable answer; one resets it (Nygard, Release It!, 2007).

    It opens at ``threshold`` such calls: immediately if the last was answered, and so paid for, or refused;
    otherwise not before ``seconds`` have passed since the first, because in a short outage many callers fail
    together. Replies that are no answer of the protocol have a count of their own.
    """

    def __init__(self, threshold: int, seconds: float, *, clock: Clock = time.monotonic) -> None:
        self._threshold = threshold
        self._seconds = seconds
        self._clock = clock
        self._failures = self._garbled = 0
        self._since = 0.0
        self._answered = self._useful = False

    def answered_before(self) -> None:
        """Note an answer of an earlier run: what is refused now is these calls, not all of them."""
        self._answered = True

    def succeeded(self) -> None:
        """Note a call that brought a usable answer."""
        self._failures = self._garbled = 0
        self._answered = self._useful = True

    def note(self, fault: CallError, *, last: bool) -> None:
        """Note a fault; ``last``: its call is not tried again."""
        if fault.refused:
            self.refused(str(fault))
        elif fault.reason in UNUSABLE:
            self.garbled(str(fault))
        # A busy endpoint is not down as long as calls eventually get through.
        elif not fault.settled and (fault.reason != "rate_limited" or last):
            self.failed(str(fault))

    def useless(self, reason: str) -> None:
        """Note an answer in words that nobody can use, which was paid for."""
        self._answered = True
        self._count(reason, at=self._threshold)

    def garbled(self, reason: str) -> None:
        """Note a reply that is no answer of the protocol at all, which was paid for.

        A few of them end a run that has had no usable answer. They are counted apart, so that neither an
        outage nor refusals add up to that with them: an endpoint that is busy may work.
        """
        self._garbled += 1
        if self._garbled >= (self._threshold if self._useful else min(FIRST_USELESS, self._threshold)):
            raise self._opened(reason)

    def refused(self, reason: str) -> None:
        """Note a call that the endpoint refused, and would refuse again."""
        self._count(reason, at=self._threshold if self._answered else min(FIRST_REFUSALS, self._threshold))

    def failed(self, reason: str) -> None:
        """Note a call that brought nothing, as in an outage."""
        since = self._since if self._failures else self._clock()
        lasting = self._clock() - since >= self._seconds
        self._count(reason, at=self._threshold if lasting else None)

    def _count(self, reason: str, *, at: int | None) -> None:
        """Raises LlmError when the breaker opens, after ``at`` of them."""
        if not self._failures:
            self._since = self._clock()
        self._failures += 1
        if at is not None and self._failures >= at:
            raise self._opened(reason)

    def _opened(self, reason: str) -> LlmError:
        return LlmError(
            f"The endpoint gave no usable answer {self._failures + self._garbled} times in a row; the last "
            f"reason: {reason if reason.endswith('.') else reason + '.'} "
            "All answers are in the ledger. Check the endpoint, then run again: it resumes "
            "from here."
        )
