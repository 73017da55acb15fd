"""Rows are added to a labels file; what stands in it stays as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.corpus.reading import read_utf8
from harness.corpus.spreadsheet import mark_of, read_csv
from harness.errors import LabelError
from harness.labelling.rows import COLUMNS, label_lines
from harness.store import write_text

_FURTHER = ("evidence", "answer", "note")


def add_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add label rows to a .csv, .tsv or .jsonl file, which is made where it is not there.

    A CSV file keeps its lines, its mark between columns and its byte order mark; only where it lacks a column
    that the rows need is it written anew, with that column at the end. Raises LabelError for other files.
    """
    if path.suffix.lower() == ".jsonl":
        before = read_utf8(path) if path.exists() else ""
        lines = (json.dumps(_filled(row), ensure_ascii=False) + "\n" for row in rows)
        write_text(path, _ended(before) + "".join(lines))
    elif path.suffix.lower() in (".csv", ".tsv"):
        write_text(path, _csv(path, rows))
    else:
        raise LabelError(
            f"{path}: labels can be added to .csv, .tsv and .jsonl files. Save it as CSV UTF-8 and name that "
            "in the configuration."
        )


def _csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    needed = [*COLUMNS, *(name for name in _FURTHER if any(row.get(name) for row in rows))]
    if not path.exists():
        mark = "\t" if path.suffix.lower() == ".tsv" else ","
        return mark.join(needed) + "\n" + label_lines(rows, needed, mark)
    before, told = read_utf8(path), list[str]()
    records = read_csv(path, told.append)
    mark = mark_of(before.removeprefix("\ufeff"))
    columns = [name.strip() for name in records[0][1]]
    more = [name for name in needed if name not in columns]
    if not more:
        return _ended(before) + label_lines(rows, columns, mark)
    old = [dict(zip(columns, record, strict=True)) for _, record in records[1:]]
    start = "\ufeff" if before.startswith("\ufeff") else ""
    columns += more
    head = dict(zip(columns, columns, strict=True))
    return start + label_lines([head, *old, *rows], columns, mark)


def _filled(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value != ""}


def _ended(text: str) -> str:
    """The text with a line end at its end."""
    return text if not text or text.endswith("\n") else text + "\n"
