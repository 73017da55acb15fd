"""Recall at k."""

from __future__ import annotations

import numpy as np

from harness.measures.graded import Graded
from harness.measures.ragged import Floats, segment_sum


def recall(graded: Graded, k: int | None, rel: int = 1) -> Floats:
    """The share of a query's relevant evidence that the first k items cover; 0 if nothing is relevant.

    Evidence is relevant when a copy of it has grade ``rel`` or better, and found when such a copy is covered.
    One item may cover several.
    """
    total = graded.n_relevant(rel)
    found = _found(graded, k, rel)
    return np.divide(found, total, out=np.zeros(len(total)), where=total > 0)


def _found(graded: Graded, k: int | None, rel: int) -> Floats:
    hits = graded.hits
    if hits is None:
        earned, _, offsets = graded.top(k)
        return segment_sum(earned >= rel, offsets)
    counts = hits.grade >= rel
    if k is not None:
        counts &= hits.position < k
    evidence = np.unique(hits.evidence[counts])
    owner = hits.query_of_evidence[evidence]
    return np.bincount(owner[owner >= 0], minlength=graded.n_queries).astype(np.float64)
