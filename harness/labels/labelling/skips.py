"""Passages that people have skipped because they cannot be graded; they do not come again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.data import FaultsOfRows, read_table, whole_number
from harness.labels.labelling.rows import holds_rows, write_rows
from harness.values import LabelError

SKIP = "skip"
_COLUMNS = ("query_id", "document", "start", "end")
Skip = tuple[str, str, int, int]


def skips_of(labels: Path) -> Path:
    """The file of skipped passages next to a file of labels: labels.skipped.csv."""
    return labels.with_name(f"{labels.stem}.skipped.csv")


def read_skips(labels: Path) -> list[Skip]:
    """The passages skipped for ``labels``; none if there is no such file.

    Raises LabelError that names the rows at fault.
    """
    path = skips_of(labels)
    if not holds_rows(path):
        return []
    faults = FaultsOfRows(LabelError)
    found = []
    for raw in read_table(path, _COLUMNS, LabelError, lambda _: None).rows:
        with faults.of_a_row():
            where = f"{path}, line {raw.line}"
            start = whole_number(where, "start", raw.get("start"), 0)
            end = whole_number(where, "end", raw.get("end"), 1)
            if start is None or end is None:
                raise LabelError(f"{where}: start and end are empty. Correct the row, or remove it.")
            found.append((raw.get("query_id"), raw.get("document"), start, end))
    faults.end()
    return found


def add_skips(labels: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Add passages to those that are skipped; how many are new."""
    before = read_skips(labels)
    new = {(str(row["query_id"]), str(row["document"]), int(row["start"]), int(row["end"])) for row in rows}
    new -= set(before)
    if new:
        listed = [dict(zip(_COLUMNS, one, strict=True)) for one in (*before, *sorted(new))]
        write_rows(skips_of(labels), listed)
    return len(new)
