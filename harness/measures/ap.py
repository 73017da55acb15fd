"""Average precision."""

from __future__ import annotations

import numpy as np

from harness.measures.graded import Graded
from harness.measures.ragged import Floats, running_count, segment_sum


def average_precision(graded: Graded, k: int | None = None, rel: int = 1) -> Floats:
    """Sum of the precision at every rank that earns ``rel`` or better, over all relevant evidence.

    What is relevant but not ranked counts in the denominator; 0 if nothing is relevant.
    Its mean over queries is MAP (Buckley and Voorhees, SIGIR 2000).
    """
    earned, position, offsets = graded.top(k)
    relevant = earned >= rel
    precisions = np.where(relevant, running_count(relevant, offsets) / (position + 1), 0.0)
    total = graded.n_relevant(rel)
    sums = segment_sum(precisions, offsets)
    return np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
