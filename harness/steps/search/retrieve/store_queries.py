"""Queries to an open store: by vectors, words or both, from this machine or from all workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.steps.search.retrieve.sparse_vector import SparseVector
from harness.steps.search.retrieve.store_config import StoreConfig
from harness.steps.search.retrieve.stored import Floats, StoredCollection, StoredRow, store_faults
from harness.steps.search.tools import Spread
from harness.values import HarnessError, counted

# queries that a worker of a cluster searches at once
_SHARE = 16


@dataclass(frozen=True, slots=True)
class StoreQueries:
    """What a store is asked: texts, with their vectors [Q, d] and sparse vectors where these are searched."""

    texts: Sequence[str]
    vectors: Floats | None = None
    sparse: Sequence[SparseVector] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, places: Sequence[int]) -> StoreQueries:
        """Those at some places, in the order of these."""
        vectors = None if self.vectors is None else self.vectors[np.array(places, dtype=np.int64)]
        sparse = None if self.sparse is None else [self.sparse[place] for place in places]
        return StoreQueries([self.texts[place] for place in places], vectors, sparse)


def searched(
    c: StoreConfig,
    name: str,
    store: StoredCollection,
    queries: StoreQueries,
    depth: int,
    spread: Spread | None,
) -> list[list[StoredRow]]:
    """What the store finds for all queries: here, or by all workers, each with a connection of its own."""
    if spread is None or len(queries) <= _SHARE:
        return search_in(c, store, queries, depth)
    job = _Job(c, name, depth)
    begins = range(0, len(queries), _SHARE)
    parts = [(begin, queries.at(range(begin, min(begin + _SHARE, len(queries))))) for begin in begins]
    answers: dict[int, list[list[StoredRow]]] = dict(spread(job, parts))
    return [rows for begin in sorted(answers) for rows in answers[begin]]


@dataclass(frozen=True, slots=True)
class _Job:
    """A search of part of the queries in a store with an address, on any machine."""

    config: StoreConfig
    name: str
    depth: int

    def __call__(self, part: tuple[int, StoreQueries]) -> tuple[int, list[list[StoredRow]]]:
        begin, queries = part
        with self.config.reading(self.name) as store:
            return begin, search_in(self.config, store, queries, self.depth)


def search_in(
    c: StoreConfig, store: StoredCollection, queries: StoreQueries, depth: int
) -> list[list[StoredRow]]:
    """The rows that a store finds for queries, as the configuration says; raises HarnessError if it fails."""
    with store_faults(c.where, c.timeout):
        if queries.sparse is not None:
            rows = store.by_sparse(queries.sparse, queries.vectors, depth)
        elif queries.vectors is None:
            rows = store.by_words(queries.texts, depth)
        elif c.search == "hybrid":
            rows = store.hybrid(queries.vectors, queries.texts, depth)
        else:
            rows = store.near(queries.vectors, depth, exact=c.exact)
    if len(rows) != len(queries):
        raise HarnessError(
            f"{c.where} answered {counted(len(rows), 'query', 'queries')} of {len(queries)}. Run again."
        )
    return rows
