"""text-NDCG: the normalised gain of the text read, comparable between chunkings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf, prod

import numpy as np

from harness.measures.ragged import Bools, Floats, Ints, before, offsets_of, share_of
from harness.measures.ranked import gain_exp
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
    owner = np.maximum(trail.spans.evidence_grades()[0], 0)
    found = np.bincount(owner, by_evidence, minlength=trail.n_queries)
    best = ideal_gain(trail, budget, L)
    return share_of(found, best)


def paid_up_to(budget: int, L: int) -> Floats:
    """``paid[n]``: the sum of the discounts of the first n units of a trail, 0..budget."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(2.0 + np.arange(budget) / L))])


def _interpolate(paid: Floats, place: Floats) -> Floats:
    """The sum of discounts up to each place, which may lie within a unit; constant beyond the budget."""
    return np.interp(place, np.arange(len(paid)), paid)


def ideal_gain(trail: Trail, budget: int, L: int) -> Floats:
    """The discounted gain of the best reading of every query, [Q], whatever is ranked.

    It reads the relevant spans in the order of their gain per unit of length. Where spans of several facts
    overlap, their densities add up, so it is characters, not spans, that are put in order: no trail of text
    can earn more.
    """
    paid, chosen = paid_up_to(budget, L), choices(trail)
    choice, length, density = _segments(trail, chosen, gain_exp(trail.spans.grade) / trail.length)
    order = np.lexsort((-density, choice))
    choice, length, density = choice[order], length[order], density[order]
    offsets = offsets_of(np.bincount(choice, minlength=len(chosen.cap)))
    room = np.maximum(chosen.cap[choice] - before(density * length, offsets), 0.0)
    length = np.minimum(length, room / density)
    at = before(length, offsets)
    value = density * (_interpolate(paid, at + length) - _interpolate(paid, at))
    by_choice = np.bincount(choice, value, minlength=len(chosen.query_of_choice))
    best = np.zeros(trail.n_queries)
    np.maximum.at(best, chosen.query_of_choice, by_choice)
    return best


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


MOST_COMBINATIONS = 256


@dataclass(frozen=True, slots=True)
class Choices:
    """Ways to choose one copy of each fact: row ``row[i]`` of the trail's spans belongs to ``choice[i]``.

    Query q has the choices c with ``query_of_choice[c] == q``, at least one. ``cap`` [C] is what a choice can
    earn at most (infinite if it holds one copy of each fact, so that nothing needs to be capped).
    """

    row: Ints
    choice: Ints
    query_of_choice: Ints
    cap: Floats


def choices(trail: Trail) -> Choices:
    """The choices of every query.

    A copy that overlaps no other fact is out of the question where another is as well graded and no longer,
    so nearly always one copy of each fact is left. Where several are, all combinations are listed; beyond
    ``MOST_COMBINATIONS`` the query gets a single choice that holds all copies, with the gain of one copy of
    each as its cap: a little more than any reading can earn, never less.
    """
    kept = _undominated(trail)
    evidence = trail.spans.evidence
    copies = np.bincount(evidence[kept], minlength=trail.spans.n_evidence)
    settled = kept & (copies[evidence] == 1)
    rows, choice = [np.flatnonzero(settled)], [trail.spans.query[settled]]
    query_of_choice, cap = list(range(trail.n_queries)), [inf] * trail.n_queries
    for query, fixed, open_rows in _by_query(trail.spans.query, settled, kept & ~settled):
        combinations = _combinations(open_rows, evidence[open_rows])
        if combinations is None:
            combinations = [open_rows]
            cap[query] = _cap(trail, np.concatenate([open_rows, fixed]))
        numbers = [query, *range(len(cap), len(cap) + len(combinations) - 1)]
        for number, combination in zip(numbers, combinations, strict=True):
            added = combination if number == query else np.concatenate([combination, fixed])
            rows.append(added)
            choice.append(np.full(len(added), number))
        query_of_choice += [query] * (len(numbers) - 1)
        cap += [inf] * (len(numbers) - 1)
    return Choices(
        np.concatenate(rows),
        np.concatenate(choice),
        np.array(query_of_choice, dtype=np.int64),
        np.array(cap, dtype=np.float64),
    )


def _undominated(trail: Trail) -> Bools:
    """The copies an ideal reading may use; of identical copies the first."""
    spans = trail.spans
    kept = np.ones(len(spans), dtype=np.bool_)
    copies = np.bincount(spans.evidence, minlength=spans.n_evidence)
    several = np.flatnonzero(copies[spans.evidence] > 1)
    if not len(several):
        return kept
    alone = _alone(trail)
    # the best comes first: higher grade, shorter, overlapping another fact, earlier
    order = several[
        np.lexsort(
            (
                several,
                alone[several],
                trail.length[several],
                -spans.grade[several],
                spans.evidence[several],
            )
        )
    ]
    shortest, current = inf, -1
    for row in order.tolist():
        if spans.evidence[row] != current:
            current, shortest = int(spans.evidence[row]), inf
        if alone[row] and shortest <= trail.length[row]:
            kept[row] = False
        shortest = min(shortest, float(trail.length[row]))
    return kept


def _alone(trail: Trail) -> Bools:
    """Mask of the spans that share no character with a span of another fact of their query."""
    spans = trail.spans
    interval, segment, *_ = elementary(trail.group, spans.start, spans.end)
    pairs = np.unique(np.stack([segment, spans.evidence[interval]]), axis=1)
    facts = np.bincount(pairs[0], minlength=int(segment.max(initial=-1)) + 1)
    alone = np.ones(len(spans), dtype=np.bool_)
    alone[interval[facts[segment] > 1]] = False
    return alone


def _by_query(owner: Ints, settled: Bools, unsettled: Bools) -> Iterator[tuple[int, Ints, Ints]]:
    """For every query with unsettled copies: (query, settled rows, unsettled rows)."""
    if not unsettled.any():
        return
    order = np.argsort(owner, kind="stable")
    offsets = offsets_of(np.bincount(owner))
    for query in np.unique(owner[unsettled]).tolist():
        rows = order[offsets[query] : offsets[query + 1]]
        yield query, rows[settled[rows]], rows[unsettled[rows]]


def _combinations(rows: Ints, evidence: Ints) -> list[Ints] | None:
    """One copy of each fact in every combination; None if there are too many."""
    by_fact = [rows[evidence == fact] for fact in np.unique(evidence)]
    if prod(len(copies) for copies in by_fact) > MOST_COMBINATIONS:
        return None
    return [np.array(combination, dtype=np.int64) for combination in product(*by_fact)]


def _cap(trail: Trail, rows: Ints) -> float:
    """The gain of the best copy of each fact."""
    best = np.zeros(trail.spans.n_evidence)
    np.maximum.at(best, trail.spans.evidence[rows], gain_exp(trail.spans.grade[rows]))
    return float(best.sum())
