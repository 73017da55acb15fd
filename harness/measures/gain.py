"""What a grade is worth."""

from __future__ import annotations

import numpy as np

from harness.measures.ragged import AnyArray, Floats

_HIGHEST = 1000


def gain_exp(grades: AnyArray) -> Floats:
    """``2^g - 1`` (Burges et al., ICML 2005); 0 for grades below 1.

    Raises ValueError for a grade above 1000: sums of such gains are beyond what a float64 holds.
    """
    if grades.max(initial=0) > _HIGHEST:
        raise ValueError(
            f"the grade {grades.max()} has no exponential gain; use linear gain or grades 0 to 4"
        )
    return np.exp2(np.maximum(grades, 0)) - 1.0


def gain_lin(grades: AnyArray) -> Floats:
    """``g`` itself (Järvelin and Kekäläinen, TOIS 2002; trec_eval); 0 for grades below 1."""
    return np.maximum(grades, 0).astype(np.float64)
