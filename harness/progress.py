"""How the pipeline tells what it is doing without printing: the caller passes a reporter in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, runtime_checkable


class Task(Protocol):
    """One piece of long work that is under way."""

    def advance(self, steps: int = 1) -> None:
        """Say that ``steps`` more units are done."""


@runtime_checkable
class Describable(Protocol):
    """A progress task that can also show a line of text, such as the money spent."""

    def describe(self, text: str) -> None:
        """Show ``text`` beside the bar."""


class Board(Protocol):
    """A table that fills while work goes on; ``live`` False: nobody sees it, so fill in nothing costly."""

    live: bool

    def put(self, row: str, cells: Mapping[str, str]) -> None:
        """Add a row, or change cells of one that stands; columns without a cell stay as they are."""


class Reporter(Protocol):
    """Receives progress, notes and warnings; the command line shows them, a library call drops them."""

    def task(self, name: str, total: int) -> AbstractContextManager[Task]:
        """Open a task of ``total`` units for the length of a with block."""

    def board(self, columns: Sequence[str]) -> AbstractContextManager[Board]:
        """Open a table of these columns, the first of which names the row, for the length of a with block."""

    def note(self, text: str) -> None:
        """Tell something worth knowing."""

    def warn(self, text: str) -> None:
        """Tell something the user should look at."""


class HiddenBoard:
    """A board that nobody sees."""

    live = False

    def put(self, row: str, cells: Mapping[str, str]) -> None:
        """Drop it."""


class _SilentTask:
    def advance(self, steps: int = 1) -> None:
        """Drop it."""


class Silent:
    """A reporter that drops everything but keeps the warnings, for tests and for use as a library."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    @contextmanager
    def task(self, name: str, total: int) -> Iterator[Task]:
        """Open a task that shows nothing."""
        yield _SilentTask()

    @contextmanager
    def board(self, columns: Sequence[str]) -> Iterator[Board]:
        """Open a table that nobody sees."""
        yield HiddenBoard()

    def note(self, text: str) -> None:
        """Keep a note."""
        self.notes.append(text)

    def warn(self, text: str) -> None:
        """Keep a warning."""
        self.warnings.append(text)


class Remembering:
    """Hands everything on to another reporter and keeps the warnings."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self.warnings: list[str] = []

    def task(self, name: str, total: int) -> AbstractContextManager[Task]:
        """Open a task of the other."""
        return self._reporter.task(name, total)

    def board(self, columns: Sequence[str]) -> AbstractContextManager[Board]:
        """Open a table of the other."""
        return self._reporter.board(columns)

    def note(self, text: str) -> None:
        """Hand a note on."""
        self._reporter.note(text)

    def warn(self, text: str) -> None:
        """Keep a warning and hand it on."""
        self.warnings.append(text)
        self._reporter.warn(text)
