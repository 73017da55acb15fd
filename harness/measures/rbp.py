"""Rank-biased precision, and its residual: how far what is unknown could raise it."""

from __future__ import annotations

import numpy as np

from harness.measures.graded import Graded
from harness.measures.ragged import Floats, head, positions, segment_sum


def rbp(graded: Graded, k: int | None, p: float, rel: int = 1) -> Floats:
    """The share of what a patient reader looks at that is relevant.

    That is ``(1 - p) Σ [grade >= rel] p^(rank - 1)`` over the first k ranks (all where None): the reader goes
    on from each rank to the next with probability ``p``. In [0, 1]; short rankings never reach 1. Source:
    Moffat and Zobel, TOIS 2008.
    """
    earned, place, offsets = graded.top(k)
    return (1 - p) * segment_sum((earned >= rel) * np.power(p, place), offsets)


def rbp_residual(graded: Graded, k: int | None, p: float, rel: int = 1) -> Floats:
    """How much ``rbp`` would rise if all that is unknown were relevant; no grading exceeds the two together.

    Unknown are the ranks that are not judged, or judged in part and below ``rel``, each worth ``(1 - p)
    p^(rank - 1)``, and all ranks after the last that was looked at, worth ``p^d`` for a depth of d. Source:
    Moffat and Zobel, TOIS 2008.
    """
    index, offsets = head(graded.offsets, k)
    unknown = graded.open[index] & (graded.earned[index] < rel)
    within = (1 - p) * segment_sum(unknown * np.power(p, positions(offsets)), offsets)
    return within + np.power(p, np.diff(offsets))
