"""What a rank costs."""

from __future__ import annotations

import numpy as np

from harness.measures.ragged import AnyArray, Floats


def log2_discount(positions: AnyArray) -> Floats:
    """``1 / log2(rank + 1)`` for 0-based positions, so 1 at the first rank (Burges et al., ICML 2005)."""
    if not len(positions):
        return np.zeros(0)
    table = 1.0 / np.log2(np.arange(2.0, positions.max() + 3.0))
    return np.asarray(table[positions], dtype=np.float64)
