"""Measures of the text read: its normalised gain (text-NDCG), recall, precision, overlap, cost in tokens.

Text is counted in characters. What must be found is the text of all relevant evidence; of several copies of
one evidence the best-covered one. Text that two chunks share is found once but read twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf, prod
from typing import Literal

import numpy as np

from harness.measures.projection import overlapping_parts
from harness.measures.ragged import Bools, Floats, Ints, before, head, offsets_of, segment_sum, share_of
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
    if (budget, L) not in trail.ideals:
        trail.ideals[budget, L] = _ideal_gain(trail, budget, L)
    return trail.ideals[budget, L]


def _ideal_gain(trail: Trail, budget: int, L: int) -> Floats:
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


def text_recall(trail: Trail, k: int | None) -> Floats:
    """The share of the wanted text that the first k chunks show."""
    wanted, found, _ = _amounts(trail, k)
    return share_of(found, wanted)


def text_precision(trail: Trail, k: int | None) -> Floats:
    """The share of the text of the first k chunks that is wanted and new; 0 if nothing is ranked."""
    _, found, text = _amounts(trail, k)
    return share_of(found, text)


def text_iou(trail: Trail, k: int | None) -> Floats:
    """Wanted text found, over all text that is wanted or read by the first k chunks (Jaccard index)."""
    wanted, found, text = _amounts(trail, k)
    return share_of(found, text + wanted - found)


def precision_omega(trail: Trail, _k: None = None) -> Floats:
    """The precision of reading every chunk that shares a character with wanted text, whatever was ranked.

    The best precision the chunking leaves to a retriever that finds everything. Of copies the shortest
    counts.
    """
    wanted = _best_copies(trail, np.zeros(len(trail.spans)))
    span, chunk, shared_from, shared_to = _chunks_with(trail, wanted)
    found = _union(trail, span, shared_from, shared_to)
    pairs = np.unique(np.stack([trail.spans.query[span], chunk]), axis=1)
    length = trail.chunks.length[pairs[1]]
    return share_of(found, np.bincount(pairs[0], length, minlength=trail.n_queries).astype(np.float64))


def _amounts(trail: Trail, k: int | None) -> tuple[Floats, Floats, Floats]:
    """Per query, in characters: wanted text, the wanted text that was found, the text read."""
    spans = trail.spans
    seen = np.ones(len(trail.read_rank), dtype=np.bool_) if k is None else trail.read_rank < k
    covered = np.bincount(
        trail.read_span[seen], (trail.read_end - trail.read_start)[seen], minlength=len(spans)
    )
    chosen = _best_copies(trail, covered / (spans.end - spans.start))
    found = seen & chosen[trail.read_span]
    span = trail.read_span[found]
    index, offsets = head(trail.offsets, k)
    return (
        _union(trail, chosen, spans.start[chosen], spans.end[chosen]),
        _union(trail, span, trail.read_start[found], trail.read_end[found]),
        segment_sum(trail.item_length[index], offsets),
    )


def _best_copies(trail: Trail, share: Floats) -> Bools:
    """One span of each evidence: the highest share, then the shortest, then the first."""
    spans = trail.spans
    order = np.lexsort((spans.end - spans.start, -share, spans.evidence))
    _, first = np.unique(spans.evidence[order], return_index=True)
    chosen = np.zeros(len(spans), dtype=np.bool_)
    chosen[order[first]] = True
    return chosen


def _chunks_with(trail: Trail, wanted: Bools) -> tuple[Ints, Ints, Ints, Ints]:
    """All (span, chunk, start, end) where a wanted span and a chunk share the characters start..end."""
    rows = np.flatnonzero(wanted)
    chunks = trail.chunks
    span, part, _ = overlapping_parts(trail.spans.take(rows), chunks)
    span = rows[span]
    start = np.maximum(trail.spans.start[span], chunks.part_start[part])
    return span, chunks.part_chunk[part], start, np.minimum(trail.spans.end[span], chunks.part_end[part])


def _union(trail: Trail, rows: Ints | Bools, start: Ints, end: Ints) -> Floats:
    """How many characters of the spans at ``rows`` each query has, counting shared ones once: [Q].

    They are those from ``start`` to ``end``, one pair a row.
    """
    group, owner = trail.group[rows], trail.spans.query[rows]
    width = int(end.max(initial=0)) + 1
    order = np.lexsort((start, group))
    starts, ends = (group * width + start)[order], (group * width + end)[order]
    furthest = np.maximum.accumulate(ends)
    reached = np.concatenate([starts[:1], furthest[:-1]])
    new = np.maximum(ends - np.maximum(starts, reached), 0)
    return np.bincount(owner[order], new, minlength=trail.n_queries).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Depth:
    """How far a ranking is read: its first ``amount`` ranks or so much of its text; None: all of it."""

    amount: int | None = None
    unit: Literal["ranks", "characters", "tokens"] = "ranks"

    def __str__(self) -> str:
        return "whole ranking" if self.amount is None else f"{self.amount} {self.unit}"

    @property
    def price(self) -> str:
        """The name of what is read so far: ``tokens@10``, ``tokens@5000 characters``, ``tokens``."""
        if self.amount is None:
            return "tokens"
        return f"tokens@{self.amount}" if self.unit == "ranks" else f"tokens@{self}"


@dataclass(frozen=True, slots=True)
class RankedTokens:
    """The length in tokens of every ranked chunk, all queries end to end (see ``ragged``)."""

    tokens: Ints
    offsets: Ints


def tokens_read(ranked: RankedTokens, cutoff: int | None) -> Floats:
    """The tokens of the first ``cutoff`` chunks (all where None); text in two chunks is read twice.

    0 if nothing is ranked.
    """
    first, offsets = head(ranked.offsets, cutoff)
    return segment_sum(ranked.tokens[first], offsets)


def tokens_within(ranked: RankedTokens, sizes: Ints, budget: int) -> Floats:
    """The tokens of the chunks until ``budget`` is filled; the last one counts by the share that is read.

    ``sizes`` [N] are the lengths of the ranked chunks in the unit of the budget.
    """
    room = np.clip(budget - before(sizes.astype(np.float64), ranked.offsets), 0, sizes)
    return segment_sum(ranked.tokens * share_of(room, sizes), ranked.offsets)


def tokens_to(ranked: RankedTokens, characters: Ints, depth: Depth) -> Floats:
    """The tokens read down to a ``depth``; ``characters`` [N] are the lengths of the ranked chunks."""
    if depth.unit == "ranks" or depth.amount is None:
        return tokens_read(ranked, depth.amount)
    return tokens_within(ranked, characters if depth.unit == "characters" else ranked.tokens, depth.amount)
