"""Tables row by row: every row is shown with the heading of its table before it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from harness.steps.chunk import Cuts, Documents, SizedConfig, Vectors
from harness.steps.chunk.health import OUTLINE_VERSION, table_spans
from harness.steps.chunk.recursive import RecursiveSplitter
from harness.steps.chunk.sizes import measure_in
from harness.values import Document, Span, Tokenizer, delimited, merge, records_of

# "Sheet: Prices" above the rows of a sheet of a workbook; see corpus/workbook.py.
_SHEET = re.compile(r"Sheet: [^\n]*\n")
_NUMBER = re.compile(r"\d[\d,.]*")
_YEARS = range(1900, 2101)
_LONGEST_HEADING = 200


class RowsConfig(SizedConfig):
    """Rows of tables, each shown with the heading of its table; text outside tables recursively.

    Files of delimited text (CSV, TSV) and sheets of workbooks are tables, as are lines of figures in other
    text, such as that of a PDF. A row is never cut, however long it is.
    """

    versions: ClassVar[Mapping[str, Any]] = {"tables": OUTLINE_VERSION}

    kind: Literal["rows"] = "rows"
    rows: int = Field(1, ge=1, description="Rows per chunk.")
    header_rows: int = Field(
        1,
        ge=0,
        description="How many records at the beginning of delimited text or of a sheet are its header, "
        "which is shown with every row. In other text: the maximum number of lines with only years at the "
        "head of a table.",
    )
    heading_rows: tuple[int, ...] = Field(
        (),
        description="Instead of the first `header_rows` records: which records of delimited text or of a "
        "sheet are the header, counted from 1, such as `[1, 3]`. Each is shown with every row below it, and "
        "the records between them are rows. A list of lists is a sweep.",
    )
    above: int = Field(
        2,
        ge=0,
        description="How many lines directly above a table in other text are shown with its rows: its "
        "caption and header. A blank line ends them.",
    )
    delimiter: str | None = Field(
        None,
        min_length=1,
        max_length=1,
        description="The field separator of delimited text. Empty: a tab, comma, semicolon or bar, if "
        "all records have the same number of fields; other text is not delimited. If given: all documents "
        "except workbooks are delimited by it.",
    )

    @field_validator("heading_rows")
    @classmethod
    def _count_from_one(cls, numbers: tuple[int, ...]) -> tuple[int, ...]:
        if any(number < 1 for number in numbers) or len(set(numbers)) < len(numbers):
            raise ValueError("records are counted from 1, each named once, such as [1, 3]")
        return tuple(sorted(numbers))

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The rows of each document's tables, and its other text in pieces."""
        splitter = RecursiveSplitter(measure_in(self.unit, tokenizer), self.chunk_size)
        return [list(_split(document, self, splitter)) for document in documents]

    def shown_before(self, document: Document, spans: Sequence[Span]) -> Sequence[tuple[Span, ...]]:
        """The ranges shown before each span (a row or a piece of other text)."""
        tables = tables_of(document, self)
        starts = [table.rows[0][0] for table in tables]
        shown: list[tuple[Span, ...]] = []
        for start, _ in spans:
            at = bisect_right(starts, start) - 1
            in_table = at >= 0 and start < tables[at].rows[-1][1]
            shown.append(tables[at].above(start) if in_table else ())
        return shown


@dataclass(frozen=True, slots=True)
class RowTable:
    """A table: the ranges of its rows and of its heading, each in the order of the text.

    A heading may have several ranges, with rows between them. ``begins`` is where the table begins.
    """

    rows: tuple[Span, ...]
    before: tuple[Span, ...]
    begins: int

    def above(self, start: int) -> tuple[Span, ...]:
        """The ranges of the heading above ``start``."""
        return tuple(span for span in self.before if span[1] <= start)


def tables_of(document: Document, config: RowsConfig) -> list[RowTable]:
    """The tables of a document that have rows, in the order of the text."""
    tables: list[RowTable] = []
    # pages or sheets, else all of it
    for start, end in pairwise([*(document.page_starts or (0,)), len(document.text)]):
        sheet = _SHEET.match(document.text, start, end)
        table = _delimited(document.text, (sheet.end() if sheet else start, end), start, bool(sheet), config)
        if table is None:
            tables += _figures(document.text, start, end, config)
        elif table.rows:
            tables.append(table)
    return tables


def _delimited(text: str, span: Span, top: int, is_sheet: bool, config: RowsConfig) -> RowTable | None:
    """The table of the delimited text in ``span``, whose heading begins at ``top``; None if it is none."""
    delimiter = "\t" if is_sheet else config.delimiter
    records = delimited(text, *span) if delimiter is None else records_of(text, delimiter, *span)
    if records is None:
        return None
    spans = records.spans
    chosen = config.heading_rows or range(1, config.header_rows + 1)
    heading = {number - 1 for number in chosen if number <= len(spans)}
    rows = tuple(row for place, row in enumerate(spans) if place not in heading)
    if not rows:
        # a heading without rows is a row
        return RowTable((((spans[0][0], spans[-1][1]),) if spans else ()), (), spans[0][0] if spans else top)
    # each with its line end, and the first with the title of the sheet above it
    borders = [top, *(start for start, _ in spans[1:]), spans[-1][1]]
    shown = [(borders[place], borders[place + 1]) for place in sorted(heading)]
    if not shown and spans[0][0] > top:
        shown = [(top, spans[0][0])]
    elif is_sheet and 0 not in heading:
        shown.insert(0, (top, spans[0][0]))
    before = tuple(part for first, last in merge(shown) for part in _heading(text, first, last))
    return RowTable(rows, before, min(span[0] for span in (*before, rows[0])))


def _heading(text: str, start: int, end: int) -> tuple[Span, ...]:
    """The heading above rows; none if only blanks are above, such as the indent of the first."""
    return ((start, end),) if text[start:end].strip() else ()


def _figures(text: str, start: int, end: int, config: RowsConfig) -> Iterator[RowTable]:
    """The tables among other text, by the rule that finds tables in text without lines drawn."""
    reached = start
    for first, last in table_spans(text[start:end]):
        lines = _lines(text, start + first, start + last)
        heading = 0
        while heading < min(config.header_rows, len(lines) - 1) and _only_years(text, lines[heading]):
            heading += 1
        above = _above(text, reached, start + first, config.above)
        rows = tuple(lines[heading:])
        before = _heading(text, above, rows[0][0])
        # lines above stay with the text, unless the page begins with them
        yield RowTable(rows, before, above if before and above == start else rows[0][0])
        reached = start + last


def _lines(text: str, start: int, end: int) -> list[Span]:
    """The lines of a range, without their line ends."""
    lines, at = [], start
    for line in text[start:end].splitlines(keepends=True):
        lines.append((at, at + len(line.rstrip())))
        at += len(line)
    return lines


def _only_years(text: str, line: Span) -> bool:
    numbers = _NUMBER.findall(text[line[0] : line[1]])
    return bool(numbers) and all(number.isdigit() and int(number) in _YEARS for number in numbers)


def _above(text: str, reached: int, start: int, most: int) -> int:
    """Where the lines begin that are right above ``start``: at most ``most``, none blank or too long."""
    at = text.rfind("\n", 0, start) + 1
    for _ in range(most):
        line = text.rfind("\n", 0, max(0, at - 1)) + 1
        if at <= reached or line < reached or not 0 < len(text[line:at].strip()) <= _LONGEST_HEADING:
            break
        at = line
    return at


def _split(document: Document, config: RowsConfig, splitter: RecursiveSplitter) -> Iterator[Span]:
    reached = 0
    for table in tables_of(document, config):
        if reached < table.begins:
            yield from splitter.split(document.text, (reached, table.begins))
        for at in range(0, len(table.rows), config.rows):
            some = table.rows[at : at + config.rows]
            yield some[0][0], some[-1][1]
        reached = table.rows[-1][1]
    if reached < len(document.text):
        yield from splitter.split(document.text, (reached, len(document.text)))
