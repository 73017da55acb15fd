"""A run and judgments of any size, made by arithmetic on arrays: the same seed gives the same files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

RANKED, JUDGED = 100, 50
_POOL = 200
_TEMPLATES = 1000
_SHARED_DOCUMENTS = 100_000


@dataclass(frozen=True)
class Shape:
    """The size, the order of the rows, and whether queries share documents."""

    queries: int
    order: str = "random"
    ids: str = "few"
    seed: int = 0

    def __str__(self) -> str:
        """In words."""
        return (
            f"{self.queries:,} queries x {RANKED} ranked x {JUDGED} judged, rows {self.order}, "
            f"{'100,000 document ids' if self.ids == 'few' else 'every document id in one query only'}"
        )


def write(shape: Shape, folder: Path) -> None:
    """Write run.parquet and qrels.parquet with plain string ids, as pandas and polars write them.

    Every query has a pool of 200 documents; the first 100 are ranked, and of the 50 judged ones 25 are
    ranked. Grades are 0, 0, 0, 1, 2, 3 with equal chance.
    """
    rng = np.random.default_rng(shape.seed)
    names, pool = _pool(shape, rng)
    scores = -np.sort(-rng.random((shape.queries, RANKED)), axis=1)
    grades = rng.choice(np.array([0, 0, 0, 1, 2, 3]), size=shape.queries * JUDGED)
    judged = np.take_along_axis(pool, _judged_columns(rng, shape.queries), axis=1)
    for name, docs, value, column in (
        ("run", pool[:, :RANKED], "score", scores.ravel()),
        ("qrels", judged, "grade", grades),
    ):
        rows = rng.permutation(docs.size) if shape.order == "random" else np.arange(docs.size)
        query = pa.array(rows // docs.shape[1]).cast(pa.string())
        table = pa.table(
            {
                "query_id": query,
                "doc_id": names.take(pa.array(docs.ravel()[rows])),
                value: pa.array(column[rows]),
            }
        )
        parquet.write_table(table, folder / f"{name}.parquet")


def _pool(shape: Shape, rng: np.random.Generator) -> tuple[pa.Array, np.ndarray]:
    """The names of all documents, and the rows of 200 different ones for every query."""
    column = np.arange(_POOL)
    if shape.ids == "distinct":
        pool = np.arange(shape.queries)[:, None] * _POOL + column
        return _names(shape.queries * _POOL), pool
    first = rng.integers(0, _SHARED_DOCUMENTS, size=(shape.queries, 1))
    step = rng.integers(1, _SHARED_DOCUMENTS // _POOL, size=(shape.queries, 1))
    return _names(_SHARED_DOCUMENTS), (first + step * column) % _SHARED_DOCUMENTS


def _names(count: int) -> pa.Array:
    digits = pc.utf8_lpad(pa.array(np.arange(count)).cast(pa.string()), 9, "0")
    return pc.binary_join_element_wise("doc", digits, "-")


def _judged_columns(rng: np.random.Generator, queries: int) -> np.ndarray:
    """For every query 25 columns of the ranked half of its pool and 25 of the other, mixed."""
    half = JUDGED // 2
    inside = rng.permuted(np.tile(np.arange(RANKED), (_TEMPLATES, 1)), axis=1)[:, :half]
    outside = rng.permuted(np.tile(np.arange(RANKED, _POOL), (_TEMPLATES, 1)), axis=1)[:, : JUDGED - half]
    templates = rng.permuted(np.concatenate([inside, outside], axis=1), axis=1)
    return templates[rng.integers(0, _TEMPLATES, size=queries)]
