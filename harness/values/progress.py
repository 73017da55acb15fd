"""How the pipeline reports what it does without printing: the caller passes a reporter in."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

EVERY = 60.0
# A shorter step is not worth a line.
WORTH_A_LINE = 2.0


class Task(Protocol):
    """One piece of long work that is under way."""

    def advance(self, steps: int = 1) -> None:
        """Say that ``steps`` more units are done."""

    def describe(self, text: str) -> None:
        """Show a line of text next to the bar, such as the money spent."""


class Board(Protocol):
    """A table that fills while work goes on; ``live`` False: it is not shown, so fill in nothing costly."""

    live: bool

    def put(self, row: str, cells: Mapping[str, str]) -> None:
        """Add a row, or change cells of an existing one; other columns stay as they are."""


class Reporter(Protocol):
    """Receives progress, notes and warnings; the command line shows them, a library call drops them."""

    def task(self, name: str, total: int) -> AbstractContextManager[Task]:
        """Open a task of ``total`` units for the length of a with block."""

    def board(self, columns: Sequence[str]) -> AbstractContextManager[Board]:
        """Open a table of these columns, the first of which names the row, for the length of a with block."""

    def note(self, text: str) -> None:
        """Say something worth knowing."""

    def warn(self, text: str) -> None:
        """Say something the user should look at."""


class Hidden:
    """A task or a board that is not shown."""

    live = False

    def advance(self, *_: object, **__: object) -> None:
        """Drop what would be shown."""

    describe = put = advance


class Silent:
    """A reporter that drops everything but keeps the warnings, for tests and for use as a library."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def task(self, name: str, total: int) -> AbstractContextManager[Task]:
        """Open a task that shows nothing."""
        return nullcontext(Hidden())

    def board(self, columns: Sequence[str]) -> AbstractContextManager[Board]:
        """Open a table that is not shown."""
        return nullcontext(Hidden())

    def note(self, text: str) -> None:
        """Keep a note."""
        self.notes.append(text)

    def warn(self, text: str) -> None:
        """Keep a warning."""
        self.warnings.append(text)


class LinesTask:
    """One step; ``say`` gets a line about it, ``every`` so many seconds, ``clock`` gives seconds."""

    every = EVERY

    def __init__(
        self, name: str, total: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name, self._total, self._say, self._clock = name, total, say, clock
        self._begun = self._last = clock()
        self._done, self._text = 0, ""

    def advance(self, steps: int = 1) -> None:
        """Count, and say how far it is where the last line is old enough."""
        self._done += steps
        now = self._clock()
        if now - self._last >= self.every and self._done < self._total:
            self._last = now
            self._say(self.standing())

    def describe(self, text: str) -> None:
        """Keep ``text`` for the next line."""
        self._text = text

    def close(self) -> None:
        """Say that it is over."""
        if self._clock() - self._begun >= WORTH_A_LINE:
            self._say(self.ending())

    def standing(self) -> str:
        """How far it is, and what is left."""
        seconds = self._clock() - self._begun
        left = remaining(seconds, self._done, self._total)
        about = "" if left is None else f", about {duration(left)} left"
        note = f" ({self._text})" if self._text else ""
        return f"{self._name}: {self._done:,} of {self._total:,}, {duration(seconds)}{about}{note}"

    def ending(self) -> str:
        """How much was done, in which time."""
        part = "" if self._done >= self._total else f"{self._done:,} of "
        return f"{self._name}: {part}{self._total:,} in {duration(self._clock() - self._begun)}"


def remaining(seconds: float, completed: float, total: float | None) -> float | None:
    """The seconds that are left if the rest goes on like all that is done; None if nothing is."""
    return seconds * (total - completed) / completed if completed and total is not None else None


def duration(seconds: float) -> str:
    """A duration in readable form: ``8 s``, ``4 min 10 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")


class RecordingReporter:
    """Hands everything on to another reporter and keeps the warnings, in a list or by ``keep``."""

    def __init__(self, reporter: Reporter, keep: Callable[[str], None] | None = None) -> None:
        self._reporter = reporter
        self.task, self.board, self.note = reporter.task, reporter.board, reporter.note
        self.warnings: list[str] = []
        self._keep = keep or self.warnings.append

    def warn(self, text: str) -> None:
        """Keep a warning and hand it on."""
        self._keep(text)
        self._reporter.warn(text)
