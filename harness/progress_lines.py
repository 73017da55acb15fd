"""Progress where no bar can be drawn: a line a step, and one a minute while it is under way."""

from __future__ import annotations

import time
from collections.abc import Callable

EVERY = 60.0
# A step that is over sooner is not worth a line.
WORTH_A_LINE = 2.0


class LinesTask:
    """One step; ``say`` prints a line, ``clock`` gives seconds."""

    def __init__(
        self, name: str, total: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name, self._total, self._say, self._clock = name, total, say, clock
        self._begun = self._told = clock()
        self._done, self._text = 0, ""

    def advance(self, steps: int = 1) -> None:
        """Count, and say how far it is where the last line is a minute old."""
        self._done += steps
        now = self._clock()
        if now - self._told < EVERY or self._done >= self._total:
            return
        self._told = now
        seconds = now - self._begun
        left = remaining(seconds, self._done, self._total)
        about = "" if left is None else f", about {duration(left)} left"
        note = f" ({self._text})" if self._text else ""
        self._say(f"{self._name}: {self._done:,} of {self._total:,}, {duration(seconds)}{about}{note}")

    def describe(self, text: str) -> None:
        """Keep ``text`` for the next line."""
        self._text = text

    def close(self) -> None:
        """Say that it is over."""
        seconds = self._clock() - self._begun
        if seconds >= WORTH_A_LINE:
            part = "" if self._done >= self._total else f"{self._done:,} of "
            self._say(f"{self._name}: {part}{self._total:,} in {duration(seconds)}")


def remaining(seconds: float, done: float, total: float | None) -> float | None:
    """The seconds that are left if the rest goes on like all that is done; None where nothing is."""
    return seconds * (total - done) / done if done and total is not None else None


def duration(seconds: float) -> str:
    """A duration as people say it: ``8 s``, ``4 min 10 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
