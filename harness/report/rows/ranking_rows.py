"""Rankings: places, passages, and the chunks of every setting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from harness.report.table_spec import ChunkId, DocumentId, End, Page, QueryId, Setting, Stage, Start, table
from harness.values import Cells, Column, Span, snippet


@table("rankings", "every ranked passage", key=("setting", "stage", "query_id", "rank"))
class RankedRow:
    """One ranked chunk."""

    setting: Setting
    stage: Stage
    query_id: QueryId
    rank: Annotated[int, Column("its rank, from 1")]
    chunk_id: ChunkId
    document: DocumentId
    page: Page
    score: Annotated[
        float | None,
        Column("the score of the step; empty where it gave none: such chunks keep their earlier order"),
    ]
    grade: Annotated[int | None, Column("the grade of its text; empty: unjudged")]
    earned: Annotated[int, Column("the grade, or 0 if its evidence was already read above")]
    text: Annotated[str, Column("the beginning of its text on one line", header="snippet", shown=snippet)]


Before = Annotated[
    str,
    Column(
        "ranges shown before it, such as the header rows of its table, like `0-21`, separated by "
        "blanks; mostly empty",
        unit="characters",
        ranges=True,
    ),
]


def before_cell(ranges: Iterable[Span]) -> str:
    """The ranges that a chunk shows before it, as a cell of ``before``."""
    return " ".join(f"{start}-{end}" for start, end in ranges)


def before_of(cell: str) -> tuple[tuple[int, int], ...]:
    """The ranges of such a cell; raises ValueError if it holds something else."""
    ranges = [part.split("-") for part in cell.split()]
    return tuple((int(start), int(end)) for start, end in ranges)


def spans_of_chunk(chunk_id: str) -> list[tuple[int, int]]:
    """All ranges that a chunk such as ``doc:0-20+120-340`` shows; the last is its own place."""
    return [*before_of(chunk_id.rpartition(":")[2].replace("+", " "))]


def passage_text(row: Cells) -> str:
    """The text of a row of passages.csv or surroundings.csv as it is in the document.

    The offsets tell whether a leading apostrophe is the document's own or was put there for spreadsheets.
    """
    before = before_of(row.get("before", ""))  # surroundings have no such column
    spans = (*before, (int(row["start"]), int(row["end"])))
    length = sum(end - start for start, end in spans)
    text = row["text"]
    return f"'{text}" if len(text) == length - 1 else text


@table(
    "passages",
    "the text of the top passages",
    key=("chunk_id",),
)
class PassageRow:
    """A chunk that is among the first ten of some ranking, or was read to answer, whole.

    They are in the order of the documents.

    The ranges of ``before`` and ``end - start`` are the length of the text, so a reader can tell whether an
    apostrophe at its beginning belongs to it. A carriage return before a line feed is written as a space,
    which keeps that length.
    """

    chunk_id: ChunkId
    document: DocumentId
    start: Start
    end: End
    page: Page
    text: Annotated[str, Column("its text", restored=passage_text)]
    before: Before = ""


@table(
    "surroundings",
    "the text around the top passages",
    key=("document", "start"),
)
class SurroundingRow:
    """Text right before or after the passages of passages.csv, as far as none of them shows it.

    Ranges do not overlap. A carriage return before a line feed is written as a space.
    """

    document: DocumentId
    start: Start
    end: End
    text: Annotated[str, Column("its text", restored=passage_text)]


@table(
    "asked",
    "the rewritten forms of a query",
    key=("setting", "step", "query_id", "number"),
    when="if queries are rewritten",
)
class AskedRow:
    """A query of a setting as a rewriter put it to a step.

    A step of a setting is here whole or, where every query was asked as it is, not at all. A query that
    was asked in several ways has a row for each; one that asked nothing, such as a query without a name
    in a route for names, has none.
    """

    setting: Setting
    step: Annotated[str, Column("the step that searched with it; with a dot, a route", filled=True)]
    query_id: QueryId
    number: Annotated[int, Column("its number among the rewritten forms of the query, from 1")]
    text: Annotated[str, Column("the rewritten query")]


@table("chunk_offsets", "the place of every chunk")
class ChunkOffsetRow:
    """A chunk of a setting, ranked or not.

    A setting with the chunks of an earlier one has a single row, with that one's name and nothing else.
    """

    setting: Setting
    same_as: Annotated[str, Column("the earlier setting that has the same chunks; else empty")]
    document: Annotated[str, Column("the document")]
    start: Annotated[int | None, Column("the first character", unit="characters")]
    end: Annotated[int | None, Column("the end, exclusive", unit="characters")]
    before: Before = ""


@table("token_starts", "the place of every token", when="if a measure counts tokens of text")
class TokenStartRow:
    """Up to 10,000 tokens of a document, one after the other.

    The first row of a document begins at its first token, each other one where the row before it ends.
    """

    tokenizer: Annotated[str, Column("the tokenizer of one or more settings", filled=True)]
    document: DocumentId
    start: Start
    lengths: Annotated[
        str,
        Column(
            "from the beginning of each token to that of the next, at the last one to its end; separated by "
            "blanks",
            unit="characters",
        ),
    ]
