"""What the user sees in the terminal: progress and warnings on stderr, results on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table

from harness.progress import Task
from harness.report import SummaryRow


class TerminalReporter:
    """Shows tasks as bars on stderr; without a terminal, one line when a task ends."""

    def __init__(self, quiet: bool = False) -> None:
        self._console = Console(stderr=True, quiet=quiet)
        self._progress = Progress(
            TextColumn("{task.description:>18}"),
            BarColumn(bar_width=30 if self._console.width >= 110 else 10),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(elapsed_when_finished=False),
            # the only column that may wrap: on a narrow terminal the figures stay whole
            TextColumn("{task.fields[text]}", markup=False, table_column=Column()),
            console=self._console,
            transient=True,
        )
        self._open = 0

    @contextmanager
    def task(self, name: str, total: int) -> Iterator[Task]:
        """Show a bar for the length of the with block."""
        if not self._open:
            self._progress.start()
        self._open += 1
        bar = _Bar(self._progress, name, total)
        try:
            yield bar
        finally:
            bar.close()
            self._open -= 1
            if not self._open:
                self._progress.stop()

    def note(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, markup=False, highlight=False)

    def warn(self, text: str) -> None:
        """Print a line that stands out."""
        self._console.print(f"warning: {text}", style="yellow", markup=False, highlight=False)


class _Bar:
    def __init__(self, progress: Progress, name: str, total: int) -> None:
        self._progress = progress
        self._id = progress.add_task(name, total=total, text="")

    def advance(self, steps: int = 1) -> None:
        """Move the bar."""
        self._progress.advance(self._id, steps)

    def describe(self, text: str) -> None:
        """Show ``text`` beside the bar, such as the money spent."""
        self._progress.update(self._id, text=text)

    def close(self) -> None:
        """Take the bar off the screen."""
        self._progress.remove_task(self._id)


def print_error(text: str) -> None:
    """An error that ends the command."""
    Console(stderr=True).print(
        f"error: {text}", style="bold red", markup=False, highlight=False, soft_wrap=True
    )


def print_line(text: str) -> None:
    """A line of results."""
    Console().print(text, markup=False, highlight=False, soft_wrap=True)


def write_out(text: str) -> None:
    """Text for another program to read, as it is."""
    sys.stdout.write(text)


def print_summary(name: str, rows: Sequence[SummaryRow], level: float = 0.95) -> None:
    """One line per setting and stage, best first by the first measure; it alone with interval and splits.

    Measures that do not fit the width of the terminal are left to summary.csv, and this is said.
    """
    console = Console()
    lines: dict[tuple[str, str], dict[tuple[str, str], SummaryRow]] = {}
    for row in rows:
        lines.setdefault((row.setting, row.stage), {})[row.measure, row.split] = row
    first, *others = dict.fromkeys(row.measure for row in rows)
    ordered = sorted(lines.items(), key=lambda item: -_mean(item[1][first, "all"]))
    width = 57 + max(len(setting) for setting, _ in lines) + len(first)
    shown = []
    for measure in others:
        width += len(measure) + 3
        if width <= console.width:
            shown.append(measure)
    judge = f", graded by {rows[0].judge}" if rows[0].judge else ""
    table = Table(
        title=f"{name}: means over queries{judge}", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1)
    )
    table.add_column("setting", overflow="fold")
    table.add_column("stage", no_wrap=True)
    for column in (first, f"{level:.0%} interval", "train", "validation", *shown):
        table.add_column(column, justify="right", no_wrap=True)
    for (setting, stage), cells in ordered:
        head = cells[first, "all"]
        split = [_number(cells[first, name].mean) for name in ("train", "validation")]
        more = [_number(cells[measure, "all"].mean) for measure in shown]
        table.add_row(setting, stage, _number(head.mean), _interval(head), *split, *more)
    console.print(table)
    overall = ordered[0][1][first, "all"]
    for line in _footnotes(overall, others, shown, first):
        console.print(line, markup=False, highlight=False)


def _footnotes(row: SummaryRow, others: Sequence[str], shown: Sequence[str], first: str) -> list[str]:
    notes = [f"{row.n_queries} {'query counts' if row.n_queries == 1 else 'queries count'} in {first}."]
    if row.n_unanswerable:
        left = "is" if row.n_unanswerable == 1 else "are"
        notes[0] += f" {row.n_unanswerable} without relevant text {left} left out."
    if row.n_failed:
        notes[0] += f" {row.n_failed} got no ranking and score 0, or have text without a grade."
    if len(shown) < len(others):
        notes.append(f"More in summary.csv: {', '.join(m for m in others if m not in shown)}.")
    return notes


def print_facts(title: str, rows: Sequence[tuple[str, Any]]) -> None:
    """Names and values, one a line."""
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column("what")
    table.add_column("value", overflow="fold")
    for name, value in rows:
        table.add_row(name, str(value))
    Console().print(table)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A plain table; numbers stand on the right."""
    table = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        numeric = bool(rows) and isinstance(rows[0][i], int | float)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    Console().print(table)


def _mean(row: SummaryRow) -> float:
    return -1.0 if row.mean is None else row.mean


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(row: SummaryRow) -> str:
    if row.ci_low is None or row.ci_high is None:
        return "–"
    return f"{row.ci_low:.3f}–{row.ci_high:.3f}"
