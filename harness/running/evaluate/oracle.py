"""What queries whose evidence is known can reach: the best order of chunks that a search finds, its bound."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.measures import Bools, Floats, Ints, Measure, Scorer, SpanQrels, discount, overlapping
from harness.running.evaluate.segments import EvidenceSegments, Paying
from harness.store import KeyValue
from harness.values import Ranking

Orders = Mapping[str, Sequence[str]]
"""Chunk ids by query."""
# Raised whenever the same evidence and chunks may get other orders or bounds than before.
_VERSION = 1
# queries that are looked up, found and stored together
_AT_ONCE = 20
_Asked = tuple[int, tuple[int, ...]]
# numbers of chunks by rate and by gain, and the gain that no order exceeds
_Found = tuple[list[int], list[int], float]


@dataclass(frozen=True, slots=True)
class Best:
    """The ``scores`` [Q] of the better of two greedy orders, and the ``bound`` [Q] that no order exceeds."""

    scores: Floats
    bound: Floats


class Oracle:
    """What the queries of a scorer earn by a measure; finds the best order of each set of chunks once.

    ``measure`` is an ``ndcg_evidence`` or an ``ndcg_text``, of characters or tokens. ``ideal`` [Q] is what
    the best reading of the evidence earns, whatever the chunks. ``stored`` has what was found before.
    """

    def __init__(self, scorer: Scorer, measure: Measure, stored: KeyValue | None = None) -> None:
        self.scorer, self.measure = scorer, measure
        self._paying = Paying.of(measure)
        self.ideal = self._paying.ideal(scorer.unread(measure))
        self._unit, self._stored = scorer.unit_of(measure), stored
        self._rows: dict[int, tuple[Ints, Ints]] = {}
        self._known: dict[_Asked, _Found] = {}
        spans = scorer.spans
        relevant = np.flatnonzero(spans.grade > 0)
        span, chunk, _ = overlapping(spans.take(relevant), scorer.chunks)
        # spans are in the order of their queries, and pairs in that of their spans
        first_span = np.searchsorted(spans.query[relevant], np.arange(len(scorer.queries) + 1))
        first_pair = np.searchsorted(span, first_span)
        for at in np.flatnonzero(np.diff(first_pair)).tolist():
            rows = np.unique(chunk[first_pair[at] : first_pair[at + 1]])
            of_query = relevant[first_span[at] : first_span[at + 1]]
            self._rows[at] = of_query, rows

    def scores(self, rankings: Sequence[Ranking]) -> Floats:
        """The scores of rankings [Q]; NaN without relevant evidence."""
        table = self.scorer.score(rankings, [self.measure])
        return np.where(table.has_relevant, table.values[:, 0], np.nan)

    def share(self, spans: SpanQrels) -> Floats:
        """The ideal of the evidence that was ``found`` over that of all evidence, [Q]; 1 if it is all."""
        part, share = self.scorer.against(spans), np.ones(len(self.ideal))
        counts = [
            np.bincount(one.spans.query[one.spans.grade > 0], minlength=len(share))
            for one in (self.scorer, part)
        ]
        found_ideal = self._paying.ideal(part.unread(self.measure))
        return np.divide(found_ideal, self.ideal, out=share, where=counts[0] > counts[1])

    def best(self, sought: Orders | None = None) -> Best:
        """The best of the chunks that were ``found`` for each query, of all without it.

        A query no chunk shows relevant evidence of scores 0; NaN without relevant evidence.
        """
        query_ids, chunk_ids = self.scorer.query_ids, self.scorer.chunks.chunk_ids
        requests: list[_Asked] = []
        for at, (_, rows) in self._rows.items():
            there = None if sought is None else set(sought.get(query_ids[at], ()))
            some = tuple(i for i, row in enumerate(rows) if there is None or chunk_ids[row] in there)
            requests.append((at, some))
        self._find([question for question in requests if question not in self._known])
        ways: tuple[list[Ranking], list[Ranking]] = [], []
        most = np.zeros(len(query_ids))
        for at, some in requests:
            *orders, most[at] = self._known[at, some]
            for rankings, order in zip(ways, orders, strict=True):
                names = tuple(chunk_ids[self._rows[at][1][i]] for i in order)
                scores = tuple(-float(i) for i in range(len(order)))
                rankings.append(Ranking(query_ids[at], names, scores))
        bound = np.divide(most, self.ideal, out=np.zeros(len(most)), where=self.ideal > 0)
        # fmax: NaN stands for the same queries in both
        return Best(np.fmax(*map(self.scores, ways)), np.minimum(bound, 1.0))

    def _find(self, requests: Sequence[_Asked]) -> None:
        """Find the orders of these queries and chunks, as far as they are not stored."""
        for begin in range(0, len(requests), _AT_ONCE):
            part = requests[begin : begin + _AT_ONCE]
            # made anew for each part: all queries' at once would take kilobytes a judgment
            segments = [
                EvidenceSegments.of(self.scorer, *self._rows[at], self._unit, self._paying) for at, _ in part
            ]
            keys = [
                self._key(evidence, allowed) for evidence, (_, allowed) in zip(segments, part, strict=True)
            ]
            stored = {} if self._stored is None else self._stored.get(keys)
            new: dict[bytes, bytes] = {}
            for request, evidence, key in zip(part, segments, keys, strict=True):
                if key not in stored:
                    by_rate, by_gain = (
                        greedy_order(evidence, request[1], per_unit=how) for how in (True, False)
                    )
                    result: _Found = by_rate, by_gain, most_earned(evidence, request[1])
                    stored[key] = new[key] = json.dumps(result).encode()
                self._known[request] = json.loads(stored[key])
            if self._stored is not None:
                self._stored.put(new)

    def _key(self, evidence: EvidenceSegments, allowed: Sequence[int]) -> bytes:
        """All that the orders depend on; names of chunks and documents are not part of it."""
        columns = evidence.columns
        facts = _VERSION, self._paying, allowed, [column.shape for column in columns]
        return hashlib.sha256(
            repr(facts).encode() + b"".join(column.tobytes() for column in columns)
        ).digest()


def greedy_order(evidence: EvidenceSegments, allowed: Sequence[int], *, per_unit: bool) -> list[int]:
    """Read next the chunk that adds most discounted gain, or most ``per_unit`` of its length.

    Up to the budget. The first can spend on one long chunk what several short ones need, the second the other
    way round. Returns indices into the chunks of ``evidence``; of equals the first. Chunks that add nothing
    are left out.
    """
    left, budget = list(allowed), evidence.paying.budget
    when = np.full(len(evidence.length), np.inf)
    have, read = 0.0, 0.0
    order: list[int] = []
    while left and read < budget:
        # text read again is paid less than before: its first reading counts
        after = np.minimum(read + evidence.at[left], when)
        gain = evidence.earned(after)
        added = gain - have
        length = np.minimum(evidence.size[left], budget - read)
        best = int(np.argmax(added / length if per_unit else added))
        if added[best] <= 1e-12:
            break
        have, when = float(gain[best]), after[best]
        order.append(left.pop(best))
        read += float(evidence.size[order[-1]])
    return order


# Cells that the budget is cut into: more make the bound tighter and slower.
_CELLS = 100
# More chunks than this are not told apart by which one is being read.
_MOST_APART = 30
_ROUNDING = 1e-6


def most_earned(evidence: EvidenceSegments, allowed: Sequence[int]) -> float:
    """A bound of the discounted gain, not normalised, of all orders of the ``allowed`` chunks.

    Items are what is paid for: evidence that is found, or segments of text that are read. Let A(p) be the
    gain of the items earned by place p of any order. It is at most

    - the sum of the items that could be earned by p if only they mattered (``_soonest``);
    - what one chunk shows up to a place x within it, the one being read, and what other chunks, read whole
      before it, hold, of at most p - x in length. The latter is a knapsack of chunks. What several of them
      show would count more than once, so it is also bounded as a knapsack of items: one in a chunk read whole
      costs at least its gain over the best rate, gain per length of a chunk, of the chunks that show it, and
      for a length the items with the best rates give most, the last one in part (Dantzig 1957);
    - what the ideal earns by p: one evidence a stretch, or the densest text.

    The discount d falls, so the discounted gain, the integral of d over A, is at most the sum over cells of
    the least bound of A at the cell's end times how much d falls after the cell, d taken at its beginning.
    """
    if not len(allowed):
        return 0.0
    rows = np.array(allowed, dtype=np.int64)
    one, paying = replace(evidence, at=evidence.at[rows], size=evidence.size[rows]), evidence.paying
    ends, paid_at, paid = _cells(paying)
    if paying.found:
        gain, earliest, shown = _facts(one)
        soonest = _steps(earliest, gain, ends)
        ideal = np.cumsum(np.sort(gain)[::-1])
        best = ideal[np.minimum(np.arange(1, paying.stretches + 1), len(gain)) - 1]
        by_chunk = [_steps(row, gain, ends) for row in shown]
        shows = np.isfinite(shown)
    else:
        shows = np.isfinite(one.at)
        gain = np.where(shows.any(axis=0), one.length * (one.holds.T @ (one.gain / one.span_length)), 0.0)
        read = np.clip((ends[:, None] - one.at.min(axis=0)) / one.length, 0.0, 1.0)
        soonest = read @ gain
        best = _densest(gain, one.length, ends)
        by_chunk = [_ramps(row, gain, one.length, ends) for row in one.at]
    most = np.minimum(soonest, _read_whole_and_current(by_chunk, gain, shows, one.size, ends))
    falls = paid - np.append(paid[1:], 0.0)
    return float(falls @ np.minimum(most[paid_at], best))


def _cells(paying: Paying) -> tuple[Floats, Ints, Floats]:
    """The budget in cells: their ends, at which of these is paid, and the discount of what is paid there."""
    size = max(1, -(-paying.budget // _CELLS))
    inner = np.arange(size, paying.budget, size)
    if paying.found:
        stretch_ends = np.minimum(np.arange(1, paying.stretches + 1) * paying.enough, paying.budget)
        ends = np.union1d(inner, stretch_ends)
        paid = discount(np.arange(paying.stretches), paying.enough, paying.L)
        return ends.astype(np.float64), np.searchsorted(ends, stretch_ends), paid
    ends = np.append(inner, paying.budget)
    return ends.astype(np.float64), np.arange(len(ends)), 1.0 / np.log2(2.0 + np.append(0, inner) / paying.L)


def _facts(segments: EvidenceSegments) -> tuple[Floats, Floats, Floats]:
    """Gain [F], the first place it can be found at [F], and where in each chunk it can be [C, F].

    Other chunks may have shown a part of a span before; then at least one of them was read whole.
    """
    shows = np.isfinite(segments.at)
    others = (shows.sum(axis=0) - shows) > 0
    elsewhere = (others * segments.length) @ segments.holds.T
    alone = segments.found_at(segments.at, segments.needed)
    helped = segments.found_at(segments.at, np.maximum(segments.needed - elsewhere, _ROUNDING))
    touches = (shows[:, None, :] & segments.holds).any(axis=2)
    size = np.where(touches, segments.size[:, None], np.inf)
    smallest = np.sort(np.vstack([size, np.full((1, size.shape[1]), np.inf)]), axis=0)
    other = np.where(size == smallest[0], smallest[1], smallest[0])
    first = np.minimum(alone, helped + other).min(axis=0)
    n_facts = int(segments.fact.max(initial=-1)) + 1
    gain, earliest = np.zeros(n_facts), np.full(n_facts, np.inf)
    within = np.full((len(segments.at), n_facts), np.inf)
    # a copy that cannot be found adds nothing
    np.maximum.at(gain, segments.fact, np.where(np.isfinite(first), segments.gain, 0.0))
    np.minimum.at(earliest, segments.fact, first)
    np.minimum.at(within.T, segments.fact, helped.T)
    return gain, earliest, within


def _steps(places: Floats, gain: Floats, ends: Floats) -> Floats:
    """What one chunk may have earned by each place in it: evidence is earned at once."""
    order = np.argsort(places)
    total = np.concatenate([[0.0], np.cumsum(gain[order])])
    return np.asarray(total[np.searchsorted(places[order], ends + _ROUNDING, side="right")])


def _ramps(places: Floats, gain: Floats, length: Floats, ends: Floats) -> Floats:
    """What one chunk has shown by each place in it: text is earned as it is read."""
    shown = np.flatnonzero(np.isfinite(places))
    shown = shown[np.argsort(places[shown])]
    at = np.stack([places[shown], places[shown] + length[shown]], axis=1).ravel()
    total = np.cumsum(np.stack([np.zeros(len(shown)), gain[shown]], axis=1).ravel())
    return np.interp(ends, at, total) if len(shown) else np.zeros(len(ends))


def _densest(gain: Floats, length: Floats, ends: Floats) -> Floats:
    """The gain of the densest text of each length."""
    order = np.argsort(-gain / length)
    at, total = np.cumsum(length[order]), np.cumsum(gain[order])
    by_end: Floats = np.interp(ends, np.concatenate([[0.0], at]), np.concatenate([[0.0], total]))
    return by_end


def _read_whole_and_current(
    by_chunk: Sequence[Floats], gain: Floats, shows: Bools, size: Floats, ends: Floats
) -> Floats:
    """The bound of A at each cell's end by the chunk being read and those read whole before it."""
    began = np.concatenate([[0.0], ends[:-1]])
    # the current chunk is read up to somewhere in cell j, so at least to where that begins
    room = ends[:, None] - began[None, :]
    possible, unit = room >= 0, max(float(ends[-1]) / len(ends), 1.0)
    capacity = np.where(possible, np.floor(room / unit + _ROUNDING), 0).astype(np.int64)
    of_items = np.interp(np.maximum(room, 0.0), *_items_for(gain, shows, size))
    held = shows @ gain
    weight = np.floor(size / unit + _ROUNDING).astype(np.int64)
    most, rows = np.zeros(len(ends)), np.arange(len(size))
    apart = len(rows) <= _MOST_APART
    for current in rows.tolist() if apart else [None]:
        of_chunks = _chunks_for(held[rows != current], weight[rows != current], int(capacity.max()))
        shown = by_chunk[current] if current is not None else np.max(by_chunk, axis=0)
        divided = np.minimum(of_items, of_chunks[capacity]) + shown[None, :]
        most = np.maximum(most, np.where(possible, divided, 0.0).max(axis=1))
    return most


def _chunks_for(held: Floats, weight: Ints, capacity: int) -> Floats:
    """The most that whole chunks hold, by their total weight up to ``capacity``: a 0/1 knapsack."""
    best = np.zeros(capacity + 1)
    for gain, size in zip(held.tolist(), weight.tolist(), strict=True):
        if size <= capacity:
            best[size:] = np.maximum(best[size:], best[: capacity + 1 - size] + gain)
    return best


def _items_for(gain: Floats, shows: Bools, size: Floats) -> tuple[Floats, Floats]:
    """The most that items give for a length of chunks read whole: (lengths, gains), concave between."""
    rate = (shows @ gain) / size
    best = np.where(shows, rate[:, None], 0.0).max(axis=0)
    some = (best > 0) & (gain > 0)
    order = np.flatnonzero(some)[np.argsort(-best[some], kind="stable")]
    cost = np.cumsum(gain[order] / best[order])
    return np.concatenate([[0.0], cost]), np.concatenate([[0.0], np.cumsum(gain[order])])
