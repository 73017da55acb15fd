"""The queries of a benchmark and how they are divided into train and validation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from harness.data.corpus.input_table import Note, read_table, without_apostrophe
from harness.data.corpus.inputs import INPUTS, input_table, refuse_misspelt, rows_of
from harness.values import SPLITS, CorpusError, Document, Query, Split, StageConfig

# The least number of questions, and how many are tried first: a corpus may hold thousands.
_FEWEST_QUESTIONS = 4
_FIRST = 20

input_table("queries", "the queries", CorpusError, key=("query_id",))(Query)


class SplitConfig(StageConfig):
    """Divide queries by a hash of their id, so that adding one query moves no other.

    A query is in validation when SHA-256 of ``"{seed}:{query_id}"``, as a fraction of its range, is below
    ``validation``.
    """

    by: Literal["hash"] = Field("hash", description="What decides: a hash of the query's id.")
    validation: float = Field(0.3, ge=0, le=1, description="The share of queries in validation.")
    seed: int = Field(7, description="Another seed divides them otherwise.")

    def split_of(self, query_id: str) -> Split:
        """The split of one query; depends on nothing but its id and this config."""
        digest = hashlib.sha256(f"{self.seed}:{query_id}".encode()).digest()
        fraction = int.from_bytes(digest, "big") / 2 ** (8 * len(digest))
        return "validation" if fraction < self.validation else "train"


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries in file order, and per query id what the file says besides (answer, note, type, …)."""

    queries: tuple[Query, ...]
    extras: Mapping[str, Mapping[str, str]]

    def lists_of_queries(self, documents: Sequence[Document]) -> Iterator[tuple[str, int]]:
        """The documents that hold most questions word for word, and how many: lists of them, no sources."""
        questions = [" ".join(query.text.casefold().split()) for query in self.queries]
        if len(questions) < _FEWEST_QUESTIONS:
            return
        for document in documents:
            text = " ".join(document.text.casefold().split())
            if 2 * sum(question in text for question in questions[:_FIRST]) <= len(questions[:_FIRST]):
                continue
            held = sum(question in text for question in questions)
            if held * 2 > len(questions):
                yield document.doc_id, held


def read_queries(path: Path, split: SplitConfig | None, note: Note = lambda _: None) -> QuerySet:
    """Read a CSV, XLSX or JSONL file with query_id, text and optionally split, answerable, cluster and more.

    ``split`` applies only where the file has no split column. ``answerable`` is yes/no, true/false or 1/0
    (default yes), ``cluster`` any name, or empty. The apostrophe that keeps a spreadsheet from running a cell
    as a formula is taken off. ``note`` gets what was unusual in the file. Raises CorpusError that names
    all lines at fault, the column and the remedy.
    """
    table = without_apostrophe(read_table(path, ("query_id", "text"), CorpusError, note))
    refuse_misspelt(table, Query)
    if "split" not in table.columns:
        if split is None:
            raise CorpusError(
                f"{path}: there is no column 'split', and the configuration names no split. Add the column "
                f"({' or '.join(SPLITS)}), or configure split: {{by: hash, validation: 0.3, seed: 7}}."
            )
        table = table.with_column("split", lambda row: split.split_of(row.get("query_id")))
    queries = rows_of(table, Query)
    columns = {input_column.name for input_column in INPUTS[Query].columns}
    extras = {
        row.get("query_id"): MappingProxyType({n: cell for n, cell in row.cells.items() if n not in columns})
        for row in table.rows
    }
    return QuerySet(tuple(queries), MappingProxyType(extras))
