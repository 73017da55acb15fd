"""Rows of a CSV, XLSX or JSON Lines file with the line each one starts on; every value is text.

Tables may be as Excel saves them: semicolons, `sep=;`, Windows encodings, trailing empty columns.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from harness.data.corpus.file_wordings import FILES
from harness.data.corpus.text_file import read_utf8
from harness.values import FORMULA, CorpusError, HarnessError, counted, refuse_special, suggestion, worded

Records = list[tuple[int, list[str]]]
Note = Callable[[str], None]

# A quoted page of a filing is well beyond the default of 131,072 characters a field.
_MAX_FIELD = 10_000_000
_SEP_LINE = re.compile(r"sep=(?P<mark>.)\r?\n", re.IGNORECASE)
_IN_ROWS = re.compile(rb"[\x80-\xff]{4,}")
_LINE_END = re.compile(r"\r\n?|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
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
        note(worded(FILES, "table.mark", file=path, mark=_MARKS.get(mark, repr(mark))))
    return _without_empty(path, list(_records(path, text, mark, first)), note)


def read_xlsx(path: Path, note: Note) -> Records:
    """The records of the first sheet that holds anything, as text, with the row each is in."""
    from harness.data.corpus.workbook import TITLE, read_workbook

    sheets = [text for text in read_workbook(path) if text]
    if not sheets:
        raise CorpusError(f"{path}: all sheets are empty. Fill it.")
    title, _, body = sheets[0].partition("\n")
    name = title.removeprefix(TITLE)
    code = "table.sheets" if len(sheets) > 1 else "table.sheet"
    note(worded(FILES, code, file=path, sheet=repr(name), count=len(sheets) - 1))
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
        note(worded(FILES, "table.utf16", file=path))
        return text
    try:
        return read_utf8(path).removeprefix("\ufeff")
    except CorpusError:
        # letters of Western text are among ASCII; those of Chinese, Japanese or Cyrillic in rows
        high = sum(byte >= 0x80 for byte in raw)
        if b"\0" in raw or sum(map(len, _IN_ROWS.findall(raw))) * 2 > high:
            raise
        with suppress(UnicodeDecodeError):
            text = raw.decode("cp1252")
            note(worded(FILES, "table.windows", file=path))
            return text
        raise


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
    limit, line = csv.field_size_limit(_MAX_FIELD), first
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark)
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + first
    except csv.Error as problem:
        raise CorpusError(
            f"{path}, line {line}: not valid CSV ({problem}). "
            "Check the quotes; a quote inside a field is doubled."
        ) from problem
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
        note(worded(FILES, "table.empty columns", file=path))
        records = [(line, record[:width]) for line, record in records]
    kept = [(line, cells) for line, cells in records if len(header) == 1 or any(map(str.strip, cells))]
    if len(kept) < len(records):
        note(worded(FILES, "table.empty rows", file=path, count=len(records) - len(kept)))
    return kept


@dataclass(frozen=True, slots=True)
class Row:
    """One record: the 1-based line it starts on, and its cells by column name ('' where empty)."""

    line: int
    cells: Mapping[str, str]

    def get(self, column: str) -> str:
        """The cell without the spaces around it; '' where the column or the value is missing."""
        return self.cells.get(column, "").strip()


@dataclass(frozen=True, slots=True)
class InputTable:
    """The rows of a file and the union of their columns, in order of appearance."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def with_column(self, name: str, cell: Callable[[Row], str]) -> InputTable:
        """The table with one column more."""
        rows = tuple(replace(row, cells={**row.cells, name: cell(row)}) for row in self.rows)
        return replace(self, columns=(*self.columns, name), rows=rows)


# Other names that people or tools give to these columns.
_MEANT = {
    "query_id": ("id", "qid", "query", "question_id", "queryid", "_id"),
    "text": ("question", "query", "query_text", "prompt"),
    "document": ("doc", "doc_id", "docid", "file", "filename", "file_name", "source"),
    "quote": ("passage", "text", "chunk", "content"),
    "grade": ("relevance", "rel", "label", "score", "relevance_score", "gain"),
}


def read_table(
    path: Path,
    required: Collection[str],
    error: type[HarnessError],
    note: Note = lambda _: None,
    more: Mapping[str, Callable[[Path], InputTable]] = MappingProxyType({}),
) -> InputTable:
    """Read ``.csv``, ``.tsv``, ``.jsonl`` or ``.xlsx``; raises ``error`` that names file, line and remedy.

    Delimited text has a header and may be as spreadsheets save it: see ``read_csv``; ``note``
    gets what was unusual. In JSON Lines each line is one object; numbers and booleans become their JSON text,
    null becomes ''. All faults of rows are named together. ``more`` are readers by further endings.
    """
    readers: dict[str, Callable[[Path], InputTable]] = {
        ".csv": lambda path: _of_records(path, read_csv(path, note)),
        ".tsv": lambda path: _of_records(path, read_csv(path, note)),
        ".jsonl": lambda path: read_jsonl(path, required),
        ".xlsx": lambda path: _of_records(path, read_xlsx(path, note)),
        **more,
    }
    reader = readers.get(path.suffix.lower())
    try:
        refuse_special(path)
        if reader is None:
            raise CorpusError(f"{path}: unknown table format {path.suffix!r}. Known: {', '.join(readers)}.")
        table = reader(path)
        _refuse_incomplete(table, required)
    except CorpusError as unreadable:
        raise error(str(unreadable)) from unreadable
    return table


def _refuse_incomplete(table: InputTable, required: Collection[str]) -> None:
    """Raise CorpusError for a table without rows, and for one without a column that is needed."""
    columns = table.columns
    if not columns:
        raise CorpusError(f"{table.path}: the file is empty. Fill it, or point to another file.")
    if missing := [column for column in required if column not in columns]:
        absent = "; ".join(
            f"there is no column {column!r}{_suggested_column(column, columns)}" for column in missing
        )
        raise CorpusError(f"{table.path}: {absent}. Columns: {', '.join(columns)}. Add or rename one.")
    if not table.rows:
        raise CorpusError(f"{table.path}: there is no row below the header. Add some, or name another file.")


def plain_cell(cell: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from running it as a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


def without_apostrophe(table: InputTable) -> InputTable:
    """The table with every cell as it was meant; JSON Lines need no apostrophe and stay as they are."""
    if table.path.suffix.lower() == ".jsonl":
        return table
    rows = (replace(row, cells={k: plain_cell(v) for k, v in row.cells.items()}) for row in table.rows)
    return replace(table, rows=tuple(rows))


def _suggested_column(column: str, columns: Collection[str]) -> str:
    """The tail of a message: the column probably meant, by its usual names or by its letters."""
    existing = usual_name(column, columns)
    return f"; rename {existing!r} to {column!r}" if existing else suggestion(column, columns)


def usual_name(column: str, columns: Collection[str]) -> str:
    """The one of ``columns`` that people or tools often use for ``column``; '' where there is none."""
    lowered = {name.lower().replace(" ", "_").replace("-", "_"): name for name in columns}
    return next((lowered[name] for name in (column, *_MEANT.get(column, ())) if name in lowered), "")


def check_offsets(where: str, start: int | None, end: int | None, error: type[HarnessError]) -> None:
    """Raise ``error`` for half of a range, and for one that is empty or ends before it begins."""
    if (start is None) != (end is None):
        raise error(f"{where}: start and end belong together. Fill both, or neither.")
    if start is not None and end is not None and start >= end:
        raise error(f"{where}: start {start} is not before end {end} (half-open). Correct them.")


class FaultsOfRows:
    """Collects the faults in the rows of a file, so that all are reported together."""

    _MOST = 20

    def __init__(self, error: type[HarnessError]) -> None:
        self._error, self._found = error, list[str]()

    @contextmanager
    def of_a_row(self) -> Iterator[None]:
        """Keep an error that the with block raises."""
        try:
            yield
        except self._error as fault:
            self._found.append(str(fault))

    def end(self) -> None:
        """Raise one error of all that was found, if anything was."""
        if len(self._found) == 1:
            raise self._error(self._found[0])
        if self._found:
            more = len(self._found) - self._MOST
            shown = self._found[: self._MOST] + ([f"and {more} more"] if more > 0 else [])
            raise self._error("\n".join([f"{len(self._found)} rows cannot be used:", *shown]))


def _of_records(path: Path, records: Records) -> InputTable:
    columns = tuple(name.strip() for name in records[0][1]) if records else ()
    if twice := [column for column, count in Counter(columns).items() if count > 1]:
        raise CorpusError(f"{path}, line 1: the column {twice[0]!r} occurs twice. Rename one of them.")
    faults, rows = FaultsOfRows(CorpusError), []
    for line, record in records[1:]:
        with faults.of_a_row():
            if len(record) != len(columns):
                remedy = "Quote fields that hold a comma" if len(record) > len(columns) else "Add the others"
                fields = f"{counted(len(record), 'field')} where the header has {len(columns)}"
                raise CorpusError(f"{path}, line {line}: {fields}. {remedy}.")
            rows.append(Row(line, dict(zip(columns, record, strict=True))))
    faults.end()
    return InputTable(path, columns, tuple(rows))


def read_jsonl(path: Path, required: Collection[str]) -> InputTable:
    """The rows of JSON Lines; ``required`` columns hold one value each. Raises CorpusError with the line."""
    rows, columns = [], dict[str, None]()
    for line, source in enumerate(read_utf8(path).removeprefix("\ufeff").split("\n"), 1):
        if not source.strip():
            continue
        try:
            record = json.loads(source)
        except (ValueError, RecursionError) as fault:
            raise CorpusError(f"{path}, line {line}: not JSON ({fault}). Write one object a line.") from fault
        if not isinstance(record, dict):
            raise CorpusError(f"{path}, line {line}: {source.strip()[:40]!r} is no object. Write one a line.")
        nested = next((name for name in required if isinstance(record.get(name), dict | list)), None)
        if nested is not None:
            raise CorpusError(f"{path}, line {line}: {nested} is a list or an object. Write one value.")
        cells = {str(name): _json_text(value) for name, value in record.items()}
        if any(map(_SURROGATE.search, cells.values())):
            raise CorpusError(f"{path}, line {line}: holds half a character (a surrogate). Write it whole.")
        columns.update(dict.fromkeys(cells))
        rows.append(Row(line, cells))
    return InputTable(path, tuple(columns), tuple(rows))


def _json_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
