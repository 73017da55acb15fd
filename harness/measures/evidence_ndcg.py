"""NDCG over evidence found while reading: its gain, discounted at the place where it was read."""

from __future__ import annotations

import numpy as np

from harness.measures.ragged import Floats, Ints, before, offsets_of, positions, share_of, sorted_descending
from harness.measures.ranked import gain_exp
from harness.measures.trail import Trail, of_answers

HALF = 0.5
# Places in tokens are sums of fractions; a value within this of a whole number counts as whole.
ROUNDING = 1e-9


def ndcg_evidence(trail: Trail, budget: int, enough: int, L: int) -> Floats:
    """Discounted gain of the evidence found within ``budget``, over that of the best possible reading.

    The ranking is read as one text. A span is *found* at the place where half of it, or ``enough`` units of
    it, have been read, over all chunks so far; where its label names the part that answers, at the place
    where all of that has been read. Its evidence then earns ``2^g - 1``, once; a copy of a higher grade that
    is found later earns the difference. The text is counted in stretches of ``enough`` units:
    what is found in stretch r (1, 2, …) is discounted by ``1 / log2(2 + (r - 1) * enough / L)``. A stretch
    pays for one evidence; what else is found in it waits for the next free one, the greatest gain first. The
    ideal has the evidence in order of gain, one a stretch, so it is the same under every chunking. In
    [0, 1]; 0 if nothing is relevant.

    Bounded by 1: each stretch holds one gain at most, the j largest gains earned never exceed the j greatest
    evidences, and the discount falls.

    In the family of the S-measure (Sakai, Kato and Song, CIKM 2011), which discounts pieces of information by
    the place in the text where they have been read, with the discount of NDCG; at ``L = enough``, and for
    chunks of that length that each hold one evidence, it is NDCG with ranks. ``budget``, ``enough`` and ``L``
    are in the trail's unit (characters or tokens).
    """
    trail, named = of_answers(trail)
    needed = np.where(named, trail.length, np.minimum(HALF * trail.length, enough))
    place = places(trail, needed)
    return gain_by_place(trail, place, budget, enough, L)


def places(trail: Trail, needed: Floats) -> Floats:
    """How much of the trail has been read when ``needed`` units of each span have; infinite if never.

    In whole units: half of three characters has been read with the second one.
    """
    order = np.lexsort((trail.read_at, trail.read_span))
    span, begin = trail.read_span[order], trail.read_at[order]
    length = trail.read_until[order] - begin
    had = before(length, offsets_of(np.bincount(span, minlength=len(trail.spans))))
    enough = np.flatnonzero(had + length >= needed[span] - ROUNDING)
    found, first = np.unique(span[enough], return_index=True)
    place = np.full(len(trail.spans), np.inf)
    place[found] = np.ceil((begin + needed[span] - had)[enough[first]] - ROUNDING)
    return place


def gain_by_place(trail: Trail, place: Floats, budget: int, enough: int, L: int) -> Floats:
    """``ndcg_evidence`` where each span [S] is found at its ``place`` on the trail; infinite means never."""
    evidence, place, grade, earlier = found_within(trail, place, budget)
    gain = gain_exp(grade) - gain_exp(earlier)
    owner = trail.spans.evidence_grades()[0]
    last = -(-budget // enough)
    stretch = _one_a_stretch(stretch_of(place, enough), gain, owner[evidence])
    paid = np.where(stretch < last, gain * discount(stretch, enough, L), 0.0)
    found = np.bincount(owner[evidence], paid, minlength=trail.n_queries)
    best = ideal_gain(trail, budget, enough, L)
    return share_of(found, best)


def stretch_of(place: Floats, enough: int) -> Ints:
    """The 0-based stretch of ``enough`` units that each place ends in."""
    return np.maximum(np.ceil(place / enough - ROUNDING), 1).astype(np.int64) - 1


def discount(stretch: Ints, enough: int, L: int) -> Floats:
    """What a gain in each 0-based stretch is multiplied by."""
    value: Floats = 1.0 / np.log2(2.0 + stretch * (enough / L))
    return value


def found_within(trail: Trail, place: Floats, budget: int) -> tuple[Ints, Floats, Ints, Ints]:
    """Evidence found within the budget: (evidence, place, grade, the grade that was found of it before)."""
    spans = np.flatnonzero(place <= budget + ROUNDING)
    evidence, grade = trail.spans.evidence[spans], trail.spans.grade[spans]
    order = np.lexsort((-grade, place[spans], evidence))
    spans, evidence, grade = spans[order], evidence[order], grade[order]
    # a running maximum within each evidence: those of later evidence are above all of earlier ones
    step = int(grade.max(initial=0)) + 1
    highest = np.maximum.accumulate(evidence * step + grade)
    earlier = np.maximum(np.concatenate([[0], highest[:-1]]) - evidence * step, 0)
    better = grade > earlier
    return evidence[better], place[spans][better], grade[better], earlier[better]


def _one_a_stretch(wanted: Ints, gain: Floats, owner: Ints) -> Ints:
    """The stretch of each: the first free one from the ``wanted`` on, the greatest gain choosing first.

    No other way to give each a stretch of its own, none before the wanted one, earns more.
    """
    stretch = wanted.copy()
    order = np.lexsort((wanted, -gain, owner))
    _, pair, times = np.unique(np.stack([owner, wanted]), axis=1, return_inverse=True, return_counts=True)
    crowded = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.bool_)
    crowded[owner[times[pair] > 1]] = True
    taken: set[tuple[int, int]] = set()
    for row in order[crowded[owner[order]]].tolist():
        query, free = int(owner[row]), int(wanted[row])
        while (query, free) in taken:
            free += 1
        taken.add((query, free))
        stretch[row] = free
    return stretch


def ideal_gain(trail: Trail, budget: int, enough: int, L: int) -> Floats:
    """The gain of the best reading of every query, [Q]: each evidence by its best copy, one a stretch."""
    owner, best = trail.spans.evidence_grades()
    present = owner >= 0
    grade, offsets = sorted_descending(best[present], owner[present], trail.n_queries)
    stretch = positions(offsets)
    paid = np.where(stretch < -(-budget // enough), gain_exp(grade) * discount(stretch, enough, L), 0.0)
    query = np.repeat(np.arange(trail.n_queries), np.diff(offsets))
    return np.bincount(query, paid, minlength=trail.n_queries).astype(np.float64)
