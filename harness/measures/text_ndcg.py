"""text-NDCG: the normalised gain of the text read, comparable between chunkings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.measures.duplicate_evidence import Choices, choices
from harness.measures.gain import gain_exp
from harness.measures.ragged import Floats, Ints, before, offsets_of
from harness.measures.trail import Trail, elementary


def ndcg_text(trail: Trail, budget: int, L: int) -> Floats:
    """Discounted gain of the evidence read within ``budget``, over that of the best possible reading.

    A span of grade g carries ``2^g - 1``, spread evenly over its length. What is read for the first time
    earns its share times ``1 / log2(2 + p / L)``, p being the length read before it; repeated text is paid
    for and earns nothing. Of several copies of one evidence the one that earned most counts. The ideal reads
    the densest evidence first and nothing else, so it is the same under every chunking. In [0, 1]; 0 if
    nothing is relevant. ``budget`` and ``L`` are in the trail's unit (characters or tokens). In the family of
    U-measure (Sakai and Dou, SIGIR 2013).
    """
    paid = paid_up_to(budget, L)
    density = gain_exp(trail.spans.grade) / trail.length
    earned = _interpolate(paid, trail.read_until) - _interpolate(paid, trail.read_at)
    by_span = np.bincount(trail.read_span, density[trail.read_span] * earned, minlength=len(trail.spans))
    by_evidence = np.zeros(trail.spans.n_evidence)
    np.maximum.at(by_evidence, trail.spans.evidence, by_span)
    owner = np.zeros(trail.spans.n_evidence, dtype=np.int64)
    owner[trail.spans.evidence] = trail.spans.query
    found = np.bincount(owner, by_evidence, minlength=trail.n_queries)
    best = ideal_gain(trail, budget, L)
    return np.divide(found, best, out=np.zeros(trail.n_queries), where=best > 0)


def paid_up_to(budget: int, L: int) -> Floats:
    """``paid[n]``: the sum of the discounts of the first n units of a trail, 0..budget."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(2.0 + np.arange(budget) / L))])


def _interpolate(paid: Floats, place: Floats) -> Floats:
    """The sum of discounts up to each place, which may lie within a unit; constant beyond the budget."""
    return np.interp(place, np.arange(len(paid)), paid)


def ideal_gain(trail: Trail, budget: int, L: int) -> Floats:
    """The discounted gain of the best reading of every query, [Q], whatever is ranked."""
    paid = paid_up_to(budget, L)
    ideal = densest_first(trail, gain_exp(trail.spans.grade) / trail.length)
    value = ideal.density * (_interpolate(paid, ideal.until) - _interpolate(paid, ideal.at))
    by_choice = np.bincount(ideal.choice, value, minlength=len(ideal.query_of_choice))
    best = np.zeros(trail.n_queries)
    np.maximum.at(best, ideal.query_of_choice, by_choice)
    return best


@dataclass(frozen=True, slots=True)
class IdealReading:
    """The densest text first: segments, their place ``at``..``until`` on the ideal trail, their density.

    Segments belong to a ``choice`` among copies, choices to a query.
    """

    choice: Ints
    at: Floats
    until: Floats
    density: Floats
    query_of_choice: Ints


def densest_first(trail: Trail, density: Floats) -> IdealReading:
    """Read the relevant spans of every query in the order of their gain per unit of length.

    ``density`` [S] is the gain per unit of each span. Where spans of several facts overlap, their densities
    add up, so it is characters, not spans, that are put in order: no trail of text can earn more.
    """
    chosen = choices(trail)
    choice, length, total = _segments(trail, chosen, density)
    order = np.lexsort((-total, choice))
    choice, length, total = choice[order], length[order], total[order]
    offsets = offsets_of(np.bincount(choice, minlength=len(chosen.cap)))
    room = np.maximum(chosen.cap[choice] - before(total * length, offsets), 0.0)
    length = np.minimum(length, room / total)
    at = before(length, offsets)
    return IdealReading(choice, at, at + length, total, chosen.query_of_choice)


def _segments(trail: Trail, chosen: Choices, density: Floats) -> tuple[Ints, Floats, Floats]:
    """The chosen spans cut at each other's ends: (choice, length, summed density) of each segment."""
    spans = trail.spans.take(chosen.row)
    n_groups = int(trail.group.max(initial=0)) + 1
    pair, group = np.unique(chosen.choice * n_groups + trail.group[chosen.row], return_inverse=True)
    interval, segment, in_pair, start, end = elementary(group, spans.start, spans.end)
    total = np.bincount(segment, density[chosen.row[interval]], minlength=len(start)).astype(np.float64)
    covered = total > 0
    in_pair, start, end = in_pair[covered], start[covered], end[covered]
    doc = np.zeros(len(pair), dtype=np.int64)
    doc[group] = spans.doc
    ends = trail.unit.positions(spans.doc_ids, doc[in_pair], end)
    length: Floats = ends - trail.unit.positions(spans.doc_ids, doc[in_pair], start)
    return pair[in_pair] // n_groups, length, total[covered]
