"""A table as plain values, built once; and its plain text, which stays readable in a narrow window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rich.cells import cell_len

from harness.values import printable, wrapped

_GAP = "  "
_NARROW = " "


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text, one row a tuple as long as ``columns``; the first ``names`` columns say what a row is.

    Columns whose index is in ``left`` are on the left, all others (numbers) on the right. ``notes`` are
    sentences that belong below. ``prose``: how many of the last columns hold text that may run over
    lines.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    left: frozenset[int] = frozenset({0})
    notes: tuple[str, ...] = ()
    prose: int = 0

    def __post_init__(self) -> None:
        """Refuse rows of another length than the head."""
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of {self.title!r} is not as long as its {len(self.columns)} columns")


def in_words(table: Table, names: Mapping[str, str]) -> Table:
    """The table with its settings and routes called as ``names`` has them."""
    named = [column in ("setting", "against", "stage") for column in table.columns]
    rows = (zip(named, row, strict=True) for row in table.rows)
    return replace(
        table,
        rows=tuple(
            tuple(names.get(cell, cell) if is_named else cell for is_named, cell in row) for row in rows
        ),
    )


def to_text(table: Table, width: int | None = None) -> str:
    """One line per row where that fits into ``width`` cells (None: any width), else two.

    Of two lines the first holds what the row is called, the second its figures: names of settings grow long,
    and a figure that is broken in two cannot be read. Prose, notes and long names are wrapped; figures that
    do not fit next to each other continue on another line.
    """
    plain, prose = _apart(_plain(table))
    gaps = [gap for gap in (_GAP, _NARROW) if width is None or one_line_width(plain, gap) <= width]
    if width is None or gaps:
        lines = _one_line(plain, prose, width, gaps[0])
    else:
        lines = _two_lines(plain, prose, width)
    notes = [line for note in plain.notes for line in _wrapped(note, width)]
    return "\n".join([plain.title, *lines, *notes]) + "\n"


def one_line_width(table: Table, gap: str = _NARROW) -> int:
    """How many cells wide the table is with one line per row, with ``gap`` between its columns."""
    widths = _widths(_plain(table))
    return sum(widths) + len(gap) * (len(widths) - 1)


def two_line_width(table: Table) -> int:
    """How many cells wide the figures are where names are on lines of their own."""
    widths = _widths(_plain(table))[table.names :]
    return sum(widths) + len(_GAP) * len(widths)


def _plain(table: Table) -> Table:
    return replace(
        table,
        title=printable(table.title),
        columns=tuple(map(printable, table.columns)),
        rows=tuple(tuple(map(printable, row)) for row in table.rows),
        notes=tuple(map(printable, table.notes)),
    )


def _apart(table: Table) -> tuple[Table, list[list[str]]]:
    """The table without its columns of prose, and for every row its lines of prose, if there are any.

    The first prose speaks for itself; any other is named by its column.
    """
    if not table.prose:
        return table, [[] for _ in table.rows]
    at = len(table.columns) - table.prose
    names = ["", *(f"{name}: " for name in table.columns[at + 1 :])]
    figures = replace(table, columns=table.columns[:at], rows=tuple(row[:at] for row in table.rows), prose=0)
    return figures, [[name + text for name, text in zip(names, row[at:], strict=True)] for row in table.rows]


def _wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    if not text or width is None:
        return [indent + text] if text else []
    return wrapped(text, max(width, 20), indent)


def _paragraphs(texts: list[str], width: int | None) -> list[str]:
    return [line for text in texts for line in _wrapped(text, width, 2 * _GAP)]


def _one_line(table: Table, prose: list[list[str]], width: int | None, gap: str) -> list[str]:
    widths = _widths(table)
    sides = [i in table.left for i in range(len(widths))]
    lines = [_line(table.columns, widths, sides, gap), "─" * one_line_width(table, gap)]
    for row, texts in zip(table.rows, prose, strict=True):
        lines += [_line(row, widths, sides, gap), *_paragraphs(texts, width)]
    return lines


def _two_lines(table: Table, prose: list[list[str]], width: int) -> list[str]:
    """Names on lines of their own; figures that do not fit go on in a further line, as in the head."""
    sides = [i in table.left for i in range(len(table.columns))]
    widths = _widths(table)
    lines = _wrapped(" · ".join(table.columns[: table.names]), width)
    groups = _fitting(table, width)

    def figures(cells: tuple[str, ...]) -> list[str]:
        return [_GAP + _line(cells[a:b], widths[a:b], sides[a:b], _GAP) for a, b in groups]

    lines += figures(table.columns)
    lines.append("─" * max(map(cell_len, lines)))
    last = None
    for row, texts in zip(table.rows, prose, strict=True):
        name = " · ".join(row[: table.names])
        if name != last:
            lines += _wrapped(name, width)
        last = name
        lines += [*figures(row), *_paragraphs(texts, width)]
    return lines


def _fitting(table: Table, width: int) -> list[tuple[int, int]]:
    """The columns of figures that are on one line together, as (first, end)."""
    widths, count = _widths(table), len(table.columns)
    groups, begin, used = [], table.names, len(_GAP)
    for at in range(table.names, count):
        needed = widths[at] + (len(_GAP) if at > begin else 0)
        if at > begin and used + needed > width:
            groups.append((begin, at))
            begin, used, needed = at, len(_GAP), widths[at]
        used += needed
    return [*groups, (begin, count)]


def _widths(table: Table) -> list[int]:
    return [max(map(cell_len, column)) for column in zip(table.columns, *table.rows, strict=True)]


def _line(cells: tuple[str, ...], widths: list[int], left: list[bool], gap: str) -> str:
    padded = []
    for cell, width, on_left in zip(cells, widths, left, strict=True):
        space = " " * (width - cell_len(cell))
        padded.append(cell + space if on_left else space + cell)
    return gap.join(padded).rstrip()
