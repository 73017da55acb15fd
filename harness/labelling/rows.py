"""Passages as rows of a labels file: what `labels` reads, and what a spreadsheet may open."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from harness.errors import LabelError
from harness.store import write_text
from harness.text.characters import on_one_line

COLUMNS = ("query_id", "document", "page", "start", "end", "quote", "grade")
# What a spreadsheet would run as a formula gets an apostrophe; reading labels overlooks it.
_FORMULA = ("=", "+", "-", "@")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def quote_of(passage: str) -> str:
    """A passage as the quote of a label: on one line, without control characters."""
    return str(harmless(on_one_line(_CONTROL.sub(" ", passage))))


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet runs, without control characters; numbers as they are."""
    if not isinstance(value, str):
        return value
    text = _CONTROL.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{text}" if text.startswith(_FORMULA) else text


def holds_rows(path: Path) -> bool:
    """Whether a labels file is there and has more than a header; what is no text is read by who needs it."""
    if not path.exists():
        return False
    least = {".csv": 2, ".tsv": 2, ".jsonl": 1}.get(path.suffix.lower())
    if least is None:
        return True
    with path.open("rb") as file:
        return sum(1 for _ in islice((line for line in file if line.strip()), least)) == least


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of one kind as CSV with a header, or as JSON Lines; raises LabelError for other endings.

    In CSV, cells that a spreadsheet would run are made harmless.
    """
    if path.suffix.lower() == ".jsonl":
        write_text(path, "".join(json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows))
    elif path.suffix.lower() == ".csv":
        columns = list(rows[0]) if rows else []
        safe = [{name: harmless(value) for name, value in row.items()} for row in rows]
        write_text(path, ",".join(columns) + "\n" + label_lines(safe, columns))
    else:
        raise LabelError(f"{path}: rows are written as .csv or .jsonl. Give it one of these endings.")


def label_lines(
    rows: Iterable[Mapping[str, object]], columns: Iterable[str] = COLUMNS, mark: str = ","
) -> str:
    """Rows as CSV without a header; a column that a row lacks is empty."""
    out = io.StringIO()
    names = list(columns)
    writer = csv.writer(out, delimiter=mark, lineterminator="\n")
    writer.writerows([row.get(name, "") for name in names] for row in rows)
    return out.getvalue()
