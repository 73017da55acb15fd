"""Workbooks (XLSX): every sheet is a page of tab-separated rows below its title."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.corpus.reading import refuse_special
from harness.errors import CorpusError

WORKBOOK_SUFFIXES = (".xlsx", ".xlsm")
# Bumped whenever the same workbook would yield another text.
_FORMAT = 2
# The title of a sheet above its rows; chunk/rows.py knows it.
TITLE = "Sheet: "
# up to here a double holds every whole number
_EXACT = 2**53


def library_of(path: Path) -> list[str]:
    """What reads a workbook, with its version, for cache keys; empty for other files."""
    if path.suffix.lower() not in WORKBOOK_SUFFIXES:
        return []
    try:
        return [f"openpyxl {version('openpyxl')} sheets-{_FORMAT}"]
    except PackageNotFoundError:
        return []


def read_workbook(path: Path) -> list[str]:
    """The text of every sheet that holds something: its title, then a line a row, tabs between cells.

    Cells have the values that were computed when the workbook was saved, as Python writes them, but whole
    numbers without ``.0``; dates are ISO 8601. Cells with tabs, quotes or line ends are quoted as in CSV.
    Rows and columns that are empty at the end are left out. Raises CorpusError for a file that is no
    workbook, for formulas that were never computed, and where openpyxl is missing.
    """
    refuse_special(path)
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise CorpusError(f"{path}: reading workbooks takes openpyxl: pip install harness[xlsx].") from error
    try:
        book = load_workbook(path, read_only=True, data_only=True)
        blank: set[tuple[str, str]] = set()
        sheets = [(sheet.title, list(_rows(sheet, blank))) for sheet in book.worksheets]
        book.close()
        formulas = _formulas_in(load_workbook(path, read_only=True), blank) if blank else []
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, EOFError) as error:
        raise CorpusError(
            f"{path}: cannot be read as a workbook ({type(error).__name__}: {error}). Save it anew as .xlsx, "
            "or as .csv."
        ) from error
    if formulas:
        title, cell = formulas[0]
        more = f" and {len(formulas) - 1} more" if len(formulas) > 1 else ""
        raise CorpusError(
            f"{path}: the formula in cell {cell} of sheet {title!r}{more} has no value, because the program "
            "that wrote the file has not computed it. Open it in a spreadsheet program and save it."
        )
    return [f"{TITLE}{' '.join(title.split())}\n{_delimited(rows)}" for title, rows in sheets if rows]


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


def _formulas_in(book: Any, blank: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The sheet and name of every cell of ``blank`` that holds a formula, in order."""
    found = [
        (sheet.title, cell.coordinate)
        for sheet in book.worksheets
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f" and (sheet.title, cell.coordinate) in blank
    ]
    book.close()
    return found


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


def _delimited(rows: Sequence[Sequence[str]]) -> str:
    """Rows as tab-separated lines, all of one width but for empty ones."""
    width = max(max((i for i, cell in enumerate(row, 1) if cell), default=0) for row in rows)
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    for row in rows:
        if any(row):
            writer.writerow([*row, *[""] * (width - len(row))][:width])
        else:
            out.write("\n")
    return out.getvalue()
