"""What was ranked: places, passages, and the chunks of every setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Cells, Column, table
from harness.report.rows.common import ChunkId, DocumentId, End, Page, QueryId, Setting, Stage, Start
from harness.text.characters import snippet


@table("rankings", "what was ranked where", key=("setting", "stage", "query_id", "rank"))
@dataclass(frozen=True, slots=True)
class RankedRow:
    """One ranked chunk."""

    setting: Setting
    stage: Stage
    query_id: QueryId
    rank: Annotated[int, Column("its place, from 1")]
    chunk_id: ChunkId
    document: DocumentId
    page: Annotated[int | None, Column("the page where it begins, from 1")]
    score: Annotated[
        float | None,
        Column("what the step gave it; empty where it gave none: such chunks keep the order they had"),
    ]
    grade: Annotated[int | None, Column("the grade of its text; empty: unjudged")]
    earned: Annotated[int, Column("the grade, or 0 where its evidence was already read above")]
    text: Annotated[
        str,
        Column("the beginning of its text on one line", header="snippet", shown=snippet),
    ]


def passage_text(row: Cells) -> str:
    """The text of a row of passages.csv as it stands in the document.

    The offsets tell whether a leading apostrophe is the document's own or was put there for spreadsheets.
    """
    length = int(row["end"]) - int(row["start"])
    text = row["text"]
    return f"'{text}" if len(text) == length - 1 else text


@table(
    "passages",
    "the text of what came first",
    key=("chunk_id",),
    needs=("chunk_id", "document", "start", "end", "text"),
)
@dataclass(frozen=True, slots=True)
class PassageRow:
    """A chunk that is among the first ten of some ranking, whole, in the order of the documents.

    ``end - start`` is the length of the text, so a reader can tell whether an apostrophe at its beginning
    belongs to it. A carriage return before a line feed is written as a space, which keeps that length.
    """

    chunk_id: ChunkId
    document: DocumentId
    start: Start
    end: End
    page: Page
    text: Annotated[str, Column("its text", restored=passage_text)]


@table(
    "asked",
    "what was asked in place of a query",
    key=("setting", "step", "query_id", "number"),
    needs=("setting", "step", "query_id", "text"),
    when="where something was rewritten",
)
@dataclass(frozen=True, slots=True)
class AskedRow:
    """A query of a setting as a rewriter put it to a step.

    A step of a setting stands here whole or, where every query was asked as it is, not at all. A query that
    was asked in several ways has a row for each; one that asked nothing, such as a question without a name
    in a route for names, has none.
    """

    setting: Setting
    step: Annotated[str, Column("the step that was asked; with a dot, a route", filled=True)]
    query_id: QueryId
    number: Annotated[int, Column("which of the things asked for the query, from 1")]
    text: Annotated[str, Column("what was asked")]


@table("chunk_offsets", "where every chunk stands")
@dataclass(frozen=True, slots=True)
class ChunkOffsetRow:
    """A chunk of a setting, ranked or not.

    A setting with the chunks of an earlier one has a single row, with that one's name and nothing else.
    """

    setting: Setting
    same_as: Annotated[str, Column("the earlier setting that has the same chunks; else empty")]
    document: Annotated[str, Column("the document")]
    start: Annotated[int | None, Column("the first character", unit="characters")]
    end: Annotated[int | None, Column("the end, not included", unit="characters")]
