"""The tables of a folder of results, as rows of text with the apostrophes of spreadsheets taken off."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.report.read import no_result
from harness.report.stored import Row, read_record, read_rows

NEEDED = ("summary", "per_query")
OPTIONAL = (
    "queries",
    "rankings",
    "judgments",
    "passages",
    "documents",
    "anchoring",
    "answerability",
    "costs",
    "waterfall",
    "label_sensitivity",
    "chunks",
    "prices",
)
# Ranks further down are not shown, and rankings are by far the longest table.
DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Tables:
    """``rows`` by the name of their file without ``.csv``; a file that is not there has no entry."""

    name: str
    record: Mapping[str, Any]
    rows: Mapping[str, list[Row]] = field(default_factory=dict)

    def __getitem__(self, table: str) -> list[Row]:
        """The rows of one table; none where its file is missing."""
        return self.rows.get(table, [])

    def __contains__(self, table: str) -> bool:
        return table in self.rows


def read_tables(folder: Path, name: str = "") -> Tables:
    """Read a folder of results, called ``name`` (default: as the folder).

    Raises HarnessError where it is none or a file cannot be read.
    """
    try:
        record = read_record(folder)
        rows = {table: read_rows(folder, table) for table in NEEDED}
    except FileNotFoundError as error:
        raise no_result(folder, error) from None
    for table in OPTIONAL:
        with suppress(FileNotFoundError):
            rows[table] = read_rows(folder, table, _is_shown if table == "rankings" else None)
    for row in rows.get("rankings", ()):
        del row["snippet"]
    return Tables(name or folder.resolve().name, record, rows)


def _is_shown(row: Row) -> bool:
    return int(row["rank"]) <= DEEPEST
