"""Queries to an open store: by vectors, words or both, from this machine or from all workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.steps.search.retrieve.store_config import StoreConfig
from harness.steps.search.retrieve.stored import Floats, StoredCollection, StoredRow, store_faults
from harness.steps.search.tools import Spread
from harness.values import HarnessError, counted

# queries that a worker of a cluster searches at once
_SHARE = 16


def searched(
    c: StoreConfig,
    name: str,
    store: StoredCollection,
    texts: Sequence[str],
    vectors: Floats | None,
    depth: int,
    spread: Spread | None,
) -> list[list[StoredRow]]:
    """What the store finds for all queries: here, or by all workers, each with a connection of its own."""
    if spread is None or len(texts) <= _SHARE:
        return search_in(c, store, texts, vectors, depth)
    job = _Job(c, name, depth)
    parts = [
        (
            begin,
            list(texts[begin : begin + _SHARE]),
            None if vectors is None else vectors[begin : begin + _SHARE],
        )
        for begin in range(0, len(texts), _SHARE)
    ]
    answers: dict[int, list[list[StoredRow]]] = dict(spread(job, parts))
    return [rows for begin in sorted(answers) for rows in answers[begin]]


@dataclass(frozen=True, slots=True)
class _Job:
    """A search of part of the queries in a store with an address, on any machine."""

    config: StoreConfig
    name: str
    depth: int

    def __call__(self, part: tuple[int, list[str], Floats | None]) -> tuple[int, list[list[StoredRow]]]:
        begin, texts, vectors = part
        with self.config.reading(self.name) as store:
            return begin, search_in(self.config, store, texts, vectors, self.depth)


def search_in(
    c: StoreConfig, store: StoredCollection, texts: Sequence[str], vectors: Floats | None, depth: int
) -> list[list[StoredRow]]:
    """The rows that a store finds for queries, as the configuration says; raises HarnessError if it fails."""
    with store_faults(c.where, c.timeout):
        if vectors is None:
            rows = store.by_words(texts, depth)
        elif c.search == "hybrid":
            rows = store.hybrid(vectors, texts, depth)
        else:
            rows = store.near(vectors, depth, exact=c.exact)
    if len(rows) != len(texts):
        raise HarnessError(
            f"{c.where} answered {counted(len(rows), 'query', 'queries')} of {len(texts)}. Run again."
        )
    return rows
