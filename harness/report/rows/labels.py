"""Labels and documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from harness.report.table_spec import DocumentId, End, Page, QueryId, Setting, Start, table
from harness.values import Column, snippet

_beginning = partial(snippet, length=160)


@table("judgments", "every graded span")
class JudgmentRow:
    """One graded span of a document, half-open in characters."""

    query_id: QueryId
    document: DocumentId
    start: Start
    end: End
    page: Page
    evidence: Annotated[
        str, Column("spans of a query that share one, unless it is empty, are copies of one fact")
    ]
    answer: Annotated[str, Column("the part of the span that answers, as `start-end`; empty: all of it")]
    grade: Annotated[int | None, Column("the grade; empty: not scored")]
    reason: Annotated[str, Column("why it was not scored")]
    judge: Annotated[str, Column("who graded")]
    scored_on: Annotated[
        bool, Column("`no` for labels that are only compared with a judge's: settings are not scored on them")
    ]
    samples: Annotated[str, Column("the grades that were combined, separated by blanks")]
    spread: Annotated[int, Column("their range")]
    cost: Annotated[
        float | None,
        Column(
            "what its calls cost; the whole also where texts are equal and share them; empty: unknown",
            unit="money",
        ),
    ]
    text: Annotated[str, Column("the beginning of the span on one line", header="snippet", shown=snippet)]
    explanation: Annotated[
        str, Column("why the judge gave this grade, in its words; empty where its prompt does not ask")
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundText:
    """Where a text that people or another pipeline gave was found in the extracted text."""

    line: Annotated[int, Column("its line in its file (parquet: its row)")]
    method: Annotated[
        str, Column("how it was found: `offsets`, `page`, `whole`, `exact`, `whitespace_free`, `fuzzy`")
    ]
    score: Annotated[
        float, Column("the similarity to the closest text, up to 100; below 100 only with `fuzzy`")
    ]
    start: Annotated[
        int | None, Column("the first character; empty where nothing similar was found", unit="characters")
    ]
    end: Annotated[int | None, Column("the end, exclusive", unit="characters")]
    copies: Annotated[int, Column("how often it occurs in the searched text; the first one was taken")]
    figures_differ: Annotated[bool, Column("the document has different digits")]


@table(
    "anchoring",
    "where each label's quote was found",
    header="line query_id doc_id page method score start end quote found copies accepted figures_differ",
    kw_only=True,
)
class AnchoringRow(FoundText):
    """A label with a quote, and where it was found in the extracted text: how, and how surely."""

    query_id: Annotated[str, Column("the query")]
    doc_id: Annotated[str, Column("the document")]
    page: Page
    quote: Annotated[str, Column("the beginning of the quote", shown=_beginning)]
    found: Annotated[str, Column("the beginning of what was found", shown=_beginning)]
    accepted: Annotated[bool, Column("`no`: too different, so the label counts as not found")]


@table(
    "hits",
    "where the hits of another pipeline are in the documents",
    key=("setting", "query_id", "rank"),
    when="of `harness score --hits`",
    header="setting line query_id rank document start end method score copies repeats other_page "
    "figures_differ snippet",
    kw_only=True,
)
class HitRow(FoundText):
    """A passage that another pipeline returned, and where it was found in the extracted text."""

    setting: Setting
    query_id: QueryId
    rank: Annotated[int, Column("its rank, from 1")]
    document: Annotated[str, Column("the document; empty: it was not found and counts as unjudged text")]
    repeats: Annotated[bool, Column("a higher-ranked hit is at the same place")]
    other_page: Annotated[bool, Column("the text is not on the page that the row names")]
    text: Annotated[str, Column("the beginning of its text", header="snippet", shown=snippet)]


@table("documents", "what was read, and what was skipped", key=("document",), kw_only=True)
class DocumentRow:
    """One document. A skipped one has a reason, and no figures.

    Suspect pages and characters may stand for lost text (docs/corpora.md). Two results must share the hashes
    of the extracted text to be compared; the hashes in ``record.json`` are those of the files.
    """

    document: DocumentId
    status: Annotated[str, Column("`read` or `skipped`", filled=True)]
    reason: Annotated[str, Column("why it was skipped, or what is unusual about it")] = ""
    pages: Annotated[int | None, Column("how many; 0 for plain text")] = None
    pages_without_text: Annotated[str, Column("their numbers, separated by blanks")] = ""
    suspect_pages: Annotated[str, Column("their numbers, separated by blanks")] = ""
    characters: Annotated[int | None, Column("length of the extracted text", unit="characters")] = None
    suspect_characters: Annotated[int | None, Column("how many", unit="characters")] = None
    missing_characters: Annotated[
        int | None, Column("characters that only the second parser finds", unit="characters")
    ] = None
    undecodable_characters: Annotated[
        int | None, Column("characters of the file that stand for none", unit="characters")
    ] = None
    no_break_spaces: Annotated[int | None, Column("how many", unit="characters")] = None
    encryption: Annotated[str, Column("how the file is encrypted")] = ""
    second_reader: Annotated[str, Column("the second parser, with its version")] = ""
    text_sha256: Annotated[str, Column("the hash of the extracted text")] = ""
