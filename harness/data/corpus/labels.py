"""Labels as they are in a file: rows that are still to be anchored, and spans that are placed already."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from harness.data.corpus.reading import read_utf8
from harness.data.corpus.spreadsheet import Note
from harness.data.corpus.table import (
    FaultsOfRows,
    Row,
    check_offsets,
    read_table,
    suggestion,
    whole_number,
    without_zeros,
)
from harness.values import MAX_GRADE, CorpusError, Document, Judgment, LabelError, StageConfig, problem_in


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One graded passage: offsets, a page and a quote, a page, or a quote to be searched in the document.

    ``start`` and ``end`` are half-open character offsets into the extracted text, ``page`` is the 1-based
    page of the PDF file (not the printed number). ``line`` is the line of the row in ``source``. ``answer``
    is the part of the passage that answers, '' for all of it.
    """

    line: int
    query_id: str
    document: str
    grade: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    quote: str = ""
    evidence: str = ""
    note: str = ""
    judge: str = "human"
    source: str = ""
    answer: str = ""


def read_labels(path: Path, note: Note = lambda _: None) -> list[LabelRow]:
    """Read label rows from CSV, XLSX or JSONL; ``note`` gets what was unusual in the file.

    Raises LabelError that names all lines at fault, the column and the remedy.

    Columns: query_id, document, grade (an integer 0 to 4) and start, end, page, quote, of which start with
    end, page, quote, or page with quote must be filled; optional evidence, answer, note, judge (default
    ``human``) and source (default the file name).
    """
    table = read_table(path, ("query_id", "document", "grade"), LabelError, note)
    rows: list[LabelRow] = []
    seen: dict[tuple[object, ...], int] = {}
    faults = FaultsOfRows(LabelError)
    for raw in table.rows:
        with faults.of_a_row():
            row = _label(path, raw)
            key = (row.query_id, row.document, row.start, row.end, row.page, row.quote, row.judge)
            if key in seen:
                raise LabelError(
                    f"{path}, line {row.line}: labels the same as line {seen[key]}. Keep one of them."
                )
            seen[key] = row.line
            rows.append(row)
    faults.end()
    return rows


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


def _label(path: Path, raw: Row) -> LabelRow:
    where = f"{path}, line {raw.line}"
    for column in ("query_id", "document"):
        if not raw.get(column):
            raise LabelError(f"{where}: {column} is empty. Fill it.")
    row = LabelRow(
        line=raw.line,
        query_id=raw.get("query_id"),
        document=raw.get("document"),
        grade=grade_of(where, raw.get("grade")),
        start=whole_number(where, "start", raw.get("start"), 0),
        end=whole_number(where, "end", raw.get("end"), 1),
        page=whole_number(where, "page", raw.get("page"), 1),
        quote=raw.get("quote"),
        evidence=raw.get("evidence"),
        note=raw.get("note"),
        judge=raw.get("judge") or "human",
        source=raw.get("source") or path.name,
        answer=raw.get("answer"),
    )
    check_offsets(where, row.start, row.end, LabelError)
    if row.start is None and row.page is None and not row.quote:
        raise LabelError(
            f"{where}: does not say what is graded. Fill start and end, page, quote, or page and quote."
        )
    return row


def grade_of(where: str, value: str) -> int:
    """A cell as a grade; raises LabelError that begins with ``where``."""
    value = without_zeros(value)
    if value not in {str(grade) for grade in range(MAX_GRADE + 1)}:
        raise LabelError(f"{where}: grade is {value!r}. Write an integer from 0 to {MAX_GRADE}.")
    return int(value)


class _Row(StageConfig):
    query_id: str
    doc_id: str
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    grade: int | None = Field(ge=0, le=MAX_GRADE, strict=True)
    evidence: str = ""
    judge: str = "human"


def read_judgments(
    file: Path, documents: Mapping[str, Document], query_ids: Collection[str]
) -> tuple[Judgment, ...]:
    """Graded spans from JSON lines: query_id, doc_id, start, end, grade (0..4 or null), evidence, judge.

    Raises LabelError that names all lines at fault: malformed ones, labels given twice, and grades of unknown
    queries or documents, or beyond the end of a document; and where two judges differ on a span.
    """
    try:
        lines = read_utf8(file).removeprefix("\ufeff").split("\n")
    except CorpusError as error:
        raise LabelError(f"relevance.file: {error}") from error
    found: dict[tuple[object, ...], tuple[int, Judgment]] = {}
    faults = FaultsOfRows(LabelError)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        with faults.of_a_row():
            where = f"{file}, line {number}"
            one = _judgment(line, str(file), where)
            if one.grade is not None:
                _check(one, documents, query_ids, where)
            first, _ = found.setdefault(
                (one.query_id, one.doc_id, one.start, one.end, one.judge), (number, one)
            )
            if first != number:
                raise LabelError(f"{where}: labels the same as line {first}. Keep one of them.")
    faults.end()
    if not found:
        raise LabelError(f"relevance.file: {file}: there is no label in it. Add some, or name another file.")
    spans = ((line, (one.query_id, one.doc_id, one.start, one.end), one) for line, one in found.values())
    refuse_disputed(((line, span, one.judge, one.grade) for line, span, one in spans), file)
    return tuple(one for _, one in found.values())


def _judgment(line: str, source: str, where: str) -> Judgment:
    try:
        row = _Row.model_validate(json.loads(line))
    except ValidationError as error:
        raise LabelError(f"{where}: not a label ({problem_in(error)}). Correct it.") from error
    except (ValueError, RecursionError) as error:
        raise LabelError(f"{where}: not valid JSON ({error}). Write one object per line.") from error
    check_offsets(where, row.start, row.end, LabelError)
    return Judgment(
        row.query_id, row.doc_id, row.start, row.end, row.grade, row.evidence, source, row.judge, ""
    )


def _check(
    judgment: Judgment, documents: Mapping[str, Document], query_ids: Collection[str], where: str
) -> None:
    name, text = judgment.query_id, documents.get(judgment.doc_id)
    if name not in query_ids:
        raise LabelError(f"{where}: there is no query {name!r}{suggestion(name, query_ids)}. Correct the id.")
    if text is None:
        near = suggestion(judgment.doc_id, documents)
        raise LabelError(f"{where}: there is no document {judgment.doc_id!r}{near}. Correct the name.")
    if judgment.end > len(text.text):
        raise LabelError(
            f"{where}: end {judgment.end} lies beyond the text of {judgment.doc_id} ({len(text.text)} "
            "characters). Correct it; or was the text extracted by another engine?"
        )
