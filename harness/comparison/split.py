"""Folds of queries, in proportion within strata; decided by hashes, not by chance."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from harness.stats.arrays import Ints


def folds(query_ids: Sequence[str], count: int, seed: int, strata: Sequence[str] | None = None) -> Ints:
    """The fold 0..count-1 of every query, [Q]; folds differ by at most one query, overall and by stratum."""
    if not 2 <= count <= len(query_ids):
        raise ValueError(f"{len(query_ids)} queries cannot be divided into {count} folds")
    fold = np.empty(len(query_ids), dtype=np.int64)
    order = [i for members in _strata(query_ids, strata, seed) for i in members]
    fold[order] = np.arange(len(order)) % count
    return fold


def _strata(query_ids: Sequence[str], strata: Sequence[str] | None, seed: int) -> list[list[int]]:
    """The queries of every stratum, strata by name, queries by hash."""
    if strata is not None and len(strata) != len(query_ids):
        raise ValueError(f"{len(query_ids)} queries, but {len(strata)} strata")
    hashes = [hashlib.sha256(f"{seed}:{query_id}".encode()).digest() for query_id in query_ids]
    members: dict[str, list[int]] = {}
    for i in sorted(range(len(query_ids)), key=lambda i: hashes[i]):
        members.setdefault(strata[i] if strata else "", []).append(i)
    return [members[name] for name in sorted(members)]
