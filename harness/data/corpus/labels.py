"""Labels as they are in a file: rows that are still to be anchored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from harness.data.corpus.inputs import INPUTS, input_table, read_rows
from harness.data.corpus.table import Note
from harness.values import MAX_GRADE, Column, LabelError


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPassage:
    """A passage as a row of a table names it: by offsets in a document, by a page, or by its words.

    ``where`` is its line in the file, for messages.
    """

    query_id: Annotated[str, Column("the query")]
    document: Annotated[str, Column("the document, with or without the ending of its file")]
    start: Annotated[int | None, Column("the first character in the extracted text, from 0")] = None
    end: Annotated[int | None, Column("the end, exclusive", least=1)] = None
    page: Annotated[int | None, Column("the page of the file; the first one is 1", least=1)] = None
    line: int = 0
    where: str = ""


@input_table(
    "labels",
    "graded passages",
    LabelError,
    key=("query_id", "document", "start", "end", "page", "quote", "judge"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow(GivenPassage):
    """One graded passage: offsets, a page and a quote, a page, or a quote to be searched in the document."""

    grade: Annotated[int, Column("the grade", most=MAX_GRADE)]
    quote: Annotated[str, Column("the passage in its words, found on its page or in the document")] = ""
    evidence: Annotated[str, Column("labels of a query that share a name are copies of one fact")] = ""
    note: Annotated[str, Column("anything; it is not used")] = ""
    judge: Annotated[str, Column("who graded")] = "human"
    source: Annotated[str, Column("where the label comes from; default: the name of the file")] = ""
    answer: Annotated[str, Column("the part of the passage that answers; empty: all of it")] = ""


def read_labels(path: Path, note: Note = lambda _: None) -> list[LabelRow]:
    """Read label rows from CSV, XLSX or JSONL; ``note`` gets what was unusual in the file.

    Raises LabelError that names all lines at fault, the column and the remedy.
    """
    rows = read_rows(path, LabelRow, note, _fault)
    return [replace(row, source=row.source or path.name) for row in rows]


def _fault(row: LabelRow) -> str:
    if row.start is not None or row.page is not None or row.quote:
        return ""
    return "does not say what is graded. Fill start and end, page, quote, or page and quote."


Graded = tuple[int, object, str, int | None]
"""A line of a file, the passage that it grades, who grades it, and the grade."""


def refuse_disputed(rows: Iterable[Graded], path: Path) -> None:
    """Raise LabelError where two judges grade one passage differently: neither grade is ours to drop."""
    first: dict[object, Graded] = {}
    for row in rows:
        line, passage, judge, grade = row
        if grade is None:
            continue
        other, _, by, before = first.setdefault(passage, row)
        if before != grade:
            raise LabelError(
                f"{path}, line {line}: {judge} gives {grade}, {by} gives {before} on line {other} to the "
                "same passage. These are single raters' grades: merge them first (harness label … --merge), "
                "or keep one row of each passage."
            )


def graded_passages(rows: Iterable[LabelRow]) -> Iterator[Graded]:
    """What every row grades, as it is written there."""
    for row in rows:
        passage = (row.query_id, row.document, row.start, row.end, row.page, row.quote)
        yield row.line, passage, row.judge, row.grade


def grade_of(where: str, value: str) -> int:
    """A cell as a grade; raises LabelError that begins with ``where``."""
    (column,) = (one for one in INPUTS[LabelRow].columns if one.name == "grade")
    try:
        return int(column.read(value))
    except ValueError as fault:
        raise LabelError(f"{where}: grade {fault}") from None
