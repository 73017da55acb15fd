"""Tables row by row: every row is shown with the heading of its table before it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

from pydantic import Field

from harness.steps.chunk import Cuts, Documents, SizedConfig, Vectors
from harness.steps.chunk.health import OUTLINE_VERSION, table_spans
from harness.steps.chunk.recursive import RecursiveSplitter
from harness.steps.chunk.sizes import measure_in
from harness.values import Document, Span, Tokenizer, delimited, records_of

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

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The rows of each document's tables, and its other text in pieces."""
        splitter = RecursiveSplitter(measure_in(self.unit, tokenizer), self.chunk_size)
        return [list(_split(document, self, splitter)) for document in documents]

    def shown_before(self, document: Document, spans: Sequence[Span]) -> Sequence[tuple[Span, ...]]:
        """The ranges shown before each span (a row or a piece of other text)."""
        tables = tables_of(document, self)
        starts = [table.rows[0][0] for table in tables]
        found: list[tuple[Span, ...]] = []
        for start, _ in spans:
            at = bisect_right(starts, start) - 1
            own = at >= 0 and start < tables[at].rows[-1][1]
            found.append(tables[at].before if own else ())
        return found


@dataclass(frozen=True, slots=True)
class RowTable:
    """A table: the ranges of its rows in the order of the text, and the heading of each."""

    rows: tuple[Span, ...]
    before: tuple[Span, ...]


def tables_of(document: Document, config: RowsConfig) -> list[RowTable]:
    """The tables of a document that have rows, in the order of the text."""
    found: list[RowTable] = []
    # pages or sheets, else all of it
    for start, end in pairwise([*(document.page_starts or (0,)), len(document.text)]):
        sheet = _SHEET.match(document.text, start, end)
        delimiter = "\t" if sheet else config.delimiter
        table = _delimited(
            document.text, (sheet.end() if sheet else start, end), start, delimiter, config.header_rows
        )
        if table is None:
            found += _figures(document.text, start, end, config)
        elif table.rows:
            found.append(table)
    return found


def _delimited(text: str, span: Span, top: int, delimiter: str | None, header_rows: int) -> RowTable | None:
    """The table of the delimited text in ``span``, whose heading begins at ``top``; None if it is none."""
    records = delimited(text, *span) if delimiter is None else records_of(text, delimiter, *span)
    if records is None:
        return None
    body = records.spans[header_rows:]
    if not body:
        # a heading without rows is a row
        return RowTable((((records.spans[0][0], records.spans[-1][1]),) if records.spans else ()), ())
    return RowTable(body, _heading(text, top, body[0][0]))


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
        yield RowTable(rows, _heading(text, above, rows[0][0]))
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
    return bool(numbers) and all(one.isdigit() and int(one) in _YEARS for one in numbers)


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
        heading = table.before[0] if table.before else (table.rows[0][0],) * 2
        # the heading of delimited text is in no other chunk; lines above other tables stay with the text
        delimited_here = heading[0] in (0, *document.page_starts)
        outside = heading[0] if delimited_here else table.rows[0][0]
        if reached < outside:
            yield from splitter.split(document.text, (reached, outside))
        for at in range(0, len(table.rows), config.rows):
            some = table.rows[at : at + config.rows]
            yield some[0][0], some[-1][1]
        reached = table.rows[-1][1]
    if reached < len(document.text):
        yield from splitter.split(document.text, (reached, len(document.text)))
