"""The tables of a folder of results, as rows of text with the apostrophes of spreadsheets taken off."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.report.cells import original

Row = dict[str, str]

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
        record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
        rows = {name: list(_rows(folder / f"{name}.csv")) for name in NEEDED}
    except FileNotFoundError as error:
        raise HarnessError(
            f"{folder} holds no results of a benchmark ({Path(error.filename).name} is missing). "
            f"Name a folder such as results/quickstart, written by harness bench."
        ) from None
    except ValueError as error:
        raise HarnessError(f"{folder}: record.json is damaged ({error}). Run the benchmark again.") from None
    for name in OPTIONAL:
        path = folder / f"{name}.csv"
        if path.exists():
            rows[name] = list(_shown(path) if name == "rankings" else _rows(path))
    return Tables(name or folder.resolve().name, record, rows)


def _rows(path: Path) -> Iterator[Row]:
    # passages are longer than the 128 KiB that csv takes for a cell by default
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {key: original(value or "") for key, value in row.items() if key is not None}


def _shown(path: Path) -> Iterator[Row]:
    for row in _rows(path):
        if int(row["rank"]) <= DEEPEST:
            row.pop("snippet", None)
            yield row
