"""Stop asking an endpoint that is plainly down or answers nothing of use."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.errors import JudgeError


class EndpointDownError(JudgeError):
    """So many calls in a row came to nothing that asking on would waste time or money."""


class Breaker:
    """Counts calls in a row that brought no grade; one grade resets it (Nygard, Release It!, 2007).

    It opens at ``threshold`` such calls: at once when the last was answered and so paid for, otherwise not
    before ``seconds`` have passed since the first, for many callers fail together in a short hiccup.
    """

    def __init__(
        self, threshold: int, seconds: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._threshold = threshold
        self._seconds = seconds
        self._clock = clock
        self._failures = 0
        self._since = 0.0

    def succeeded(self) -> None:
        """Note a call that brought a grade."""
        self._failures = 0

    def failed(self, reason: str, *, paid: bool = False) -> None:
        """Note a call that brought none; raises EndpointDownError when the breaker opens."""
        if not self._failures:
            self._since = self._clock()
        self._failures += 1
        lasting = paid or self._clock() - self._since >= self._seconds
        if self._failures >= self._threshold and lasting:
            raise EndpointDownError(
                f"The judge's endpoint gave no usable answer {self._failures} times in a row; the last "
                f"reason: {reason}. "
                "What was answered is in the ledger. Look at the endpoint, then run again: it goes on "
                "from here."
            )
