"""Workbooks (XLSX): every sheet is a page of tab-separated rows below its title."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from harness.corpus.extracted import reading, tab_separated

WORKBOOK_SUFFIXES = (".xlsx", ".xlsm")
# The title of a sheet above its rows; chunk/rows.py knows it.
TITLE = "Sheet: "


def read_workbook(path: Path) -> list[str]:
    """The text of every sheet that holds something: its title, then a line a row, tabs between cells.

    Cells have the values that were computed when the workbook was saved, as Python writes them; dates are
    ISO 8601. Cells with tabs, quotes or line ends are quoted as in CSV. Rows and columns that are empty at
    the end are left out. Raises CorpusError for a file that is no workbook, and where openpyxl is missing.
    """
    remedy = "Save it anew as .xlsx, or as .csv."
    with reading(path, "a workbook", "openpyxl", "xlsx", remedy):
        from openpyxl import load_workbook

        book = load_workbook(path, read_only=True, data_only=True)
        sheets = [(sheet.title, list(_rows(sheet))) for sheet in book.worksheets]
        book.close()
    return [f"{TITLE}{' '.join(title.split())}\n{tab_separated(rows)}" for title, rows in sheets if rows]


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
