"""The tables of a test set, each declared as the dataclass of its rows (harness/values/columns.py)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from harness.data import INPUTS, input_table
from harness.labels.labelling.label_rows import spreadsheet_safe
from harness.values import MAX_GRADE, Column, CorpusError, Document, delimited_text

T = TypeVar("T")
Key = tuple[str, str, int, int]
_PASSAGE = ("query_id", "doc_id", "start", "end")


@dataclass(frozen=True, slots=True)
class Place:
    """A half-open range of a document."""

    document: Document
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the range."""
        return self.document.text[self.start : self.end]

    @property
    def page(self) -> int | None:
        """The page on which it begins."""
        return self.document.page_of(self.start)


@input_table("proposed.csv", "questions that are proposed", CorpusError, formulas=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A proposed question, and where its evidence may be, in one or two places; that is never a grade."""

    query_id: Annotated[str, Column("its id")]
    text: Annotated[str, Column("the question")]
    kind: Annotated[str, Column("the kind of question")]
    answerable: Annotated[bool, Column("whether the documents hold an answer")] = True
    answer: Annotated[str, Column("the golden answer that it came with")] = ""
    document: Annotated[str, Column("the document")] = ""
    page: Annotated[int | None, Column("the page on which the passage begins", least=1)] = None
    start: Annotated[int | None, Column("the first character")] = None
    end: Annotated[int | None, Column("the end, exclusive")] = None
    passage: Annotated[str, Column("its text")] = ""
    document_2: Annotated[str, Column("the document of a second passage, where two are needed")] = ""
    page_2: Annotated[int | None, Column("its page", least=1)] = None
    start_2: Annotated[int | None, Column("its first character")] = None
    end_2: Annotated[int | None, Column("its end, exclusive")] = None
    passage_2: Annotated[str, Column("its text")] = ""
    by: Annotated[str, Column("who wrote it")] = ""
    asked: Annotated[int | None, Column("how often a search log has it")] = None
    note: Annotated[str, Column("anything")] = ""


@input_table("chosen.csv", "questions of which some are kept", CorpusError, formulas=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Question):
    """A question to keep or not."""

    keep: Annotated[str, Column("`yes` or `no`; empty: open", among=("yes", "no"))] = ""
    look: Annotated[str, Column("what to look at")] = ""
    like: Annotated[str, Column("the earlier question that it resembles most")] = ""
    likeness: Annotated[float | None, Column("how much, from 0 to 1")] = None
    copied_words: Annotated[int | None, Column("the longest run of words that is in its passage")] = None
    copied_share: Annotated[float | None, Column("the share of its content words that are there")] = None


@dataclass(frozen=True, slots=True)
class SetPassage:
    """A passage for a question: a half-open range of a document."""

    query_id: Annotated[str, Column("the question")]
    doc_id: Annotated[str, Column("the document")]
    start: Annotated[int, Column("the first character")]
    end: Annotated[int, Column("the end, exclusive", least=1)]

    @property
    def key(self) -> Key:
        """The question and the passage."""
        return self.query_id, self.doc_id, self.start, self.end


@input_table("pool.csv", "passages to grade", CorpusError, key=_PASSAGE, formulas=True)
@dataclass(frozen=True, slots=True)
class PoolRow(SetPassage):
    """A passage to grade for a question; the order of rows says nothing about who found it."""

    question: Annotated[str, Column("the question in words")]
    page: Annotated[int | None, Column("the page on which the passage begins")]
    text: Annotated[str, Column("its text")]


@input_table("found.csv", "who found the passages", CorpusError, key=_PASSAGE, formulas=True)
@dataclass(frozen=True, slots=True)
class FoundRow(SetPassage):
    """Which retrievers found a passage; not shown to raters."""

    found_by: Annotated[str, Column("the retrievers, with semicolons between them")]
    best_rank: Annotated[int | None, Column("the best rank at which one found it, from 1")] = None


@input_table(
    "searched.csv", "questions that were searched for", CorpusError, key=("query_id",), formulas=True
)
@dataclass(frozen=True, slots=True)
class SearchedRow:
    """A question that passages were gathered for."""

    query_id: Annotated[str, Column("the question")]
    question: Annotated[str, Column("the words in which it was searched for")]
    passages: Annotated[int, Column("how many passages were found")]


@input_table(
    "grades.csv", "the grades of every grader", CorpusError, key=(*_PASSAGE, "grader"), formulas=True
)
@dataclass(frozen=True, slots=True)
class GradeRow(SetPassage):
    """A grade by one grader, or by all whose grades were merged."""

    grade: Annotated[int | None, Column("the grade; empty: none", most=MAX_GRADE)]
    grader: Annotated[str, Column("who graded")]
    by_model: Annotated[bool, Column("whether that is a language model")] = False
    evidence: Annotated[str, Column("passages of a question that share a name state one fact")] = ""
    reason: Annotated[str, Column("why there is no grade")] = ""
    note: Annotated[str, Column("anything")] = ""
    answer: Annotated[str, Column("the part of the passage that answers, where a person marked it")] = ""


@input_table("answers.csv", "golden answers", CorpusError, key=("query_id",), formulas=True)
@dataclass(frozen=True, slots=True)
class AnswerRow:
    """The golden answer of a question."""

    query_id: Annotated[str, Column("the question")]
    question: Annotated[str, Column("the words in which it was answered")]
    answer: Annotated[str, Column("the answer; empty: none yet")] = ""
    by: Annotated[str, Column("who gave it")] = ""
    note: Annotated[str, Column("anything")] = ""
    draft: Annotated[str, Column("what a model wrote, before people changed it")] = ""
    reviewed_by: Annotated[str, Column("who reviewed it")] = ""
    before: Annotated[str, Column("what people or a file gave, before a review changed it")] = ""


@input_table(
    "reviewed answers",
    "golden answers that a person has reviewed",
    CorpusError,
    key=("query_id",),
    formulas=True,
)
@dataclass(frozen=True, slots=True)
class ReviewedAnswer:
    """A golden answer as a person leaves it, in a sheet or as the page saves it."""

    query_id: Annotated[str, Column("the question")]
    question: Annotated[str, Column("its words")]
    answer: Annotated[str, Column("the answer; empty: not reviewed")]
    reviewed: Annotated[bool, Column("whether it was reviewed, if nothing was changed")] = False


@input_table("disagreements.csv", "passages with different grades", CorpusError, key=_PASSAGE, formulas=True)
@dataclass(frozen=True, slots=True)
class DisagreementRow(SetPassage):
    """A passage with different grades, and the one that holds."""

    question: Annotated[str, Column("the question in words")]
    grades: Annotated[str, Column("what everybody said, such as `Ann 4; Ben 2`")]
    apart: Annotated[int, Column("how far the highest grade is from the lowest")]
    resolved: Annotated[int | None, Column("the grade that holds, to be filled in", most=MAX_GRADE)]
    text: Annotated[str, Column("the text of the passage")]
    resolved_by: Annotated[str, Column("who settled it")] = ""


@input_table("documents.csv", "the documents of a test set", CorpusError, key=("doc_id",), formulas=True)
@dataclass(frozen=True, slots=True)
class SetDocument:
    """A document as it was when the test set was begun."""

    doc_id: Annotated[str, Column("its id")]
    sha256: Annotated[str, Column("the hash of its text")]
    characters: Annotated[int, Column("the length of its text")]
    pages: Annotated[int, Column("how many pages it has")]


# The columns that come before the others, where the order is not that of the fields.
_FIRST: dict[type[Any], tuple[str, ...]] = {
    Candidate: (
        *("keep", "query_id", "text", "kind"),
        *("look", "like", "likeness", "copied_words", "copied_share", "answerable"),
    ),
    PoolRow: ("query_id", "question"),
    DisagreementRow: ("query_id", "question"),
}


def to_csv(kind: type[T], rows: Iterable[T]) -> str:
    """The rows of a table as CSV that no spreadsheet runs a formula of."""
    names = list(dict.fromkeys([*_FIRST.get(kind, ()), *(column.field for column in INPUTS[kind].columns)]))
    return delimited_text([names, *([_cell(getattr(row, name)) for name in names] for row in rows)])


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else spreadsheet_safe(value)
