"""Graded sheets → rows of a labels file: checked against the text, none added twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from harness import data
from harness.labels.labelling.rows import holds_rows
from harness.labels.labelling.sheet import UngradedRow
from harness.values import Column, Document, Judgment, LabelError

Key = tuple[str, str, int, int]


@data.input_table("sheets", "grades of passages", LabelError)
@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow(UngradedRow):
    """A passage with the grade that a person gave it."""

    grade: Annotated[str, Column("0 to 4; empty: not graded")]
    evidence: Annotated[str, Column("passages of a query that share a name are copies of one fact")] = ""
    note: Annotated[str, Column("anything")] = ""


@dataclass(frozen=True, slots=True)
class GradedSheet:
    """The content of a graded sheet: new ``rows`` by column, and how many are empty or already known."""

    rows: tuple[dict[str, Any], ...]
    ungraded: int
    known: int


def graded_rows(
    sheet: Path,
    documents: Mapping[str, Document],
    query_ids: Sequence[str],
    labels: Path,
    config: data.AnchorConfig,
    note: data.Note = lambda _: None,
) -> GradedSheet:
    """The rows of a sheet that have a grade, as labels that ``labels`` does not have yet.

    A row that is there already with the same grade is ignored. Raises LabelError that names all lines at
    fault: a passage that is not at its offsets, an unknown query or document, an invalid grade, a second
    grade for a passage.
    """
    known = known_labels(labels, documents, config, note)
    rows: list[dict[str, Any]] = []
    counts = Counter[str]()

    def fault(row: SheetRow) -> str:
        if not row.grade:
            counts["ungraded"] += 1
            return ""
        if row.query_id not in query_ids:
            near = data.suggestion(row.query_id, query_ids)
            return f"there is no query {row.query_id!r}{near}. Correct the id."
        passage = row.placed(documents)
        grade = data.grade_of(row.where, row.grade)
        here = Judgment(*passage.key, grade, source=f"line {row.line} of the sheet")
        before = known.setdefault(here.key, here)
        if before.grade != grade:
            return f"the passage has grade {before.grade} on {before.source}, and {grade} here. Keep one."
        if before is here:
            rows.append({**passage.row(), "grade": grade, "evidence": row.evidence, "note": row.note})
        else:
            counts["known"] += 1
        return ""

    data.read_rows(sheet, SheetRow, note, fault)
    return GradedSheet(tuple(rows), counts["ungraded"], counts["known"])


def known_labels(
    labels: Path, documents: Mapping[str, Document], config: data.AnchorConfig, note: data.Note
) -> dict[Key, Judgment]:
    """Every label by what it grades, with its line as the source; none where there is no row to read."""
    if not holds_rows(labels):
        return {}
    listed = config.model_copy(update={"on_unanchored": "list"})
    rows = data.read_labels(labels, note)
    there = [row for row in rows if any(name in documents for name in data.possible_ids(row.document))]
    result = data.anchor(there, documents, listed)
    lines = (at.row.line for at in result.anchorings if at.accepted)
    found = zip(lines, result.judgments, strict=True)
    return {one.key: replace(one, source=f"line {line} of {labels}") for line, one in found}
