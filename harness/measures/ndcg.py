"""Normalised discounted cumulative gain, and its bounds if unjudged items were judged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.measures.gain import log2_discount
from harness.measures.graded import Graded
from harness.measures.ragged import AnyArray, Floats, Ints, head, mean_within, positions, segment_sum

Gain = Callable[[AnyArray], Floats]


def dcg(grades: Ints, offsets: Ints, k: int | None, gain: Gain) -> Floats:
    """Discounted cumulative gain of the first k grades of every list: ``sum gain(g) / log2(rank + 1)``."""
    index, heads = head(offsets, k)
    return segment_sum(gain(grades[index]) * log2_discount(positions(heads)), heads)


def earned_dcg(graded: Graded, k: int | None, gain: Gain) -> Floats:
    """DCG@k of what each ranking earned; equally scored items share their gains where ``ties`` says so.

    The mean over all orders of tied items is that of giving each the mean gain (McSherry and Najork, ECIR
    2008).
    """
    if graded.ties is None:
        return dcg(graded.earned, graded.offsets, k, gain)
    gains = mean_within(gain(graded.earned), graded.ties)
    index, heads = head(graded.offsets, k)
    return segment_sum(gains[index] * log2_discount(positions(heads)), heads)


def ndcg(graded: Graded, k: int | None, gain: Gain) -> Floats:
    """DCG@k of the earned grades over DCG@k of the ideal ranking; in [0, 1]; 0 if the ideal is 0.

    Each evidence is earned at most once and the ideal holds each at its best grade, so no ranking can
    exceed the ideal. Sources: Järvelin and Kekäläinen, TOIS 2002; Burges et al., ICML 2005.
    """
    found = earned_dcg(graded, k, gain)
    ideal = dcg(graded.ideal, graded.ideal_offsets, k, gain)
    return np.divide(found, ideal, out=np.zeros_like(found), where=ideal > 0)
