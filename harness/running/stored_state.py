"""What an existing collection holds, by which a change of it is noticed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from heapq import nsmallest
from itertools import islice
from typing import Any

from harness.running.config.models import BenchConfig
from harness.running.pipeline import collection_searched
from harness.steps import StoredCollection, StoredRow, store_faults

# rows whose vectors are read, and of how many of them vectors are kept: to read all of a large collection
# takes as long as a search of it
_READ, _VECTORS = 1000, 32


@dataclass(frozen=True, slots=True)
class CollectionState:
    """The rows of a collection and its dimension, None without vectors.

    ``digest`` is of all rows in any order; ``vectors`` maps digests of some rows to those of
    their vectors.
    """

    rows: int
    dimension: int | None
    digest: str
    vectors: Mapping[str, str] = field(default_factory=dict)

    def same_as(self, other: CollectionState) -> bool:
        """Whether a collection is unchanged, by all rows and the vectors of those that both have read."""
        alike = (self.rows, self.dimension, self.digest) == (other.rows, other.dimension, other.digest)
        both = self.vectors.keys() & other.vectors.keys()
        return alike and all(self.vectors[row] == other.vectors[row] for row in both)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def collection_states(config: BenchConfig) -> dict[str, CollectionState]:
    """The state of every collection that settings search as it is, by its place and name.

    Raises HarnessError where a collection cannot be read.
    """
    states: dict[str, CollectionState] = {}
    searching = filter(None, map(collection_searched, config.settings))
    # what reads most of a row first
    for retrieve in sorted(searching, key=lambda each: ("hybrid", "vectors", "words").index(each.search)):
        if (name := f"{retrieve.where}, {retrieve.collection}") in states:
            continue
        with store_faults(name, retrieve.timeout), retrieve.reading(retrieve.collection) as store:
            states[name] = state_of(store)
    return states


def state_of(store: StoredCollection) -> CollectionState:
    """The state of an open collection."""
    facts = store.facts()
    vectors = _some_vectors(store) if store.sparse or facts.dimension is not None else {}
    total, counts = 0, Counter[str]()
    # a sum, as stores give their rows in any order
    for row in store.rows():
        digest = row_digest(row, store.lasting_keys)
        total += int(digest, 16)
        if digest in vectors:
            counts[digest] += 1
    # of rows that are alike, others may be read the next time
    kept = {row: digest for row, (count, digest) in vectors.items() if count == counts[row]}
    return CollectionState(facts.rows, facts.dimension, f"{total % 2**128:032x}", kept)


def _some_vectors(store: StoredCollection) -> dict[str, tuple[int, str]]:
    """By the digests of some rows, how many rows are alike and a digest of their vectors.

    They are the smallest digests, so that a store which gives its rows in another order gives the same ones.
    """
    sums: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for row in islice(store.rows(vectors=True, limit=_READ), _READ):
        digest = row_digest(row, store.lasting_keys)
        counts[digest] += 1
        dense = b"" if row.vector is None else row.vector.tobytes()
        vector = dense if row.words is None else dense + repr(row.words).encode()
        sums[digest] += int.from_bytes(hashlib.sha256(vector).digest()[:16])
    return {row: (counts[row], f"{sums[row] % 2**128:032x}") for row in nsmallest(_VECTORS, sums)}


def row_digest(row: StoredRow, with_key: bool) -> str:
    """128 bits, in hexadecimal, of what a row has beside its vectors, and of its key if that counts."""
    text = json.dumps([row.key if with_key else "", dict(row.payload)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
