"""Which queries belong together, for a comparison that has no other file to say so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from harness.data.corpus.input_table import Note
from harness.data.corpus.inputs import input_table, read_rows
from harness.values import Column, CorpusError, id_of_query


@input_table("clusters", "which queries are alike", CorpusError, key=("query_id",))
@dataclass(frozen=True, slots=True)
class ClusterRow:
    """The cluster of one query; a file of queries with a column ``cluster`` holds such rows too."""

    query_id: Annotated[str, Column("the query", read=id_of_query)]
    cluster: Annotated[str, Column("the group of queries that it is tested with; empty: it stands alone")]


def read_clusters(path: Path, note: Note = lambda _: None) -> dict[str, str]:
    """The cluster of every query in a CSV, XLSX or JSONL file, '' for none.

    Raises CorpusError that names all lines at fault, the column and the remedy.
    """
    return {row.query_id: row.cluster for row in read_rows(path, ClusterRow, note)}
