"""Passages that people have skipped because they cannot be graded; they do not come again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data import GivenPassage, input_table, read_rows
from harness.labels.labelling.rows import holds_rows, write_rows
from harness.values import LabelError

SKIP = "skip"
_COLUMNS = ("query_id", "document", "start", "end")
Skip = tuple[str, str, int, int]


@input_table("skipped passages", "passages that cannot be graded", LabelError)
@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRow(GivenPassage):
    """A passage that is not to come again."""


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
    rows = read_rows(path, SkippedRow, fault=_fault)
    return [(row.query_id, row.document, row.start or 0, row.end or 0) for row in rows]


def _fault(row: SkippedRow) -> str:
    return "start and end are empty. Correct the row, or remove it." if row.start is None else ""


def add_skips(labels: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Add passages to those that are skipped; how many are new."""
    before = read_skips(labels)
    new = {(str(row["query_id"]), str(row["document"]), int(row["start"]), int(row["end"])) for row in rows}
    new -= set(before)
    if new:
        listed = [dict(zip(_COLUMNS, one, strict=True)) for one in (*before, *sorted(new))]
        write_rows(skips_of(labels), listed)
    return len(new)
