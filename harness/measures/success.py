"""Success at k: is there anything relevant among the first k?"""

from __future__ import annotations

import numpy as np

from harness.measures.graded import Graded
from harness.measures.ragged import Floats, segment_sum


def success(graded: Graded, k: int | None = None, rel: int = 1) -> Floats:
    """1 if an item among the first k earns grade ``rel`` or better, else 0.

    ``success_k`` of trec_eval; others call its mean the hit rate.
    """
    earned, _, offsets = graded.top(k)
    return (segment_sum(earned >= rel, offsets) > 0).astype(np.float64)
