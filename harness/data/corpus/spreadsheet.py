"""Tables as Excel saves them: semicolons, `sep=;`, Windows encodings, trailing empty columns, XLSX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.data.corpus.reading import read_utf8
from harness.values import CorpusError, refuse_special

Records = list[tuple[int, list[str]]]
Note = Callable[[str], None]

# A quoted page of a filing is well beyond the default of 131,072 characters a field.
_MAX_FIELD = 10_000_000
_SEP_LINE = re.compile(r"sep=(?P<mark>.)\r?\n", re.IGNORECASE)
_IN_ROWS = re.compile(rb"[\x80-\xff]{4,}")
_LINE_END = re.compile(r"\r\n?|\n")
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def read_csv(path: Path, note: Note) -> Records:
    """The records of a CSV file with the line each starts on; says through ``note`` what was unusual.

    Comma, semicolon, tab or bar, as in the header; UTF-8, UTF-16 with its mark, or Windows-1252. Raises
    CorpusError that names the line.
    """
    text = _decoded(path, note)
    mark, first = mark_of(text), 1
    if declared := _SEP_LINE.match(text):
        text, first = text[declared.end() :], 2
    if mark != ",":
        note(f"{path}: read with {_MARKS.get(mark, repr(mark))} between the columns.")
    return _without_empty(path, list(_records(path, text, mark, first)), note)


def read_xlsx(path: Path, note: Note) -> Records:
    """The records of the first sheet that holds anything, as text, with the row each is in."""
    from harness.data.corpus.workbook import TITLE, read_workbook

    sheets = read_workbook(path)
    if not sheets:
        raise CorpusError(f"{path}: all sheets are empty. Fill it.")
    title, _, body = sheets[0].partition("\n")
    name = title.removeprefix(TITLE)
    more = f"; {len(sheets) - 1} more are left out" if len(sheets) > 1 else ""
    note(f"{path}: read from the sheet {name!r}{more}.")
    records, breaks = [], 0
    for line, record in _records(path, body, "\t", 1):
        # a line break in a cell begins no row of the sheet
        records.append((line - breaks, record))
        breaks += sum(cell.count("\n") for cell in record)
    return _without_empty(path, records, note)


def _decoded(path: Path, note: Note) -> str:
    refuse_special(path)
    raw = path.read_bytes()
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            text = raw.decode("utf-16")
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}: damaged UTF-16 at offset {error.start}. Save it as UTF-8.") from error
        note(f"{path}: read as UTF-16.")
        return text
    try:
        return read_utf8(path).removeprefix("\ufeff")
    except CorpusError:
        # letters of Western text are among ASCII; those of Chinese, Japanese or Cyrillic in rows
        high = sum(byte >= 0x80 for byte in raw)
        if b"\0" in raw or sum(map(len, _IN_ROWS.findall(raw))) * 2 > high:
            raise
        try:
            text = raw.decode("cp1252")
        except UnicodeDecodeError:
            text = ""
        if not text:
            raise
        note(f"{path}: not UTF-8; read as Windows-1252. Save it as CSV UTF-8 if letters look wrong.")
        return text


def mark_of(text: str) -> str:
    """The column separator: that of ``sep=``, else the most frequent one in the header, else a comma."""
    if declared := _SEP_LINE.match(text):
        return declared["mark"]
    header = _LINE_END.split(text, maxsplit=1)[0]
    counts = {mark: header.count(mark) for mark in _MARKS}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] > counts[","] else ","


def _records(path: Path, text: str, mark: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it starts on (a quoted field may hold line breaks), blank lines left out."""
    limit = csv.field_size_limit(_MAX_FIELD)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark)
        line = first
        while True:
            try:
                record = next(reader, None)
            except csv.Error as problem:
                raise CorpusError(
                    f"{path}, line {line}: not valid CSV ({problem}). "
                    "Check the quotes; a quote inside a field is doubled."
                ) from problem
            if record is None:
                return
            if record:
                yield line, record
            line = reader.line_num + first
    finally:
        csv.field_size_limit(limit)


def _without_empty(path: Path, records: Records, note: Note) -> Records:
    """Leave out columns without a name that hold nothing, at the end, and rows that hold nothing."""
    if not records:
        return records
    header = records[0][1]
    width = max((i for i, name in enumerate(header, 1) if name.strip()), default=0)
    bare = all(not cell.strip() for _, record in records for cell in record[width:])
    if bare and any(len(record) > width for _, record in records):
        note(f"{path}: empty columns at the end are left out.")
        records = [(line, record[:width]) for line, record in records]
    kept = [
        (line, record) for line, record in records if len(header) == 1 or any(cell.strip() for cell in record)
    ]
    if len(kept) < len(records):
        note(f"{path}: {len(records) - len(kept)} empty rows are left out.")
    return kept
