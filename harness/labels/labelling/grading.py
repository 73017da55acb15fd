"""Graded sheets → rows of a labels file: checked against the text, none added twice; and what was skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from harness.data import (
    AnchorConfig,
    GivenPassage,
    Note,
    anchor,
    grade_of,
    input_table,
    possible_ids,
    read_labels,
    read_rows,
    suggestion,
)
from harness.labels.labelling.rows import holds_rows, write_rows
from harness.labels.labelling.sheet import UngradedRow
from harness.values import Column, Document, Judgment, LabelError

SKIP = "skip"
Key = tuple[str, str, int, int]
_PLACE = ("query_id", "document", "start", "end")


@input_table("sheets", "grades of passages", LabelError)
@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow(UngradedRow):
    """A passage with the grade that a person gave it."""

    grade: Annotated[str, Column("0 to 4, or `skip` for what cannot be graded; empty: not graded yet")]
    evidence: Annotated[str, Column("passages of a query that share a name are copies of one fact")] = ""
    note: Annotated[str, Column("anything")] = ""


@dataclass(frozen=True, slots=True)
class GradedSheet:
    """The content of a graded sheet: new ``rows`` by column, and how many are empty or already known.

    ``skipped`` are the passages that say ``skip`` in place of a grade.
    """

    rows: tuple[dict[str, Any], ...]
    ungraded: int
    known: int
    skipped: tuple[dict[str, Any], ...] = ()


def graded_rows(
    sheet: Path,
    documents: Mapping[str, Document],
    query_ids: Sequence[str],
    labels: Path,
    config: AnchorConfig,
    note: Note = lambda _: None,
    *,
    may_skip: bool = False,
) -> GradedSheet:
    """The rows of a sheet that have a grade, as labels that ``labels`` does not have yet.

    A row that is there already with the same grade is ignored. With ``may_skip`` the grade may be the
    word skip. Raises LabelError that names all lines at fault: a passage that is not at its offsets, an
    unknown query or document, an invalid grade, a second grade for a passage.
    """
    known = known_labels(labels, documents, config, note)
    rows: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    counts = Counter[str]()

    def fault(row: SheetRow) -> str:
        if not row.grade:
            counts["ungraded"] += 1
            return ""
        if row.query_id not in query_ids:
            near = suggestion(row.query_id, query_ids)
            return f"there is no query {row.query_id!r}{near}. Correct the id."
        passage = row.placed(documents)
        if may_skip and row.grade.casefold() == SKIP:
            skipped.append(passage.row())
            return ""
        grade = grade_of(row.where, row.grade)
        here = Judgment(*passage.key, grade, source=f"line {row.line} of the sheet")
        before = known.setdefault(here.key, here)
        if before.grade != grade:
            return f"the passage has grade {before.grade} on {before.source}, and {grade} here. Keep one."
        if before is here:
            rows.append({**passage.row(), "grade": grade, "evidence": row.evidence, "note": row.note})
        else:
            counts["known"] += 1
        return ""

    read_rows(sheet, SheetRow, note, fault)
    return GradedSheet(tuple(rows), counts["ungraded"], counts["known"], tuple(skipped))


def known_labels(
    labels: Path, documents: Mapping[str, Document], config: AnchorConfig, note: Note
) -> dict[Key, Judgment]:
    """Every label by what it grades, with its line as the source; none where there is no row to read."""
    if not holds_rows(labels):
        return {}
    listed = config.model_copy(update={"on_unanchored": "list"})
    rows = read_labels(labels, note)
    there = [row for row in rows if any(name in documents for name in possible_ids(row.document))]
    result = anchor(there, documents, listed)
    lines = (at.row.line for at in result.anchorings if at.accepted)
    found = zip(lines, result.judgments, strict=True)
    return {one.key: replace(one, source=f"line {line} of {labels}") for line, one in found}


@input_table("skipped passages", "passages that cannot be graded", LabelError)
@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRow(GivenPassage):
    """A passage that is not to come again."""


def skips_of(labels: Path) -> Path:
    """The file of skipped passages next to a file of labels: labels.skipped.csv."""
    return labels.with_name(f"{labels.stem}.skipped.csv")


def read_skips(labels: Path) -> list[Key]:
    """The passages skipped for ``labels``, which do not come again; none if there is no such file.

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
    new = {(row["query_id"], row["document"], row["start"], row["end"]) for row in rows} - set(before)
    if new:
        listed = (*before, *sorted(new))
        write_rows(skips_of(labels), [dict(zip(_PLACE, key, strict=True)) for key in listed])
    return len(new)
