"""The tables of a folder of results, as rows of text with the apostrophes of spreadsheets taken off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.report.read import no_result
from harness.report.stored import Row, read_record, read_rows

NEEDED = ("summary", "per_query")
# Ranks further down are not shown, and rankings are by far the longest table.
DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one folder by their names; each is read when it is first asked for."""

    name: str
    record: Mapping[str, Any]
    folder: Path
    _rows: dict[str, list[Row] | None] = field(default_factory=dict)

    def __getitem__(self, table: str) -> list[Row]:
        """The rows of one table; none where its file is missing. Raises HarnessError for a damaged one."""
        return self._read(table) or []

    def __contains__(self, table: str) -> bool:
        return self._read(table) is not None

    def _read(self, table: str) -> list[Row] | None:
        if table not in self._rows:
            try:
                rows = read_rows(self.folder, table, _is_shown if table == "rankings" else None)
            except FileNotFoundError:
                rows = None
            if table == "rankings":
                for row in rows or ():
                    del row["snippet"]
            self._rows[table] = rows
        return self._rows[table]


def read_tables(folder: Path, name: str = "") -> Tables:
    """Open a folder of results, called ``name`` (default: as the folder).

    Raises HarnessError where it is none or a file that every result has cannot be read.
    """
    try:
        record = read_record(folder)
        rows: dict[str, list[Row] | None] = {table: read_rows(folder, table) for table in NEEDED}
    except FileNotFoundError as error:
        raise no_result(folder, error) from None
    return Tables(name or folder.resolve().name, record, folder, rows)


def _is_shown(row: Row) -> bool:
    return int(row["rank"]) <= DEEPEST
