"""The hits of another pipeline as a file lists them: in rank order, not yet placed in documents."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

from harness.data.corpus.anchoring import GivenPassage
from harness.data.corpus.input_table import InputTable, Row, read_table, usual_name
from harness.data.corpus.inputs import input_table, refuse_misspelt, rows_of
from harness.values import Column, CorpusError, by_key, first_line

PLACES = ("start", "page", "text")
_PLACE = "Give text, or document with start and end, or document with page."
# No valid row takes more than this; a damaged file may claim any number.
_MOST_ROWS = 50_000_000


@input_table("hits", "what another pipeline returned", CorpusError)
@dataclass(frozen=True, slots=True, kw_only=True)
class GivenHit(GivenPassage):
    """One returned passage: offsets in a document, its page, or its text.

    Once read, ``rank`` counts from 1 in the order of the file's ranks or, without them, of its scores, and
    ``score`` is None if the file has none that fall with the ranks.
    """

    rank: Annotated[int | None, Column("its rank, from 1 or 0, without gaps")] = None
    score: Annotated[float | None, Column("higher is better; it orders hits without ranks")] = None
    document: Annotated[str, Column("the document; not needed where there is text")] = ""
    text: Annotated[str, Column("the text that was returned", verbatim=True)] = ""
    seconds: Annotated[
        float | None, Column("how long the search for the query took, in each of its rows")
    ] = None


@dataclass(frozen=True, slots=True)
class HitFile:
    """The hits of one pipeline by query, in rank order.

    ``rising`` says that scores rise down every ranking of the file as its rows are, as distances do, and
    that they decided the order; ``scores_kept`` whether scores agree with the ranks. ``unread`` is the column
    that seems to name the documents where there is no ``document``; '' where none does.
    """

    path: Path
    rows: dict[str, tuple[GivenHit, ...]]
    rising: bool
    scores_kept: bool
    unread: str = ""

    @property
    def seconds(self) -> list[float]:
        """The seconds of each query that has them; raises CorpusError where rows of one query differ."""
        times: list[float] = []
        for query, rows in self.rows.items():
            values = {row.seconds for row in rows if row.seconds is not None}
            if len(values) > 1 or any(value < 0 for value in values):
                several = ", ".join(f"{value:g}" for value in sorted(values))
                raise CorpusError(
                    f"{self.path}: seconds of query {query} are {several}. "
                    "Write one time a query, from 0, in each of its rows."
                )
            times += values
        return times


def read_hits(path: Path) -> HitFile:
    """Read ``.jsonl``, ``.csv`` or ``.parquet``; raises CorpusError that names line, column and remedy.

    Columns: query_id; rank (from 1 or 0, without gaps) or score (higher is better; ties stay in the order of
    the file), rank decides where both are there; and start with end, page or text. ``document`` may be left
    out where there is text.
    """
    table = read_table(path, ("query_id",), CorpusError, more={".parquet": _read_parquet})
    refuse_misspelt(table, GivenHit)
    _check_columns(table)
    ranked = "rank" in table.columns
    unread = "" if "document" in table.columns else usual_name("document", table.columns)
    fault = partial(_fault, ranked, unread)
    by_query = by_key((row.query_id, row) for row in rows_of(table, GivenHit, fault))
    rising = not ranked and _rise(by_query.values())
    ordered = {
        query: _by_rank(rows) if ranked else sorted(rows, key=lambda row: -(row.score or 0.0))
        for query, rows in by_query.items()
    }
    kept = all(_falls(rows) for rows in ordered.values())
    numbered = {
        query: tuple(replace(row, rank=i, score=row.score if kept else None) for i, row in enumerate(rows, 1))
        for query, rows in ordered.items()
    }
    unscored = all(row.score is None for rows in ordered.values() for row in rows)
    return HitFile(path, numbered, rising, kept or unscored, unread)


def _read_parquet(path: Path) -> InputTable:
    try:
        from pyarrow import ArrowException, parquet
    except ModuleNotFoundError as error:
        raise CorpusError(
            f"{path}: reading Parquet needs pyarrow: pip install 'ndcg-harness[parquet]'. Or write CSV."
        ) from error
    try:
        if parquet.read_metadata(path).num_rows > _MOST_ROWS:
            raise CorpusError(f"{path}: more than {_MOST_ROWS:,} rows. Write the first ranks of each query.")
        read = parquet.read_table(path, page_checksum_verification=True)
    except (ArrowException, OSError, ValueError) as error:
        raise CorpusError(f"{path}: is no parquet file ({first_line(error)}). Write it again.") from error
    rows = [
        Row(line, {name: _cell(value) for name, value in record.items()})
        for line, record in enumerate(read.to_pylist(), start=1)
    ]
    return InputTable(path, tuple(read.column_names), tuple(rows))


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        # pandas makes floats of integers where a row has none
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _check_columns(table: InputTable) -> None:
    columns = ", ".join(table.columns)
    for needed, remedy in ((("rank", "score"), "Number the hits of each query from 1."), (PLACES, _PLACE)):
        if not {*needed} & {*table.columns}:
            raise CorpusError(f"{table.path}: no column {' or '.join(needed)}, but {columns}. {remedy}")


def _fault(ranked: bool, unread: str, row: GivenHit) -> str:
    if not row.query_id:
        return "query_id is empty. Fill it."
    if ranked and row.rank is None:
        return "rank is empty. Fill it in every row, or leave the column out."
    if not ranked and row.score is None:
        return "score is empty, so the row has no place. Fill it, or write ranks."
    if row.start is None and row.page is None and not row.text:
        return f"nothing says what was returned. {_PLACE}"
    if row.document or row.text:
        return ""
    if unread:
        return f"there is no column 'document'; rename {unread!r} to 'document', or give the text."
    return "document is empty. Name it, or give the text."


def _by_rank(rows: Sequence[GivenHit]) -> list[GivenHit]:
    """The rows by rank; ranks begin at 0 or 1, leave none out and are given once."""
    ordered = sorted(rows, key=lambda row: row.rank or 0)
    for expected, row in enumerate(ordered, start=0 if ordered[0].rank == 0 else 1):
        if row.rank != expected:
            raise CorpusError(
                f"{row.where}: query {row.query_id} has rank {row.rank} where {expected} belongs. Number all "
                "hits down to the last one that counts: without one of them, what follows would move up."
            )
    return ordered


def _falls(rows: Sequence[GivenHit]) -> bool:
    """Whether every row has a score and none is above the one before it."""
    scores = [row.score for row in rows]
    present = [score for score in scores if score is not None]
    return len(present) == len(scores) and present == sorted(present, reverse=True)


def _rise(rankings: Iterable[Sequence[GivenHit]]) -> bool:
    """Whether scores rise, and nowhere fall, down the file within every query that has several."""
    several = [[row.score or 0.0 for row in rows] for rows in rankings if len(rows) > 1]
    return bool(several) and all(scores[0] < scores[-1] and scores == sorted(scores) for scores in several)
