"""What the tables of a result hold: which columns must be there, what a cell may say, what names a row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# Says whether a cell is as the benchmark writes it.
Kind = Callable[[str], bool]

_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
_COUNT = re.compile(r"[0-9]{1,15}")
_CHUNK = re.compile(r".*:[0-9]{1,15}-[0-9]{1,15}", re.DOTALL)


def text(cell: str) -> bool:
    """Anything."""
    return True


def name(cell: str) -> bool:
    """A name."""
    return cell != ""


def number(cell: str) -> bool:
    """A finite number."""
    return _NUMBER.fullmatch(cell) is not None and abs(float(cell)) != float("inf")


def count(cell: str) -> bool:
    """A whole number that is not negative."""
    return _COUNT.fullmatch(cell) is not None


def chunk(cell: str) -> bool:
    """The id of a chunk such as ``document:0-100``."""
    return _CHUNK.fullmatch(cell) is not None


def some_number(cell: str) -> bool:
    """A finite number or nothing."""
    return not cell or number(cell)


def some_count(cell: str) -> bool:
    """A whole number or nothing."""
    return not cell or count(cell)


def blamed(cell: str) -> bool:
    """The name of a stage or nothing."""
    return cell in ("", "parser", "chunking", "retriever", "ranking", "reranker")


@dataclass(frozen=True, slots=True)
class Schema:
    """``needed`` and ``optional`` columns; of the columns ``key`` no two rows hold the same.

    ``rows``: a result has at least one. Other columns may hold anything.
    """

    needed: Mapping[str, Kind]
    optional: Mapping[str, Kind] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    rows: bool = False

    def kinds(self) -> dict[str, Kind]:
        """What to hold the cells of each column against; nothing for those that may say anything."""
        every = {**self.needed, **self.optional}
        return {column: kind for column, kind in every.items() if kind is not text}


_POINT = {"setting": name, "stage": name}
_MEAN = {"mean": some_number, "ci_low": some_number, "ci_high": some_number}
_LOSSES = dict.fromkeys(("parser", "chunking", "retriever", "ranking", "reranker", "final"), number)

# By the name of the file without `.csv`. Tables that are not here may hold anything.
SCHEMAS: dict[str, Schema] = {
    "summary": Schema(
        {
            **_POINT,
            "split": name,
            "measure": name,
            **_MEAN,
            **dict.fromkeys(("n_queries", "n_unanswerable", "n_failed"), count),
        },
        {"judge": text},
        ("setting", "stage", "split", "measure"),
        rows=True,
    ),
    "per_query": Schema(
        {**_POINT, "query_id": name, "split": name, "measure": name, "value": some_number},
        optional={"cluster": text},
        key=("setting", "stage", "query_id", "measure"),
        rows=True,
    ),
    "queries": Schema(
        {"query_id": name, "text": text, "split": name, "answerable": text},
        key=("query_id",),
        optional={"cluster": text},
    ),
    "rankings": Schema(
        {
            **_POINT,
            "query_id": name,
            "rank": count,
            "chunk_id": chunk,
            "document": text,
            "page": some_count,
            "score": some_number,
            "grade": some_count,
            "earned": some_count,
            "snippet": text,
        },
        key=("setting", "stage", "query_id", "rank"),
    ),
    "judgments": Schema(
        {"query_id": name, "document": name, "start": count, "end": count, "grade": some_count},
        {"page": some_count, "evidence": text, "answer": text, "scored_on": text},
    ),
    "chunk_offsets": Schema(
        {"setting": name, "same_as": text, "document": text, "start": some_count, "end": some_count}
    ),
    "passages": Schema(
        {"chunk_id": chunk, "document": text, "start": count, "end": count, "text": text}, key=("chunk_id",)
    ),
    "documents": Schema({"document": name, "status": name}, key=("document",)),
    "waterfall": Schema(
        {"setting": name, "query_id": name, "split": name, "measure": name, **_LOSSES, "blame": blamed},
        key=("setting", "query_id"),
    ),
    "chunks": Schema(
        {"setting": name, "chunks": count},
        dict.fromkeys(
            ("share_under_32", "share_overlong", "share_cut_mid_sentence", "share_covered_twice"), some_number
        ),
        key=("setting",),
    ),
    "prices": Schema(
        {**_POINT, "k": some_count, "tokens_at_k": some_number},
        {"mean": some_number},
        ("setting", "stage"),
    ),
    "costs": Schema({"setting": name}, key=("setting",)),
    "answerability": Schema({**_POINT}, key=("setting", "stage")),
    "anchoring": Schema({}),
}
