"""The gain of a grade, and the discount of a rank."""

from __future__ import annotations

import numpy as np

from harness.measures.ragged import AnyArray, Floats

_LARGEST = 1000


def gain_exp(grades: AnyArray) -> Floats:
    """``2^g - 1`` (Burges et al., ICML 2005); 0 for grades below 1.

    Raises ValueError for a grade above 1000: the sum of such gains would be infinite.
    """
    if grades.max(initial=0) > _LARGEST:
        raise ValueError(
            f"the grade {grades.max()} is too large for exponential gain, 2^grade - 1; ask for ndcg_lin, or "
            "translate the grades"
        )
    return np.exp2(np.maximum(grades, 0)) - 1.0


def gain_lin(grades: AnyArray) -> Floats:
    """``g`` itself (Järvelin and Kekäläinen, TOIS 2002; trec_eval); 0 for grades below 1."""
    return np.maximum(grades, 0).astype(np.float64)


def log2_discount(positions: AnyArray) -> Floats:
    """``1 / log2(rank + 1)`` for 0-based positions, so 1 at the first rank (Burges et al., ICML 2005)."""
    if not len(positions):
        return np.zeros(0)
    table = 1.0 / np.log2(np.arange(2.0, positions.max() + 3.0))
    return np.asarray(table[positions], dtype=np.float64)
