"""The tables of a test set: one dataclass per file, its fields the columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from harness.data import FaultsOfRows, Row, check_offsets, plain_cell, read_table
from harness.labels.labelling.rows import spreadsheet_safe
from harness.values import MAX_GRADE, CorpusError, delimited_text, refuse_special


@dataclass(frozen=True, slots=True)
class Question:
    """A proposed question. ``document``, ``start``, ``end`` and ``passage`` suggest where its evidence is.

    A suggestion is never a grade. The fields with ``_2`` are a second place, for questions that need two.
    ``by`` says who wrote it, ``asked`` how often a search log has it.
    """

    query_id: str
    text: str
    kind: str
    answerable: str = "yes"
    document: str = ""
    page: int | None = None
    start: int | None = None
    end: int | None = None
    passage: str = ""
    document_2: str = ""
    page_2: int | None = None
    start_2: int | None = None
    end_2: int | None = None
    passage_2: str = ""
    by: str = ""
    asked: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Candidate(Question):
    """A question to keep or not: ``keep`` is yes, no or empty.

    ``like`` names the earlier question it resembles most, ``likeness`` says how much (0 to 1).
    ``copied_words`` is the longest run of words it shares with its passage, ``copied_share`` the share of its
    content words that are there; ``look`` says what to look at.
    """

    keep: str = field(kw_only=True)
    look: str = ""
    like: str = ""
    likeness: float | None = None
    copied_words: int | None = None
    copied_share: float | None = None


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A passage to grade for a question; the order of rows says nothing about who found it."""

    query_id: str
    question: str
    doc_id: str
    start: int
    end: int
    page: int | None
    text: str


@dataclass(frozen=True, slots=True)
class FoundRow:
    """Which retrievers found a passage, and at which best rank from 1; not shown to raters."""

    query_id: str
    doc_id: str
    start: int
    end: int
    found_by: str
    best_rank: int | None = None


@dataclass(frozen=True, slots=True)
class SearchedRow:
    """A question that passages were gathered for, in these words, and how many were found, perhaps none."""

    query_id: str
    question: str
    passages: int


@dataclass(frozen=True, slots=True)
class GradeRow:
    """A grade by one grader; ``grade`` empty: none, for the ``reason`` that is given.

    ``answer`` is the part of the passage that answers, where a person has marked it.
    """

    query_id: str
    doc_id: str
    start: int
    end: int
    grade: int | None
    grader: str
    by_model: str = "no"
    evidence: str = ""
    reason: str = ""
    note: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """The golden answer of a question, and who gave it."""

    query_id: str
    question: str
    answer: str = ""
    by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class DisagreementRow:
    """A passage with different grades; ``resolved`` is the grade that holds, to be filled in.

    ``resolved_by`` may say by whom.

    ``grades`` is what everybody said, such as ``Ann 4; Ben 2``, ``apart`` how far the highest is from the
    lowest.
    """

    query_id: str
    question: str
    doc_id: str
    start: int
    end: int
    grades: str
    apart: int
    resolved: int | None
    text: str
    resolved_by: str = ""


@dataclass(frozen=True, slots=True)
class SetDocument:
    """A document as it was when the test set was begun."""

    doc_id: str
    sha256: str
    characters: int
    pages: int


T = TypeVar("T")
_GRADES = ("grade", "resolved")
# The columns that tell rows apart; in tables of questions people may write as they like.
_KEYS: dict[type[Any], tuple[str, ...]] = {
    PoolRow: ("query_id", "doc_id", "start", "end"),
    FoundRow: ("query_id", "doc_id", "start", "end"),
    GradeRow: ("query_id", "doc_id", "start", "end", "grader"),
    DisagreementRow: ("query_id", "doc_id", "start", "end"),
    SearchedRow: ("query_id",),
    AnswerRow: ("query_id",),
    SetDocument: ("doc_id",),
}
Key = tuple[str, str, int, int]
# The columns that come before the others, where the order is not that of the fields.
_FIRST: dict[type[Any], tuple[str, ...]] = {
    Candidate: (
        *("keep", "query_id", "text", "kind"),
        *("look", "like", "likeness", "copied_words", "copied_share"),
    )
}


def key_of(row: PoolRow | GradeRow | DisagreementRow) -> Key:
    """The question and the passage of a row."""
    return row.query_id, row.doc_id, row.start, row.end


def to_csv(kind: type[T], rows: Iterable[T]) -> str:
    """The rows of a table as CSV that no spreadsheet runs a formula of."""
    names = list(dict.fromkeys([*_FIRST.get(kind, ()), *(one.name for one in fields(kind))]))  # type: ignore[arg-type]
    cells = ([getattr(row, name) for name in names] for row in rows)
    return delimited_text(
        [names, *(["" if one is None else spreadsheet_safe(one) for one in row] for row in cells)]
    )


def from_csv(kind: type[T], path: Path) -> list[T]:
    """The rows of a table as people may have saved it; columns of their own are ignored.

    An empty list where the file is not there or has no row. Raises CorpusError that names all lines at fault.
    """
    if not path.exists():
        return []
    needed = [one.name for one in fields(kind) if one.default is MISSING and "None" not in str(one.type)]  # type: ignore[arg-type]
    if _is_bare(path, needed):
        return []
    table = read_table(path, needed, CorpusError)
    faults, rows = FaultsOfRows(CorpusError), list[T]()
    seen: dict[tuple[str, ...], int] = {}
    for row in table.rows:
        with faults.of_a_row():
            rows.append(_row(kind, path, row))
            key = tuple(row.get(one) for one in _KEYS.get(kind, ()))
            if key and seen.setdefault(key, row.line) != row.line:
                raise CorpusError(f"{path}, line {row.line}: the same as line {seen[key]}. Keep one of them.")
    faults.end()
    return rows


def _is_bare(path: Path, needed: Sequence[str]) -> bool:
    """Whether a file has a header and nothing below it."""
    refuse_special(path)
    with path.open("rb") as file:
        header = file.readline()
        return not file.read(64).strip() and all(name.encode() in header for name in needed)


def _row(kind: type[T], path: Path, row: Row) -> T:
    cells: dict[str, Any] = {}
    where = f"{path}, line {row.line}"
    for one in fields(kind):  # type: ignore[arg-type]
        if one.name not in row.cells and one.default is not MISSING:
            continue
        text, sort = plain_cell(row.get(one.name)), str(one.type)
        if not text and one.name in _KEYS.get(kind, ()):
            raise CorpusError(f"{where}: {one.name} is empty. Fill it.")
        if one.name == "by_model" and text not in ("yes", "no", ""):
            raise CorpusError(f"{where}: by_model is {text!r}. Write yes or no.")
        most = MAX_GRADE if one.name in _GRADES else math.inf
        try:
            cells[one.name] = text if sort == "str" else _number(text, sort, most)
        except ValueError:
            wanted = "a whole number" if sort.startswith("int") else "a number"
            limits = "of at least 0" if most == math.inf else f"from 0 to {most}"
            raise CorpusError(
                f"{where}: {one.name} is {text!r}, not {wanted} {limits}. Correct it."
            ) from None
    check_offsets(where, cells.get("start"), cells.get("end"), CorpusError)
    return kind(**cells)


def _number(text: str, sort: str, most: float) -> float | None:
    """A cell of a column whose field is annotated as ``int`` or ``float``, or as either with None.

    Raises ValueError for one that is no number from 0 to ``most``.
    """
    if not text and sort.endswith("None"):
        return None
    # a spreadsheet writes 3 as 3.0 where the column has gaps
    number = float(text.replace(",", "."))
    whole = sort.startswith("int")
    if not 0 <= number <= most or math.isinf(number) or (whole and number != int(number)):
        raise ValueError(text)
    return int(number) if whole else number
