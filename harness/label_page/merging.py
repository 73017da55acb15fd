"""Rows that were exported become part of a labels file; what stands there already is passed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.corpus import AnchorConfig
from harness.corpus.spreadsheet import Note
from harness.errors import LabelError
from harness.labelling.grading import known_labels
from harness.types import Document

_MOST = 10


def new_rows(
    rows: Sequence[Mapping[str, Any]],
    labels: Path,
    documents: Mapping[str, Document],
    anchor: AnchorConfig,
    note: Note = lambda _: None,
) -> list[Mapping[str, Any]]:
    """The rows that a labels file does not have yet.

    Raises LabelError that names those whose passage has another grade there: nobody but people can say which
    of the two holds.
    """
    known = known_labels(labels, documents, anchor, note)
    fresh, differ = [], []
    for row in rows:
        key = (row["query_id"], row["document"], row["start"], row["end"])
        if key not in known:
            fresh.append(row)
        elif known[key][0] != row["grade"]:
            grade, place = known[key]
            differ.append(f"  {place} says {grade}, the page {row['grade']}: {':'.join(map(str, key))}")
    if differ:
        more = [f"  and {len(differ) - _MOST} more"] if len(differ) > _MOST else []
        raise LabelError(
            "Some passages have another grade in the labels file. Remove or correct those rows, then merge "
            "again; nothing was added:\n" + "\n".join([*differ[:_MOST], *more])
        )
    return fresh
