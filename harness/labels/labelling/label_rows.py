"""Write and add rows of a labels file, which `labels` reads and a spreadsheet may open."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from harness.data import mark_of, read_csv, read_utf8
from harness.store import write_text
from harness.values import FORMULA, LabelError, delimited_text, on_one_line

COLUMNS = ("query_id", "document", "page", "start", "end", "quote", "grade")
_FURTHER = ("evidence", "answer", "note", "judge", "settled", "decided", "decided_by")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def quote_of(passage: str) -> str:
    """A passage as the quote of a label: on one line, without control characters."""
    return on_one_line(_CONTROL.sub(" ", passage))


def spreadsheet_safe(value: Any) -> Any:
    """A cell that no spreadsheet runs, without control characters; numbers as they are."""
    text = _cleaned(value)
    return f"'{text}" if isinstance(text, str) and text.startswith(FORMULA) else text


def _cleaned(value: Any) -> Any:
    """Text without control characters, which not every program reads; numbers as they are."""
    if not isinstance(value, str):
        return value
    return _CONTROL.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    filled = ({name: _cleaned(value) for name, value in row.items() if value != ""} for row in rows)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in filled)


def holds_rows(path: Path) -> bool:
    """Whether a labels file is there and has more than a header; a file that is not text counts."""
    if not path.is_file():
        # what is not a file is refused where it is read
        return path.exists()
    least = {".csv": 2, ".tsv": 2, ".jsonl": 1}.get(path.suffix.lower())
    if least is None:
        return True
    with path.open("rb") as file:
        return sum(1 for _ in islice((line for line in file if line.strip()), least)) == least


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write one row or more, all with the same columns, as CSV with a header."""
    write_text(path, ",".join(rows[0]) + "\n" + label_lines(rows, rows[0]))


def label_lines(
    rows: Iterable[Mapping[str, object]], columns: Iterable[str] = COLUMNS, mark: str = ","
) -> str:
    """Rows as CSV without a header, safe in a spreadsheet; a column that a row lacks is empty."""
    names = list(columns)
    return delimited_text(([spreadsheet_safe(row.get(name, "")) for name in names] for row in rows), mark)


def addable(path: Path) -> str:
    """What is in a .csv, .tsv or .jsonl file that rows are to be added to; '' where it is not there yet.

    Raises LabelError for other files, CorpusError for one that is not UTF-8.
    """
    if path.suffix.lower() not in (".csv", ".tsv", ".jsonl"):
        todo = "Save it as CSV UTF-8 and name that." if path.exists() else "Give it one of these endings."
        raise LabelError(f"{path}: labels are kept in .csv, .tsv and .jsonl files. {todo}")
    return read_utf8(path) if path.exists() else ""


def columns_of(path: Path | None) -> Sequence[str]:
    """The columns of a CSV file of labels, where it has all of ours; else ours."""
    if path is None or path.suffix.lower() != ".csv" or not path.is_file():
        return COLUMNS
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        header = [name.strip() for name in next(csv.reader(file), [])]
    return header if set(COLUMNS) <= set(header) else COLUMNS


def add_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add label rows to an `addable` file, which is made where it is not there.

    A CSV file keeps its lines, its mark between columns and its byte order mark; only where it lacks a column
    that the rows need is it rewritten, with that column at the end.
    """
    before = addable(path)
    if path.suffix.lower() == ".jsonl":
        write_text(path, _ended(before) + _json_lines(rows))
    else:
        write_text(path, _csv(path, before, rows))


def _csv(path: Path, before: str, rows: Sequence[Mapping[str, Any]]) -> str:
    needed = [*COLUMNS, *(name for name in _FURTHER if any(row.get(name) for row in rows))]
    records = read_csv(path, lambda _: None) if before else []
    if not records:
        mark = "\t" if path.suffix.lower() == ".tsv" else ","
        return mark.join(needed) + "\n" + label_lines(rows, needed, mark)
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


def _ended(text: str) -> str:
    """The text with a line end at its end."""
    return text if not text or text.endswith("\n") else text + "\n"
