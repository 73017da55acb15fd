"""Stop asking an endpoint that is down, refuses every call, or gives no usable answer."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.models.llm.faults import UNUSABLE, CallError
from harness.values import LlmError

# An endpoint that has never answered and refuses this many calls will refuse all of them.
FIRST_REFUSALS = 3
# Nor does one that has never answered usefully and gives this many paid answers that nobody can read. As many
# as an endpoint for vectors is allowed, since each is on the bill.
FIRST_USELESS = 2


class EndpointDownError(LlmError):
    """So many calls in a row failed that further calls would waste time or money."""


class Breaker:
    """Counts calls in a row without a usable answer; one resets it (Nygard, Release It!, 2007).

    It opens at ``threshold`` such calls: immediately if the last was answered, and so paid for, or refused;
    otherwise not before ``seconds`` have passed since the first, because in a short outage many callers fail
    together. Replies that are no answer of the protocol have a count of their own.
    """

    def __init__(
        self, threshold: int, seconds: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
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
        """Raises EndpointDownError when the breaker opens, after ``at`` of them."""
        if not self._failures:
            self._since = self._clock()
        self._failures += 1
        if at is not None and self._failures >= at:
            raise self._opened(reason)

    def _opened(self, reason: str) -> EndpointDownError:
        return EndpointDownError(
            f"The endpoint gave no usable answer {self._failures + self._garbled} times in a row; the last "
            f"reason: {reason if reason.endswith('.') else reason + '.'} "
            "All answers are in the ledger. Check the endpoint, then run again: it resumes "
            "from here."
        )
