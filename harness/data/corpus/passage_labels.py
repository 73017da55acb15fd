"""Labels where passages are the documents: each names its passage by its key or by its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from harness.data.corpus.align import whitespace_free
from harness.data.corpus.anchoring import LabelRow
from harness.data.corpus.input_table import FaultsOfRows, Note, read_table
from harness.data.corpus.inputs import INPUTS, input_table, refuse_misspelt, rows_of
from harness.values import Column, Document, LabelError, snippet


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
    rows = rows_of(table, PassageLabelRow, _fault)
    return [replace(row, source=row.source or path.name) for row in rows]


def _fault(row: PassageLabelRow) -> str:
    if row.document or row.quote:
        return ""
    return "names no passage. Fill document with its key, or quote with its text."


def named_by_text(rows: Sequence[LabelRow], passages: Mapping[str, Document]) -> tuple[LabelRow, ...]:
    """The rows with the keys that are missing, each that of the passage with the quoted text.

    White space does not count. Of equal passages the first by key is named. Raises LabelError for all rows
    whose text no passage has.
    """
    if all(row.document for row in rows):
        return tuple(rows)
    ids = {whitespace_free(passages[doc_id].text).text: doc_id for doc_id in sorted(passages, reverse=True)}
    faults, named = FaultsOfRows(LabelError), list[LabelRow]()
    for row in rows:
        with faults.of_a_row():
            document = row.document or ids.get(whitespace_free(row.quote).text)
            if document is None:
                raise LabelError(
                    f"{row.where}: no passage has the text {snippet(row.quote, 160)!r}. Give the whole text "
                    "of a passage, or its key as document."
                )
            named.append(replace(row, document=document))
    faults.end()
    return tuple(named)
