"""Stop asking an endpoint that is plainly down, turns every call down, or answers nothing of use."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.errors import LlmError

# An endpoint that has never answered and turns so many calls down will turn all of them down.
FIRST_REFUSALS = 3


class EndpointDownError(LlmError):
    """So many calls in a row came to nothing that asking on would waste time or money."""


class Breaker:
    """Counts calls in a row without a usable answer; one resets it (Nygard, Release It!, 2007).

    It opens at ``threshold`` such calls: at once when the last was answered, and so paid for, or turned
    down; otherwise not before ``seconds`` have passed since the first, for many callers fail together in an
    outage that they may outlast.
    """

    def __init__(
        self, threshold: int, seconds: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._threshold = threshold
        self._seconds = seconds
        self._clock = clock
        self._failures = 0
        self._since = 0.0
        self._answered = False

    def succeeded(self) -> None:
        """Note a call that brought a usable answer."""
        self._failures = 0
        self._answered = True

    def useless(self, reason: str) -> None:
        """Note an unusable answer, which was paid for."""
        self._answered = True
        self._count(reason, at=self._threshold)

    def refused(self, reason: str) -> None:
        """Note a call that the endpoint turned down, and would again."""
        self._count(reason, at=self._threshold if self._answered else min(FIRST_REFUSALS, self._threshold))

    def failed(self, reason: str) -> None:
        """Note a call that brought nothing, as in an outage."""
        since = self._since if self._failures else self._clock()
        lasting = self._clock() - since >= self._seconds
        self._count(reason, at=self._threshold if lasting else None)

    def _count(self, reason: str, *, at: int | None) -> None:
        """Raises EndpointDownError when the breaker opens, which it does ``at`` so many."""
        if not self._failures:
            self._since = self._clock()
        self._failures += 1
        if at is not None and self._failures >= at:
            raise EndpointDownError(
                f"The endpoint gave no usable answer {self._failures} times in a row; the last "
                f"reason: {reason if reason.endswith('.') else reason + '.'} "
                "All answers are in the ledger. Check the endpoint, then run again: it resumes "
                "from here."
            )
