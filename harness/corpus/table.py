"""Rows of a CSV or JSON Lines file with the line each one starts on; every value is text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from harness.corpus.reading import read_utf8
from harness.errors import CorpusError, HarnessError

# A quoted page of a filing is well beyond the default of 131,072 characters a field.
_MAX_FIELD = 10_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One record: the 1-based line it starts on, and its cells by column name ('' where empty)."""

    line: int
    cells: Mapping[str, str]

    def get(self, column: str) -> str:
        """The cell without the spaces around it; '' where the column or the value is missing."""
        return self.cells.get(column, "").strip()


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file and the union of their columns, in order of appearance."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(path: Path, required: Collection[str], error: type[HarnessError]) -> Table:
    """Read ``.csv`` or ``.jsonl``; raises ``error`` that names file, line and remedy.

    CSV is comma-separated with a header, UTF-8 with or without a byte order mark, strict about quotes. In
    JSON Lines each line is one object; numbers and booleans become their JSON text, null becomes ''.
    """
    readers = {".csv": _read_csv, ".jsonl": _read_jsonl}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise error(f"{path}: unknown table format {path.suffix!r}. Known: {', '.join(readers)}.")
    try:
        text = read_utf8(path).removeprefix("\ufeff")
    except CorpusError as unreadable:
        raise error(str(unreadable)) from unreadable
    columns, rows = reader(path, text, error)
    for column in required:
        if column not in columns:
            raise error(
                f"{path}: there is no column {column!r}{nearest(column, columns)}. {_listing(columns)}"
            )
    if not rows:
        raise error(f"{path}: there is no row below the header. Add some, or point to another file.")
    return Table(path, columns, rows)


def nearest(name: str, known: Collection[str]) -> str:
    """The tail of a message that suggests the closest known name; '' where none is close."""
    lowered = {candidate.lower(): candidate for candidate in known}
    match = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return f"; did you mean {lowered[match[0]]!r}?" if match else ""


def _listing(columns: Collection[str]) -> str:
    return f"The columns are: {', '.join(columns) or '(none)'}."


def _read_csv(path: Path, text: str, error: type[HarnessError]) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    records = _csv_records(path, text, error)
    _, header = next(records, (1, []))
    columns = tuple(name.strip() for name in header)
    if len(columns) == 1 and any(mark in columns[0] for mark in ";\t"):
        raise error(f"{path}, line 1: the columns are not separated by commas. Save it as CSV with commas.")
    for column in columns:
        if columns.count(column) > 1:
            raise error(f"{path}, line 1: the column {column!r} stands twice. Rename one of them.")
    rows = []
    for line, record in records:
        if len(record) != len(columns):
            raise error(
                f"{path}, line {line}: {len(record)} fields where the header has {len(columns)}. "
                "Quote fields that hold a comma."
            )
        rows.append(Row(line, dict(zip(columns, record, strict=True))))
    return columns, tuple(rows)


def _csv_records(path: Path, text: str, error: type[HarnessError]) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it starts on (a quoted field may hold line breaks), blank lines left out."""
    limit = csv.field_size_limit(_MAX_FIELD)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        line = 1
        while True:
            try:
                record = next(reader, None)
            except csv.Error as problem:
                raise error(
                    f"{path}, line {line}: not valid CSV ({problem}). "
                    "Check the quotes; a quote inside a field is doubled."
                ) from problem
            if record is None:
                return
            if record:
                yield line, record
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


def _read_jsonl(path: Path, text: str, error: type[HarnessError]) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    rows, columns = [], dict[str, None]()
    for line, source in enumerate(text.split("\n"), 1):
        if not source.strip():
            continue
        try:
            record = json.loads(source)
        except ValueError as problem:
            raise error(
                f"{path}, line {line}: not valid JSON ({problem}). Write one object a line."
            ) from problem
        if not isinstance(record, dict):
            raise error(f"{path}, line {line}: a {type(record).__name__} where an object is expected.")
        cells = {str(name): _json_text(value) for name, value in record.items()}
        if any("\ud800" <= character <= "\udfff" for cell in cells.values() for character in cell):
            raise error(
                f"{path}, line {line}: holds half a character (a lone surrogate, \\ud800 to \\udfff). "
                "Write the whole one."
            )
        columns.update(dict.fromkeys(cells))
        rows.append(Row(line, cells))
    return tuple(columns), tuple(rows)


def _json_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
