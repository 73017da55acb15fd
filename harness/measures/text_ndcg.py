"""Measures of the text read: its normalised gain (text-NDCG), recall, precision, overlap, cost in tokens.

Text is counted in characters. What must be found is the text of all relevant evidence; of several copies of
one evidence the best-covered one. Text that two chunks share is found once but read twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import inf, prod
from typing import Literal

import numpy as np

from harness.measures.projection import overlapping_parts
from harness.measures.ragged import Bools, Floats, Ints, before, head, offsets_of, segment_sum, share_of
from harness.measures.ranked import gain_exp
from harness.measures.trail import Trail, elementary
from harness.values import by_key


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
    achieved = np.bincount(owner, by_evidence, minlength=trail.n_queries)
    return share_of(achieved, ideal_gain(trail, budget, L))


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
    if (budget, L) in trail.ideals:
        return trail.ideals[budget, L]
    paid = paid_up_to(budget, L)
    row, choice, query_of_choice, cap = _choices(trail)
    choice, length, density = _segments(trail, row, choice)
    order = np.lexsort((-density, choice))
    choice, length, density = choice[order], length[order], density[order]
    offsets = offsets_of(np.bincount(choice, minlength=len(cap)))
    room = np.maximum(cap[choice] - before(density * length, offsets), 0.0)
    length = np.minimum(length, room / density)
    at = before(length, offsets)
    value = density * (_interpolate(paid, at + length) - _interpolate(paid, at))
    best = np.zeros(trail.n_queries)
    np.maximum.at(best, query_of_choice, np.bincount(choice, value, minlength=len(cap)))
    trail.ideals[budget, L] = best
    return best


def _segments(trail: Trail, row: Ints, choice: Ints) -> tuple[Ints, Floats, Floats]:
    """The chosen spans cut at each other's ends: (choice, length, summed density) of each segment."""
    spans = trail.spans.take(row)
    n_groups = int(trail.group.max(initial=0)) + 1
    pair, group = np.unique(choice * n_groups + trail.group[row], return_inverse=True)
    interval, segment, in_pair, start, end = elementary(group, spans.start, spans.end)
    density = (gain_exp(spans.grade) / trail.length[row])[interval]
    total = np.bincount(segment, density, minlength=len(start)).astype(np.float64)
    covered = total > 0
    in_pair, start, end = in_pair[covered], start[covered], end[covered]
    doc = np.zeros(len(pair), dtype=np.int64)
    doc[group] = spans.doc
    ends = trail.unit.positions(spans.doc_ids, doc[in_pair], end)
    length: Floats = ends - trail.unit.positions(spans.doc_ids, doc[in_pair], start)
    return pair[in_pair] // n_groups, length, total[covered]


MOST_COMBINATIONS = 256


def _choices(trail: Trail) -> tuple[Ints, Ints, Ints, Floats]:
    """Ways to choose one copy of each fact, each query's at least one.

    Returns rows of the trail's spans, the choice that each belongs to, and of every choice the query and what
    it can earn at most (infinite if it holds one copy of each fact, so that nothing needs to be capped).

    A copy that overlaps no other fact is out of the question where another is as well graded and no longer,
    so nearly always one copy of each fact is left. Where several are, all combinations are listed; beyond
    ``MOST_COMBINATIONS`` the query gets a single choice that holds all copies, with the gain of one copy of
    each as its cap: a little more than any reading can earn, never less.
    """
    kept, gain = np.flatnonzero(_undominated(trail)), gain_exp(trail.spans.grade)
    query, evidence = trail.spans.query[kept], trail.spans.evidence[kept]
    several = np.bincount(evidence)[evidence] > 1
    rows, choice = [kept[~several]], [query[~several]]
    query_of_choice, cap = list(range(trail.n_queries)), [inf] * trail.n_queries
    for number in np.unique(query[several]).tolist():
        fixed, in_several = (query == number) & ~several, (query == number) & several
        facts = [kept[in_several & (evidence == fact)] for fact in np.unique(evidence[in_several])]
        if prod(map(len, facts)) > MOST_COMBINATIONS:
            cap[number] = gain[kept[fixed]].sum() + sum(gain[copies].max() for copies in facts)
            facts = [[kept[in_several]]]
        for nth, way in enumerate(product(*facts)):
            # the rows of the one choice that every query has begin with those of its settled facts
            if nth:
                way = (*way, kept[fixed])
                query_of_choice.append(number)
                cap.append(inf)
            rows.append(np.hstack(way))
            choice.append(np.full(len(rows[-1]), len(cap) - 1 if nth else number))
    of_choice = np.array(query_of_choice, dtype=np.int64), np.array(cap)
    return np.concatenate(rows), np.concatenate(choice), *of_choice


def _undominated(trail: Trail) -> Bools:
    """The copies an ideal reading may use; of identical copies the first."""
    spans, length = trail.spans, trail.length
    kept = np.ones(len(spans), dtype=np.bool_)
    copies = np.bincount(spans.evidence, minlength=spans.n_evidence)
    rows = np.flatnonzero(copies[spans.evidence] > 1)
    alone = _alone(trail)
    # the best comes first: higher grade, shorter, overlapping another fact, earlier
    order = np.lexsort((rows, alone[rows], length[rows], -spans.grade[rows], spans.evidence[rows]))
    for copy_rows in by_key((spans.evidence[row], row) for row in rows[order]).values():
        shortest = np.minimum.accumulate(length[copy_rows])[:-1]
        kept[copy_rows[1:]] = ~alone[copy_rows[1:]] | (shortest > length[copy_rows[1:]])
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


def text_recall(trail: Trail, k: int | None) -> Floats:
    """The share of the wanted text that the first k chunks show."""
    wanted, shown, _ = _amounts(trail, k)
    return share_of(shown, wanted)


def text_precision(trail: Trail, k: int | None) -> Floats:
    """The share of the text of the first k chunks that is wanted and new; 0 if nothing is ranked."""
    _, shown, text = _amounts(trail, k)
    return share_of(shown, text)


def text_iou(trail: Trail, k: int | None) -> Floats:
    """Wanted text found, over all text that is wanted or read by the first k chunks (Jaccard index)."""
    wanted, shown, text = _amounts(trail, k)
    return share_of(shown, text + wanted - shown)


def precision_omega(trail: Trail, _k: None = None) -> Floats:
    """The precision of reading every chunk that shares a character with wanted text, whatever was ranked.

    The best precision the chunking leaves to a retriever that finds everything. Of copies the shortest
    counts.
    """
    wanted = np.flatnonzero(_best_copies(trail, np.zeros(len(trail.spans))))
    spans, chunks = trail.spans, trail.chunks
    span, part, _ = overlapping_parts(spans.take(wanted), chunks)
    span = wanted[span]
    start = np.maximum(spans.start[span], chunks.part_start[part])
    shown = _union(trail, span, start, np.minimum(spans.end[span], chunks.part_end[part]))
    query, chunk = np.unique(np.stack([spans.query[span], chunks.part_chunk[part]]), axis=1)
    read = np.bincount(query, chunks.length[chunk], minlength=trail.n_queries)
    return share_of(shown, read.astype(np.float64))


def _amounts(trail: Trail, k: int | None) -> tuple[Floats, Floats, Floats]:
    """Per query, in characters: wanted text, the wanted text that was found, the text read."""
    spans = trail.spans
    seen = np.ones(len(trail.read_rank), dtype=np.bool_) if k is None else trail.read_rank < k
    covered = np.bincount(
        trail.read_span[seen], (trail.read_end - trail.read_start)[seen], minlength=len(spans)
    )
    chosen = _best_copies(trail, covered / (spans.end - spans.start))
    useful = seen & chosen[trail.read_span]
    span = trail.read_span[useful]
    index, offsets = head(trail.offsets, k)
    return (
        _union(trail, chosen, spans.start[chosen], spans.end[chosen]),
        _union(trail, span, trail.read_start[useful], trail.read_end[useful]),
        segment_sum(trail.chunks.length[trail.item_chunk[index]], offsets),
    )


def _best_copies(trail: Trail, share: Floats) -> Bools:
    """One span of each evidence: the highest share, then the shortest, then the first."""
    spans = trail.spans
    order = np.lexsort((spans.end - spans.start, -share, spans.evidence))
    _, first = np.unique(spans.evidence[order], return_index=True)
    chosen = np.zeros(len(spans), dtype=np.bool_)
    chosen[order[first]] = True
    return chosen


def _union(trail: Trail, rows: Ints | Bools, start: Ints, end: Ints) -> Floats:
    """How many characters of the spans at ``rows`` each query has, counting shared ones once: [Q].

    They are those from ``start`` to ``end``, one pair a row.
    """
    part, segment, _, begin, until = elementary(trail.group[rows], start, end)
    shown, first = np.unique(segment, return_index=True)
    owner = trail.spans.query[rows][part[first]]
    return np.bincount(owner, (until - begin)[shown], minlength=trail.n_queries).astype(np.float64)


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


def tokens_to(ranked: RankedTokens, characters: Ints, depth: Depth) -> Floats:
    """The tokens read down to a ``depth``; ``characters`` [N] are the lengths of the ranked chunks.

    The chunk in which a length of text ends counts by the share of it that is read.
    """
    if depth.unit == "ranks" or depth.amount is None:
        return tokens_read(ranked, depth.amount)
    sizes = characters if depth.unit == "characters" else ranked.tokens
    room = np.clip(depth.amount - before(sizes, ranked.offsets), 0, sizes)
    return segment_sum(ranked.tokens * share_of(room, sizes), ranked.offsets)
