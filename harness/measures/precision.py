"""Precision at k."""

from __future__ import annotations

from harness.measures.graded import Graded
from harness.measures.ragged import Floats, segment_sum


def precision(graded: Graded, k: int, rel: int = 1) -> Floats:
    """Items among the first k that earn grade ``rel`` or better, over k (also of a shorter ranking)."""
    earned, _, offsets = graded.top(k)
    return segment_sum(earned >= rel, offsets) / k
