"""Labels where passages are the documents: each names its passage by its key or by its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from harness.data.corpus.align import whitespace_free
from harness.data.corpus.anchoring import LabelRow, refuse_unread_quotes
from harness.data.corpus.input_table import FaultsOfRows, Note, read_table
from harness.data.corpus.inputs import INPUTS, input_table, refuse_misspelt, rows_of
from harness.values import Column, Document, LabelError, snippet, suggestion


@input_table(
    "labels of passages",
    "graded passages of a collection that are the documents",
    LabelError,
    key=("query_id", "document", "start", "end", "page", "quote", "judge"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PassageLabelRow(LabelRow):
    """A grade of a passage, or of the part that it quotes; without a key, of the one with the quoted text."""

    document: Annotated[str, Column("the passage by its key; empty: the one whose text is the quote")] = ""


def read_passage_labels(path: Path, note: Note = lambda _: None) -> list[PassageLabelRow]:
    """Read labels of passages from CSV, XLSX or JSONL; errors as `read_labels`."""
    table = read_table(path, INPUTS[PassageLabelRow].needs, LabelError, note)
    refuse_misspelt(table, PassageLabelRow)
    refuse_unread_quotes(table)
    rows = rows_of(table, PassageLabelRow, _fault)
    return [replace(row, source=row.source or path.name) for row in rows]


def _fault(row: PassageLabelRow) -> str:
    if row.document or row.quote:
        return ""
    return "names no passage. Fill document with its key, or quote with its text."


def with_passages_named(
    rows: Sequence[LabelRow], passages: Mapping[str, Document], id_of: Callable[[str], str]
) -> tuple[LabelRow, ...]:
    """The rows with the id of their passage: that of the key, or of the passage with the quoted text.

    ``id_of`` gives the id of a key. White space does not count in a text, and of equal passages the first by
    id is named. Raises LabelError for all rows that name no passage.
    """
    ids = {whitespace_free(passages[doc_id].text).text: doc_id for doc_id in sorted(passages, reverse=True)}
    faults, named = FaultsOfRows(LabelError), list[LabelRow]()
    for row in rows:
        with faults.of_a_row():
            if row.document:
                keys = (id_of(row.document), row.document)
                document = next((key for key in keys if key in passages), None)
                wrong = (
                    f"there is no passage {row.document!r}{suggestion(row.document, passages)}. Correct it."
                )
            else:
                document = ids.get(whitespace_free(row.quote).text)
                wrong = (
                    f"no passage has the text {snippet(row.quote, 160)!r}. Give the whole text of a passage, "
                    "or its key as document."
                )
            if document is None:
                raise LabelError(f"{row.where}: {wrong}")
            named.append(replace(row, document=document))
    faults.end()
    return tuple(named)
