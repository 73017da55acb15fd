"""Rows of a label file become judgments: quotes are found in the extracted text, with a score of how well."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from harness import values
from harness.data.corpus import align
from harness.data.corpus.document_files import beside, possible_ids
from harness.data.corpus.file_wordings import FILES
from harness.data.corpus.input_table import FaultsOfRows, InputTable, Note, plain_cell, read_table, usual_name
from harness.data.corpus.inputs import INPUTS, input_table, refuse_misspelt, rows_of
from harness.values import (
    MAX_GRADE,
    Column,
    Document,
    Judgment,
    LabelError,
    StageConfig,
    by_key,
    snippet,
    worded,
)


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


_PASSAGE = ("query_id", "document", "start", "end", "page", "quote")


@input_table("labels", "graded passages", LabelError, key=(*_PASSAGE, "judge"))
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
    table = read_table(path, INPUTS[LabelRow].needs, LabelError, note)
    refuse_misspelt(table, LabelRow)
    whole_pages = any(row.cells.get("page") and not row.cells.get("start") for row in table.rows)
    if not whole_pages and not any(row.cells.get("start") for row in table.rows):
        refuse_unread_quotes(table)
    elif whole_pages and (unread := _unread_quotes(table)):
        note(worded(FILES, "labels.unread", file=table.path, column=repr(unread)))
    rows = rows_of(table, LabelRow, _fault)
    return [replace(row, source=row.source or path.name) for row in rows]


def refuse_unread_quotes(table: InputTable) -> None:
    """Raise LabelError where texts of passages seem to be in a column that is not read."""
    if unread := _unread_quotes(table):
        raise LabelError(
            f"{table.path}: the column {unread!r} is not read. Rename it to 'quote' if it has texts of "
            "passages; if it holds something else, give it another name or remove it."
        )


def _unread_quotes(table: InputTable) -> str:
    """The column that may hold the texts of passages under another name; '' where there is none."""
    return "" if "quote" in table.columns else usual_name("quote", table.columns)


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
    (column,) = (spec for spec in INPUTS[LabelRow].columns if spec.name == "grade")
    try:
        return int(column.read(value))
    except ValueError as fault:
        raise LabelError(f"{where}: grade {fault}") from None


class AnchorConfig(StageConfig):
    """How sure an anchoring must be (0 to 100), and whether a quote below that fails the run or is listed."""

    threshold: float = Field(90.0, ge=0, le=100, description="How alike text and quote must be, 0 to 100.")
    on_unanchored: Literal["fail", "list"] = Field(
        "fail", description="A quote that is not found stops the run, or is listed and does not count."
    )
    duplicates: bool = Field(
        default=True,
        description="Where the text of a relevant label occurs elsewhere too, word for word (white space "
        "aside), both are one evidence: finding either is enough. `false`: only the labelled places count.",
    )
    duplicate_length: int = Field(
        default=30,
        ge=1,
        description="The fewest characters, white space aside, of a label whose duplicates count.",
    )


@dataclass(frozen=True, slots=True)
class Anchoring:
    """Where a label row landed in its document: at ``place``, which counts if it is ``accepted``."""

    row: LabelRow
    document: Document
    place: align.TextPlace
    accepted: bool = False

    @property
    def page(self) -> int | None:
        """The page where it landed, else the one that the row names."""
        return self.document.page_of(self.place.start) if self.place else self.row.page

    @property
    def found(self) -> str:
        """The text where it landed."""
        return self.place.text_in(self.document)

    @property
    def figures_differ(self) -> bool:
        """Whether a fuzzy match holds other digits than the quote."""
        return align.figures_differ(self.place.method, self.row.quote, self.found)

    @property
    def span(self) -> tuple[str, str, int, int]:
        """The query and the place."""
        return self.row.query_id, self.document.doc_id, self.place.start, self.place.end

    @property
    def answer(self) -> tuple[int, int] | None:
        """Where the answer of the row is in the text; None if it names none, or that is not there."""
        if not (self.row.answer and self.place):
            return None
        return answer_span(self.row.answer, self.document, self.place.start, self.place.end)


@dataclass(frozen=True, slots=True)
class AnchorResult:
    """The judgments, one anchoring per row in row order, and the rows of documents that were left out."""

    judgments: tuple[Judgment, ...]
    anchorings: tuple[Anchoring, ...]
    skipped: tuple[LabelRow, ...] = ()

    def graded(self) -> Iterator[Graded]:
        """The text that every row grades."""
        for anchoring in self.anchorings:
            if anchoring.accepted:
                yield anchoring.row.line, anchoring.span, anchoring.row.judge, anchoring.row.grade


def anchor(
    rows: Sequence[LabelRow],
    documents: Mapping[str, Document],
    config: AnchorConfig,
    query_ids: Collection[str] | None = None,
    skipped_documents: Collection[str] = (),
    elsewhere: Collection[int] | None = None,
) -> AnchorResult:
    """Find every row in its document.

    Offsets are checked, a page alone is the whole page without the space around it, a quote is sought on its
    page (also where it runs over to the next), without a page in the whole document: verbatim, then
    without whitespace, then by fuzzy alignment. Rows of ``skipped_documents`` are put aside.

    ``elsewhere`` is given where several parsers read the documents, and this is the text of one: the lines
    of the rows that may be missing here, as another text holds them. A row whose answer is not in the text is
    then missing too, and a quote is not held to a page in a text without pages.

    Raises LabelError for an unknown document, an unknown query (where ``query_ids`` is given), offsets or
    pages that do not fit, two rows on one span, answers that are not in their label's text, and, unless
    ``on_unanchored`` is ``list``, for quotes below the threshold, all of them at once.
    """
    known_queries = None if query_ids is None else frozenset(query_ids)
    doc_ids = []
    for row in rows:
        if known_queries is not None and row.query_id not in known_queries:
            near = values.suggestion(row.query_id, known_queries)
            raise LabelError(
                f"{row.where}: there is no query {row.query_id!r}{near}. Correct the id, or add the query."
            )
        doc_ids.append(_resolve(row, documents, skipped_documents))
    anchorings = tuple(_locate(rows, doc_ids, documents, config.threshold, elsewhere))
    faults, lines = FaultsOfRows(LabelError), dict[tuple[object, ...], int]()
    for item in anchorings:
        with faults.of_a_row():
            if item.accepted:
                _check_landed(item, lines)
            elif config.on_unanchored == "fail" and item.row.line not in (elsewhere or ()):
                raise LabelError(_failure(item, config.threshold))
    faults.end()
    accepted = (item for item in anchorings if item.accepted)
    skipped = (row for row, doc_id in zip(rows, doc_ids, strict=True) if doc_id not in documents)
    return AnchorResult(tuple(map(_judgment, accepted)), anchorings, tuple(skipped))


def _locate(
    rows: Sequence[LabelRow],
    doc_ids: Sequence[str],
    documents: Mapping[str, Document],
    threshold: float,
    elsewhere: Collection[int] | None,
) -> list[Anchoring]:
    """Place each row of a known document; in row order."""
    located: dict[int, Anchoring] = {}
    may_miss = frozenset(elsewhere or ())
    # Document by document, because a searcher remembers what it has prepared of its text.
    by_document = by_key((doc_id, index) for index, doc_id in enumerate(doc_ids) if doc_id in documents)
    for doc_id, indices in by_document.items():
        document, searcher = documents[doc_id], align.Searcher(documents[doc_id])
        for index in indices:
            row = rows[index]
            if elsewhere is not None and row.quote and not document.page_starts:
                row = replace(row, page=None)
            item = Anchoring(row, document, _place(row, document, searcher, may_miss))
            if row.answer and item.answer is None and row.line in may_miss:
                item = replace(item, place=align.TextPlace(item.place.method, 0, 0, 0.0))
            located[index] = replace(item, accepted=bool(item.place) and item.place.score >= threshold)
    return [located[index] for index in sorted(located)]


def _resolve(row: LabelRow, documents: Mapping[str, Document], skipped: Collection[str]) -> str:
    """The document id that a row means, with or without a file suffix."""
    name, stem = possible_ids(row.document)
    for candidate in (name, stem):
        if candidate in documents or candidate in skipped:
            if candidate == name and not row.quote:
                _refuse_ambiguous(row, [*beside(candidate, documents), *beside(candidate, skipped)])
            return candidate
    raise LabelError(
        f"{row.where}: there is no document {row.document!r}{values.suggestion(stem, documents)}. "
        "Correct the name, or add the file to documents."
    )


def _refuse_ambiguous(row: LabelRow, others: Sequence[str]) -> None:
    """Raise LabelError for offsets, or a page, where ``others`` have the name of the document."""
    if others:
        raise LabelError(
            f"{row.where}: there are several files {row.document!r}, which differ in their ending alone "
            f"({values.listed(others)} is another), and without a quote nothing tells from which text the "
            "offsets or the page were taken. Write the name with its ending, or fill quote."
        )


def _place(
    row: LabelRow, document: Document, searcher: align.Searcher, may_miss: Collection[int]
) -> align.TextPlace:
    if row.start is not None and row.end is not None:
        place = align.by_offsets(document, row.start, row.end, row.quote, row.where, LabelError)
        if row.page is not None and document.page_of(row.start) != row.page:
            raise LabelError(
                f"{row.where}: offset {row.start} of {document.doc_id} is on page "
                f"{document.page_of(row.start)}, not {row.page}. Correct one, or leave the page out."
            )
        return place
    if row.quote:
        if row.page is not None:
            align.page_of_row(document, row.page, row.where, LabelError)
        return searcher.find(row.quote.strip(), row.page)
    if row.page is None:
        return align.whole_text(document)
    return align.whole_page(document, row.page, row.where, LabelError, may_miss=row.line in may_miss)


def _failure(item: Anchoring, threshold: float) -> str:
    row, place = item.row, item.place
    at = f"{row.where}, query {row.query_id}, {item.document.doc_id}"
    at += "" if row.page is None else f" page {row.page}"
    closest = f"is {place.score:.1f} % like the closest text, {snippet(item.found, 160)!r}"
    finding = closest if place else "is like nothing there"
    anywhere = align.Searcher(item.document).find(row.quote.strip(), None)
    if anywhere.score > place.score:
        held = "holds it with" if anywhere.score >= threshold else "has text closer to it,"
        finding += f"; page {item.document.page_of(anywhere.start)} {held} {anywhere.score:.1f} %"
    return (
        f"{at}: {snippet(row.quote, 160)!r} {finding}. Correct the quote or the page, lower "
        f"anchor.threshold, which is {threshold:g}, or set anchor: {{on_unanchored: list}}."
    )


def _check_landed(item: Anchoring, lines: dict[tuple[object, ...], int]) -> None:
    """Raise LabelError for an answer that is not in the text, and for a span that its judge has graded.

    To count a span twice would count its gain twice, or contradict itself. ``lines`` are those of the spans
    before it.
    """
    row, place = item.row, item.place
    if row.answer and item.answer is None:
        raise LabelError(
            f"{row.where}: the answer {snippet(row.answer, 160)!r} is not in {snippet(item.found, 160)!r}. "
            "Write it as it is there, or leave it empty."
        )
    line = lines.setdefault((*item.span, row.judge), row.line)
    if line != row.line:
        raise LabelError(
            f"{row.where}: lands on the same text as line {line} "
            f"({item.document.doc_id}:{place.start}-{place.end}, query {row.query_id}). "
            "Keep one row, or give start and end to tell copies apart."
        )


def _judgment(item: Anchoring) -> Judgment:
    row, place = item.row, item.place
    return Judgment(
        query_id=row.query_id,
        doc_id=item.document.doc_id,
        start=place.start,
        end=place.end,
        grade=row.grade,
        evidence=row.evidence,
        source=row.source,
        judge=row.judge,
        answer=item.answer,
    )


def answer_span(answer: str, document: Document, start: int, end: int) -> tuple[int, int] | None:
    """The first place of ``answer`` within ``start``..``end``, verbatim, else without whitespace.

    The apostrophe that keeps a spreadsheet from running it as a formula is overlooked. None if it does not
    be there, or nothing is left of it without whitespace.
    """
    answer = answer if answer in document.text[start:end] else plain_cell(answer)
    place = align.Searcher(document).verbatim(answer, (start, end))
    return None if place is None else (place.start, place.end)
