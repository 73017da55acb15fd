"""The tables of a test set: one dataclass a file, its fields the columns."""

from __future__ import annotations

import csv
import io
import types
import typing
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from harness.corpus.table import FaultsOfRows, Row, meant, read_table
from harness.errors import CorpusError
from harness.labelling.rows import harmless


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
class Candidate:
    """A question to keep or not: ``keep`` is yes, no or empty.

    ``like`` names the earlier question it resembles most, ``likeness`` says how much (0 to 1).
    ``copied_words`` is the longest run of words it shares with its passage, ``copied_share`` the share of its
    content words that stand there; ``look`` says what to look at.
    """

    keep: str
    query_id: str
    text: str
    kind: str
    look: str = ""
    like: str = ""
    likeness: float | None = None
    copied_words: int | None = None
    copied_share: float | None = None
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
    """A question that passages were gathered for, in these words, and how many were found; it may be none."""

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


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as it was when the test set was begun."""

    doc_id: str
    sha256: str
    characters: int
    pages: int


T = TypeVar("T")
# by column its sort, and if it is required
Columns = dict[str, tuple[str, bool]]


def to_csv(kind: type[T], rows: Iterable[T]) -> str:
    """The rows of a table as CSV that no spreadsheet runs a formula of."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(["" if (cell := getattr(row, name)) is None else harmless(cell) for name in names])
    return out.getvalue()


def from_csv(kind: type[T], path: Path) -> list[T]:
    """The rows of a table as people may have saved it; columns of their own are passed over.

    An empty list where the file is not there or has no row. Raises CorpusError that names all lines at fault.
    """
    if not path.exists():
        return []
    columns = _columns(kind)
    needed = [name for name, (_, required) in columns.items() if required]
    if _is_bare(path):
        return []
    table = read_table(path, needed, CorpusError)
    faults, rows = FaultsOfRows(CorpusError), list[T]()
    for row in table.rows:
        with faults.of_a_row():
            rows.append(_row(kind, columns, path, row))
    faults.end()
    return rows


def _is_bare(path: Path) -> bool:
    """Whether a file has a header and nothing below it."""
    with path.open("rb") as file:
        file.readline()
        return not file.read(64).strip()


def _row(kind: type[T], columns: Columns, path: Path, row: Row) -> T:
    cells: dict[str, Any] = {}
    for name, (sort, _) in columns.items():
        text = meant(row.get(name))
        try:
            cells[name] = _value(sort, text)
        except ValueError:
            wanted = {"int": "a whole number", "float": "a number"}[sort.removesuffix("?")]
            raise CorpusError(
                f"{path}, line {row.line}: {name} is {text!r}, not {wanted}. Correct it."
            ) from None
    return kind(**cells)


def _value(sort: str, text: str) -> Any:
    if sort == "str":
        return text
    if sort.endswith("?") and not text:
        return None
    # a spreadsheet writes 3 as 3.0 where the column has gaps
    number = float(text.replace(",", "."))
    if not sort.startswith("int"):
        return number
    if number != int(number):
        raise ValueError(text)
    return int(number)


def _columns(kind: type[Any]) -> Columns:
    """By column its sort (``str``, ``int``, ``float``; ``?``: may be empty) and if it is required."""
    hints = typing.get_type_hints(kind)
    found: Columns = {}
    for field in fields(kind):
        hint = hints[field.name]
        optional = isinstance(hint, types.UnionType)
        base = next(one for one in typing.get_args(hint) if one is not type(None)) if optional else hint
        required = field.default is MISSING and not optional
        found[field.name] = (base.__name__ + ("?" if optional else ""), required)
    return found
