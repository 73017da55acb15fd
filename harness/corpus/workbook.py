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
# The title of a sheet above its rows; chunk/rows.py knows it.
TITLE = "Sheet: "


def library_of(path: Path) -> list[str]:
    """The library that reads a workbook, with its version, for cache keys; empty for other files."""
    if path.suffix.lower() not in WORKBOOK_SUFFIXES:
        return []
    try:
        return [f"openpyxl {version('openpyxl')}"]
    except PackageNotFoundError:
        return []


def read_workbook(path: Path) -> list[str]:
    """The text of every sheet that holds something: its title, then a line a row, tabs between cells.

    Cells have the values that were computed when the workbook was saved, as Python writes them; dates are
    ISO 8601. Cells with tabs, quotes or line ends are quoted as in CSV. Rows and columns that are empty at
    the end are left out. Raises CorpusError for a file that is no workbook, and where openpyxl is missing.
    """
    refuse_special(path)
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise CorpusError(f"{path}: reading workbooks takes openpyxl: pip install harness[xlsx].") from error
    try:
        book = load_workbook(path, read_only=True, data_only=True)
        sheets = [(sheet.title, list(_rows(sheet))) for sheet in book.worksheets]
        book.close()
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, EOFError) as error:
        raise CorpusError(
            f"{path}: cannot be read as a workbook ({type(error).__name__}: {error}). Save it anew as .xlsx, "
            "or as .csv."
        ) from error
    return [f"{TITLE}{' '.join(title.split())}\n{_delimited(rows)}" for title, rows in sheets if rows]


def _rows(sheet: Any) -> Iterator[list[str]]:
    """The rows up to the last that holds something."""
    waiting = 0
    for row in sheet.iter_rows(values_only=True):
        cells = [_cell(value) for value in row]
        if not any(cells):
            waiting += 1
            continue
        yield from ([] for _ in range(waiting))
        waiting = 0
        yield cells


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        at_midnight = value.time() == time()
        return value.date().isoformat() if at_midnight else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).strip()


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
