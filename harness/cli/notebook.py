"""Progress below the cell of a notebook: a bar for each step, which ends as one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import escape
from typing import Any

from harness.cli.terminal import TerminalReporter
from harness.values import LinesTask, Reporter, Task, printable


def progress_shown() -> Reporter:
    """The reporter that fits where Python runs: in a notebook, or in a terminal."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell else None
    return NotebookReporter() if running is not None and hasattr(running, "kernel") else TerminalReporter()


class NotebookReporter(TerminalReporter):
    """Shows tasks as bars; needs nothing but the display of the notebook, no widgets."""

    @contextmanager
    def task(self, name: str, total: int) -> Iterator[Task]:
        """Show a bar for the length of the with block, and then how long it took."""
        with closing(_Bar(name, total)) as bar:
            yield bar


class _Bar(LinesTask):
    every = 0.25

    def __init__(self, name: str, total: int) -> None:
        from IPython.display import display

        super().__init__(name, total, lambda line: self._shown.update(self._drawing(line), raw=True))
        self._shown: Any = display(self._drawing(self.standing()), raw=True, display_id=True)

    def close(self) -> None:
        """Draw how it ended: how many, in which time."""
        line = printable(f"{self.ending()} {self._text}".rstrip())
        self._shown.update({"text/plain": line, "text/html": escape(line)}, raw=True)

    def _drawing(self, line: str) -> dict[str, str]:
        bar = f'<progress value="{self._done}" max="{max(self._total, 1)}"></progress>'
        return {"text/plain": printable(line), "text/html": f"{bar} {escape(printable(line))}"}
