"""text-NDCG: a normalised gain of read text, comparable between chunkings."""

from __future__ import annotations

import numpy as np

from harness.measures.gain import gain_exp
from harness.measures.ragged import Floats
from harness.measures.text_ideal import densest_first
from harness.measures.trail import Trail


def ndcg_text(trail: Trail, budget: int, L: int) -> Floats:
    """Discounted gain of the evidence read within ``budget``, over that of the best possible reading.

    A span of grade g carries ``2^g - 1``, spread evenly over its length. What is read for the first time
    earns its share times ``1 / log2(2 + p / L)``, p being the length read before it; repeated text is paid
    for and earns nothing. Of several copies of one evidence the one that earned most counts. The ideal reads
    the densest evidence first and nothing else, so it is the same under every chunking. In [0, 1]; 0 where
    nothing is relevant. ``budget`` and ``L`` are in the trail's unit (characters or tokens). In the family of
    U-measure (Sakai and Dou, SIGIR 2013).
    """
    paid = _paid_up_to(budget, L)
    density = gain_exp(trail.spans.grade) / trail.length
    earned = _interpolate(paid, trail.read_until) - _interpolate(paid, trail.read_at)
    by_span = np.bincount(trail.read_span, density[trail.read_span] * earned, minlength=len(trail.spans))
    by_evidence = np.zeros(trail.spans.n_evidence)
    np.maximum.at(by_evidence, trail.spans.evidence, by_span)
    owner = np.zeros(trail.spans.n_evidence, dtype=np.int64)
    owner[trail.spans.evidence] = trail.owner
    found = np.bincount(owner, by_evidence, minlength=trail.n_queries)
    best = _ideal(trail, density, paid)
    return np.divide(found, best, out=np.zeros(trail.n_queries), where=best > 0)


def _paid_up_to(budget: int, L: int) -> Floats:
    """``paid[n]``: the sum of the discounts of the first n units of a trail, 0..budget."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(2.0 + np.arange(budget) / L))])


def _interpolate(paid: Floats, place: Floats) -> Floats:
    """The sum of discounts up to each place, which may lie within a unit; constant beyond the budget."""
    return np.interp(place, np.arange(len(paid)), paid)


def _ideal(trail: Trail, density: Floats, paid: Floats) -> Floats:
    """The gain of the best reading of every query."""
    ideal = densest_first(trail, density)
    value = ideal.density * (_interpolate(paid, ideal.until) - _interpolate(paid, ideal.at))
    by_choice = np.bincount(ideal.choice, value, minlength=len(ideal.query_of_choice))
    best = np.zeros(trail.n_queries)
    np.maximum.at(best, ideal.query_of_choice, by_choice)
    return best
