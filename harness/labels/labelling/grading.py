"""Graded sheets → rows of a labels file: checked against the text, none added twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data import (
    AnchorConfig,
    FaultsOfRows,
    Note,
    Row,
    anchor,
    grade_of,
    possible_ids,
    read_labels,
    read_table,
    suggestion,
)
from harness.labels.labelling.rows import holds_rows, quote_of
from harness.labels.labelling.sheet import read_passage
from harness.labels.labelling.skips import SKIP
from harness.values import Document, LabelError

_NEEDED = ("query_id", "document", "start", "end", "passage", "grade")


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
    table = read_table(sheet, _NEEDED, LabelError, note)
    known = known_labels(labels, documents, config, note)
    faults, ungraded, again = FaultsOfRows(LabelError), 0, 0
    rows: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    for raw in table.rows:
        if not raw.get("grade"):
            ungraded += 1
            continue
        with faults.of_a_row():
            where = f"{sheet}, line {raw.line}"
            place_of = _place(where, raw, documents, query_ids)
            if may_skip and raw.get("grade").strip().casefold() == SKIP:
                skipped.append(place_of)
                continue
            row = {
                **place_of,
                "grade": grade_of(where, raw.get("grade")),
                "evidence": raw.get("evidence"),
                "note": raw.get("note"),
            }
            key = (row["query_id"], row["document"], row["start"], row["end"])
            if key not in known:
                known[key] = (row["grade"], f"line {raw.line} of the sheet")
                rows.append(row)
                continue
            grade, place = known[key]
            if grade != row["grade"]:
                raise LabelError(
                    f"{where}: the passage has grade {grade} on {place}, and {row['grade']} here. Keep one."
                )
            again += 1
    faults.end()
    return GradedSheet(tuple(rows), ungraded, again, tuple(skipped))


def known_labels(
    labels: Path, documents: Mapping[str, Document], config: AnchorConfig, note: Note
) -> dict[tuple[str, str, int, int], tuple[int, str]]:
    """Grade and place of every label by what it grades; none where the file is not there, or has no rows."""
    if not holds_rows(labels):
        return {}
    listed = config.model_copy(update={"on_unanchored": "list"})
    rows = read_labels(labels, note)
    there = [row for row in rows if any(name in documents for name in possible_ids(row.document))]
    found = anchor(there, documents, listed).anchorings
    return {
        (at.query_id, at.doc_id, at.start, at.end): (row.grade, f"line {row.line} of {labels}")
        for row, at in zip(there, found, strict=True)
        if at.accepted and at.start is not None and at.end is not None
    }


def _place(
    where: str, raw: Row, documents: Mapping[str, Document], query_ids: Sequence[str]
) -> dict[str, Any]:
    """The query and place of a row, as the columns of a label without its grade; raises LabelError."""
    query_id = raw.get("query_id")
    if query_id not in query_ids:
        raise LabelError(
            f"{where}: there is no query {query_id!r}{suggestion(query_id, query_ids)}. Correct the id."
        )
    document, start, end = read_passage(where, raw, documents)
    return {
        "query_id": query_id,
        "document": document.doc_id,
        "page": document.page_of(start) or "",
        "start": start,
        "end": end,
        "quote": quote_of(document.text[start:end]),
    }
