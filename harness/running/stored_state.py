"""What an existing collection holds, as one line, by which a change of it is noticed."""

from __future__ import annotations

import hashlib
import json
from itertools import islice

from harness.running.config.models import BenchConfig
from harness.running.pipeline import collection_searched
from harness.steps import StoredRow, store_faults

# rows whose vectors count too: those of all rows take as long to read as a search of them
_VECTORS = 32


def collection_states(config: BenchConfig) -> dict[str, str]:
    """The state of every collection that settings search as it is, by its place and name.

    That is its rows, its dimension, and a digest of all keys, texts and fields, in any order, with the first
    vectors. Raises HarnessError where a collection cannot be read.
    """
    states: dict[str, str] = {}
    for retrieve in map(collection_searched, config.settings):
        if retrieve is None or (name := f"{retrieve.where}, {retrieve.collection}") in states:
            continue
        with store_faults(name, retrieve.timeout), retrieve.reading(retrieve.collection) as store:
            facts = store.facts()
            # a sum, as stores give their rows in any order
            total = sum(map(_number, store.rows()))
            total += sum(map(_number, islice(store.rows(vectors=True, limit=_VECTORS), _VECTORS)))
        states[name] = f"{facts.rows} rows, {facts.dimension} dimensions, {total % 2**128:032x}"
    return states


def _number(row: StoredRow) -> int:
    vector = b"" if row.vector is None else row.vector.tobytes()
    text = json.dumps([row.key, dict(row.payload)], sort_keys=True, default=str)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass") + vector).digest())
