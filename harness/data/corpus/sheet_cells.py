"""The cells that the XML of a sheet holds, counted without regard to what the sheet declares of itself.

A sheet may state its dimension, and programs that write one in parts leave it stale; its rows and cells may
be in any order. Libraries rely on both, and leave out what does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

MOST_CELLS = 50_000_000
"""A sheet whose rows, filled to its last column, have more cells than this is refused."""
_PLACE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")


@dataclass(frozen=True, slots=True)
class SheetCells:
    """How many cells hold something, in how many rows and up to which column.

    ``in_order``: every row is below the one before it, and every cell right of the one before it.
    """

    filled: int
    rows: int
    width: int
    in_order: bool


def cells_in_file(book: Any, sheet: Any) -> SheetCells:
    """Count the cells of a sheet of a workbook that openpyxl has opened as read-only.

    Raises ValueError for a cell whose name is none, and for a sheet of more than MOST_CELLS cells.
    """
    filled = rows = width = last_row = 0
    in_order = True
    for places in _rows(book, sheet):
        last_column = 0
        for row, column, holds_something in places:
            # the row of a cell may be another than the row that it stands in
            in_order &= row >= last_row if last_column else row > last_row
            in_order &= column > last_column and row == places[0][0]
            last_row, last_column = row, column
            filled += holds_something
            if holds_something:
                width = max(width, column)
        rows += any(holds_something for _, _, holds_something in places)
        if rows * width > MOST_CELLS:
            raise ValueError(
                f"sheet {sheet.title!r} is {width:,} columns wide, which in {rows:,} rows and more are over "
                f"{MOST_CELLS:,} cells"
            )
    return SheetCells(filled, rows, width, in_order)


def _rows(book: Any, sheet: Any) -> Iterator[list[tuple[int, int, bool]]]:
    """Row, column and whether it holds something, of every cell of each row element, in the file's order."""
    from openpyxl.xml.functions import iterparse

    row = 0
    # openpyxl has found out by now which part of the archive the sheet is
    with book._archive.open(sheet._worksheet_path) as source:
        for _, element in iterparse(source):
            # most are cells and values: the quick look first
            if element.tag[-3:] != "row" or _name(element) != "row":
                continue
            row = int(float(element.get("r", row + 1)))
            places, column = [], 0
            for cell in element:
                at, column = _place(cell.get("r"), row, column + 1)
                places.append((at, column, _holds_something(cell, sheet._shared_strings)))
            element.clear()
            yield places


def _place(name: str | None, row: int, column: int) -> tuple[int, int]:
    """Row and column of a cell by its name, such as B7; those given where it has none."""
    if name is None:
        return row, column
    match = _PLACE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name[:40]!r} is no name of a cell")
    return int(match[2]), _column(match[1])


@cache
def _column(letters: str) -> int:
    """The number of a column, from 1, by its one to three letters."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _holds_something(cell: Any, shared: Any) -> bool:
    """Whether the value of a cell is more than white space; a formula alone is no value."""
    kind = cell.get("t", "n")
    for part in cell:
        name = _name(part)
        if name == "v" and kind != "inlineStr":
            text = part.text or ""
            return bool((str(shared[int(text)]) if kind == "s" and text else text).strip())
        if name == "is" and kind == "inlineStr":
            return any(_text_in(part))
    return False


def _text_in(element: Any) -> Iterator[str]:
    """The words of a text within a cell, without those that say how it is pronounced."""
    for part in element:
        if _name(part) == "t":
            yield (part.text or "").strip()
        elif _name(part) == "r":
            yield from _text_in(part)


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
