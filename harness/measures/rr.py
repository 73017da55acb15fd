"""Reciprocal rank."""

from __future__ import annotations

import numpy as np

from harness.measures.graded import Graded
from harness.measures.ragged import Floats, running_count, segment_sum


def reciprocal_rank(graded: Graded, k: int | None = None, rel: int = 1) -> Floats:
    """One over the rank of the first item that earns ``rel`` or better; 0 if none does.

    Its mean over queries is MRR (Voorhees, TREC-8, 1999).
    """
    earned, position, offsets = graded.top(k)
    relevant = earned >= rel
    first = relevant & (running_count(relevant, offsets) == 1)
    return segment_sum(np.where(first, 1.0 / (position + 1), 0.0), offsets)
