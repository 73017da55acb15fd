"""Progress below the cell of a notebook: a bar for each step, which ends as one line."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

from harness.cli.terminal import TerminalReporter
from harness.values import Board, Hidden, Reporter, Task, duration, printable, printable_lines, remaining

_EVERY = 0.25


def progress_shown() -> Reporter:
    """The reporter that fits where Python runs: in a notebook, or in a terminal."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell else None
    return NotebookReporter() if running is not None and hasattr(running, "kernel") else TerminalReporter()


class NotebookReporter:
    """Shows tasks as bars; needs nothing but the display of the notebook, no widgets."""

    @contextmanager
    def task(self, name: str, total: int) -> Iterator[Task]:
        """Show a bar for the length of the with block, and then how long it took."""
        bar = _Bar(name, total)
        try:
            yield bar
        finally:
            bar.close()

    @contextmanager
    def board(self, columns: Sequence[str]) -> Iterator[Board]:
        """Show no table: the bars of its steps are enough."""
        yield Hidden()

    def note(self, text: str) -> None:
        """Print a line."""
        sys.stdout.write(f"{printable_lines(text)}\n")

    def warn(self, text: str) -> None:
        """Print a line that stands out."""
        sys.stderr.write(f"warning: {printable_lines(text)}\n")


class _Bar:
    def __init__(self, name: str, total: int) -> None:
        from IPython.display import display

        self._name, self._total, self._done, self._text = printable(name), total, 0, ""
        self._begun = self._drawn = time.monotonic()
        self._shown: Any = display(self._drawing(0.0), raw=True, display_id=True)

    def advance(self, steps: int = 1) -> None:
        """Move the bar; it is drawn a few times a second at most."""
        self._done += steps
        now = time.monotonic()
        if now - self._drawn >= _EVERY:
            self._drawn = now
            self._shown.update(self._drawing(now - self._begun), raw=True)

    def describe(self, text: str) -> None:
        """Show ``text`` next to the bar from the next drawing on."""
        self._text = printable(text)

    def close(self) -> None:
        """Draw how it ended: how many, in which time."""
        seconds = time.monotonic() - self._begun
        took = f" in {duration(seconds)}" if seconds >= 1 else ""
        part = "" if self._done >= self._total else f"{self._done:,} of "
        line = f"{self._name}: {part}{self._total:,}{took} {self._text}".rstrip()
        self._shown.update({"text/plain": line, "text/html": escape(line)}, raw=True)

    def _drawing(self, seconds: float) -> dict[str, str]:
        left = remaining(seconds, self._done, self._total)
        about = "" if left is None else f", about {duration(left)} left"
        line = f"{self._name}: {self._done:,} of {self._total:,}{about} {self._text}".rstrip()
        bar = f'<progress value="{self._done}" max="{max(self._total, 1)}"></progress>'
        return {"text/plain": line, "text/html": f"{bar} {escape(line)}"}
