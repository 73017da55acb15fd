"""Workbooks (XLSX): every sheet is a page of tab-separated rows below its title."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import chain
from pathlib import Path
from typing import Any

from harness.data.corpus.document_files import reading, tab_separated
from harness.data.corpus.sheet_cells import cells_in_file
from harness.values import CorpusError

# The title of a sheet above its rows; chunk/rows.py knows it.
TITLE = "Sheet: "
# up to here a double holds every whole number
_EXACT = 2**53


def read_workbook(path: Path) -> list[str]:
    """The text of every sheet, '' for an empty one: its title, then a line per row, tabs between cells.

    Cells have the values that were computed when the workbook was saved, as Python writes them, but whole
    numbers without ``.0``; dates are ISO 8601. Cells with tabs, quotes or line ends are quoted as in CSV.
    Rows and columns that are empty at the end are left out. A dimension that a sheet declares counts for
    nothing; rows and cells may be in any order. Raises CorpusError for a file that is no workbook, for
    formulas that were never computed, where fewer cells can be read than the file holds, and where openpyxl
    is missing.
    """
    remedy = "Save it again as .xlsx, or as .csv."
    with reading(path, "a workbook", "openpyxl", "xlsx", remedy):
        from openpyxl import load_workbook

        book = load_workbook(path, read_only=True, data_only=True)
        in_file = [cells_in_file(book, sheet) for sheet in book.worksheets]
        streamed = all(cells.in_order for cells in in_file)
        if not streamed:
            # read as a stream, a cell that is out of order is left out; held in memory, each has its place
            book.close()
            book = load_workbook(path, data_only=True)
        blank: set[tuple[str, str]] = set()
        sheets = [(sheet.title, list(_rows(sheet, blank))) for sheet in _sheets(book, streamed)]
        book.close()
        formulas = _formulas_in(load_workbook(path, read_only=streamed), streamed, blank) if blank else []
    if formulas:
        title, cell = formulas[0]
        more = f" and {len(formulas) - 1} more" if len(formulas) > 1 else ""
        raise CorpusError(
            f"{path}: the formula in cell {cell} of sheet {title!r}{more} has no value, because the program "
            "that wrote the file has not computed it. Open it in a spreadsheet program and save it."
        )
    for (title, rows), cells in zip(sheets, in_file, strict=True):
        _refuse_lost_cells(path, title, sum(map(bool, chain.from_iterable(rows))), cells.filled)
    return [
        f"{TITLE}{' '.join(title.split())}\n{tab_separated(rows)}" if rows else "" for title, rows in sheets
    ]


def _sheets(book: Any, streamed: bool) -> Iterator[Any]:
    """The sheets; a streamed one is read to its end, whatever dimension it declares."""
    for sheet in book.worksheets:
        if streamed:
            sheet.reset_dimensions()
        yield sheet


def _refuse_lost_cells(path: Path, title: str, read: int, filled: int) -> None:
    """Raise CorpusError unless as many cells were read as the file holds."""
    if read != filled:
        raise CorpusError(
            f"{path}: sheet {title!r} holds {filled:,} cells with a value, and {read:,} of them can be read; "
            "there may be two cells of one name. Open it in a spreadsheet program, check it, and save it."
        )


def _rows(sheet: Any, blank: set[tuple[str, str]]) -> Iterator[list[str]]:
    """The rows up to the last that holds something; adds to ``blank`` what may be formulas without a value.

    A cell whose formula came to an empty text is marked as text.
    """
    waiting = 0
    for row in sheet.iter_rows():
        cells = [_cell(cell.value) for cell in row]
        blank.update(
            (sheet.title, cell.coordinate)
            for cell in row
            if cell.value is None and cell.data_type == "n" and hasattr(cell, "coordinate")
        )
        if not any(cells):
            waiting += 1
            continue
        yield from ([] for _ in range(waiting))
        waiting = 0
        yield cells


def _formulas_in(book: Any, streamed: bool, blank: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The sheet and name of every cell of ``blank`` that holds a formula, in order."""
    formulas = [
        (sheet.title, cell.coordinate)
        for sheet in _sheets(book, streamed)
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f" and (sheet.title, cell.coordinate) in blank
    ]
    book.close()
    return formulas


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        at_midnight = value.time() == time()
        return value.date().isoformat() if at_midnight else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    # the writer of CSV leaves lone carriage returns unquoted
    return str(value).strip().replace("\r\n", "\n").replace("\r", "\n")
