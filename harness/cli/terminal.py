"""Output in the terminal: progress and warnings on stderr, results on stdout.

Every text passes through `harness.values.text.characters`, and no console reads markup or emoji into it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Task as BarTask
from rich.table import Column, Table
from rich.text import Text

from harness import report, store
from harness.values import (
    Board,
    Hidden,
    LinesTask,
    Task,
    Unbreakable,
    duration,
    give_output_up,
    printable,
    printable_lines,
    remaining,
    without_controls,
)

_ROOM_FOR_BARS = 10


class _Console(Console):
    """Shows text letter for letter, and carries on where its reader has left."""

    def __init__(self, stderr: bool = False, quiet: bool = False) -> None:
        file = cast(TextIO, Unbreakable(sys.stderr)) if stderr and sys.stderr else None
        super().__init__(file=file, stderr=stderr, quiet=quiet, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Drop what follows: the command still has to do its work and return its exit code."""
        give_output_up()


class _Remaining(ProgressColumn):
    """The time that is left, from the first unit that is done on."""

    max_refresh = 0.5

    def render(self, task: BarTask) -> Text:
        left = None if task.finished else remaining(task.elapsed or 0.0, task.completed, task.total)
        return Text("" if left is None else f"{duration(left)} left", style="progress.remaining")


class TerminalReporter:
    """Shows tasks as bars on stderr; without a terminal, as a line per step and one a minute."""

    def __init__(self, quiet: bool = False, console: Console | None = None) -> None:
        self._console = console or _Console(stderr=True, quiet=quiet)
        self._progress = Progress(
            TextColumn("{task.description:>18}", markup=False),
            BarColumn(bar_width=30 if self._console.width >= 110 else 10),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _Remaining(),
            # the only column that may wrap: on a narrow terminal the figures stay whole
            TextColumn("{task.fields[text]}", markup=False, table_column=Column()),
            console=self._console,
            transient=True,
        )
        self._open = 0

    @contextmanager
    def task(self, name: str, total: int) -> Iterator[Task]:
        """Show a bar for the length of the with block."""
        if not self._console.is_terminal:
            with closing(LinesTask(name, total, self.note)) as lines:
                yield lines
            return
        shown = not self._open
        if shown:
            self._progress.start()
        self._open += 1
        bar = _Bar(self._progress, name, total)
        try:
            yield bar
        finally:
            bar.close()
            self._open -= 1
            if shown:
                self._progress.stop()

    @contextmanager
    def board(self, columns: Sequence[str]) -> Iterator[Board]:
        """Show a table that fills, the bars of tasks below it; without a terminal, the bars alone."""
        if not self._console.is_terminal or self._console.quiet or self._open:
            yield Hidden()
            return
        board = LiveBoard(columns)
        # counts as an open task, so that the bars do not start a display of their own
        self._open += 1
        try:
            with Live(
                Group(board, self._progress), console=self._console, transient=True, refresh_per_second=4
            ):
                yield board
        finally:
            self._open -= 1

    def note(self, text: str) -> None:
        """Print a line."""
        self._print(text)

    def warn(self, text: str) -> None:
        """Print a line that stands out."""
        self._print(f"warning: {text}", style="yellow")

    def _print(self, text: str, style: str | None = None) -> None:
        self._console.print(Text(printable_lines(text)), style=style)


class LiveBoard:
    """A table that is redrawn while it fills; of more rows than the window holds, the latest."""

    live = True

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = tuple(columns)
        self._rows: dict[str, dict[str, str]] = {}

    def put(self, row: str, cells: Mapping[str, str]) -> None:
        """Add a row, or change cells of one."""
        self._rows[row] = {**self._rows.get(row, {}), **cells}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it, cut to the window."""
        if not self._rows:
            return
        room = max(1, options.size.height - _ROOM_FOR_BARS)
        latest = list(self._rows.items())[-room:]
        hidden = len(self._rows) - len(latest)
        table = Table(box=SIMPLE_HEAD, padding=(0, 1), caption=f"{hidden} more above" if hidden else None)
        for i, column in enumerate(self._columns):
            # a name that is too long is wrapped: truncated, it could be any of several settings
            table.add_column(
                column,
                justify="right" if i else "left",
                no_wrap=i > 0,
                overflow="ellipsis" if i else "fold",
                min_width=5 if i else 20,
            )
        for name, cells in latest:
            figures = (Text(printable(cells.get(column, "–"))) for column in self._columns[1:])
            table.add_row(Text(printable(name)), *figures)
        yield table


class _Bar:
    def __init__(self, progress: Progress, name: str, total: int) -> None:
        self._progress = progress
        self._id = progress.add_task(printable(name), total=total, text="")

    def advance(self, steps: int = 1) -> None:
        """Move the bar."""
        self._progress.advance(self._id, steps)

    def describe(self, text: str) -> None:
        """Show ``text`` next to the bar, such as the money spent."""
        self._progress.update(self._id, text=printable(text))

    def close(self) -> None:
        """Take the bar off the screen."""
        self._progress.remove_task(self._id)


def print_error(text: str) -> None:
    """An error that ends the command."""
    _Console(stderr=True).print(Text(f"error: {printable_lines(text)}"), style="bold red", soft_wrap=True)


def print_line(text: str) -> None:
    """A line of results."""
    _Console().print(Text(printable(text)), soft_wrap=True)


def write_out(text: str) -> None:
    """Text for another program to read: as it is, except for control characters."""
    sys.stdout.write(without_controls(text))


def fitting_summary(
    name: str, rows: Sequence[report.SummaryRow], level: float, width: int, headline: str
) -> report.Table:
    """The summary with as many measures as fit, on one line per row if that is possible at all."""
    others = report.other_measures(rows, headline)
    tables = [
        report.summary_table(name, rows, level, headline, others[:shown])
        for shown in range(len(others), -1, -1)
    ]
    for measure_width in (report.one_line_width, report.two_line_width):
        fitting = [table for table in tables if measure_width(table) <= width]
        if fitting:
            return fitting[0]
    return tables[-1]


def show(*parts: report.Part) -> None:
    """Tables and sentences as plain text, as wide as the terminal allows."""
    console = _Console()
    for part in parts:
        # cleaned as it is laid out
        text = report.render([part], "text", console.width)
        if isinstance(part, tuple):
            console.print(Text(text), soft_wrap=True)
            continue
        title, _, rest = text.partition("\n")
        console.print(Text(title), style="bold", soft_wrap=True)
        console.print(Text(rest), soft_wrap=True)


def write_parts(parts: Sequence[report.Part], form: str, output: Path | None) -> None:
    """Print parts in a format, or write them to a file; as CSV only the tables."""
    if output is None and form == "text":
        show(*parts)
    elif form == "csv":
        for table in (part for part in parts if isinstance(part, report.Table)):
            rows = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
            write_lines(report.to_csv(table.columns, rows), output)
    else:
        write_lines(report.render(parts, form), output)


def width() -> int:
    """How many cells wide the terminal is; 80 where there is none."""
    return _Console().width


def write_lines(text: str, output: Path | None) -> None:
    """Text for another program, to standard output or to a file; for a file, stderr names it."""
    if output is None:
        write_out(text)
    else:
        store.write_text(output, text)
        # not on standard output, where figures of the same command may go
        _Console(stderr=True).print(Text(printable(f"written: {output}")), soft_wrap=True)


def print_facts(title: str, rows: Sequence[tuple[str, Any]]) -> None:
    """Names and values, one a line."""
    print_table(title, ("what", "value"), rows, header=False)


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], header: bool = True
) -> None:
    """A plain table; numbers are on the right."""
    table = Table(title=Text(printable(title)), title_justify="left", show_header=header)
    for i, column in enumerate(columns):
        numeric = bool(rows) and isinstance(rows[0][i], int | float)
        table.add_column(Text(printable(column)), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(str(value))) for value in row))
    _Console().print(table)
