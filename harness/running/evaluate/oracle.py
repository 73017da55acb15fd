"""The best order of chunks that a search finds for queries whose evidence is known, and its bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.measures import Floats, Ints, Measure, Scorer, overlapping
from harness.running.evaluate.oracle_bound import most_earned
from harness.running.evaluate.segments import Evidence, Paying
from harness.values import Ranking

Orders = Mapping[str, Sequence[str]]
"""Chunk ids by query."""


@dataclass(frozen=True, slots=True)
class Best:
    """The two greedy orders of every query, and ``most`` [Q], the gain that no order exceeds."""

    by_rate: list[Ranking]
    by_gain: list[Ranking]
    most: Floats


class Oracle:
    """Finds the best orders of the chunks of a scorer by a measure, each set of chunks once.

    ``measure`` is an ``ndcg_evidence`` or an ``ndcg_text``, of characters or tokens.
    """

    def __init__(self, scorer: Scorer, measure: Measure) -> None:
        self._paying = Paying.of(measure)
        self._query_ids = scorer.query_ids
        self._scorer, self._unit = scorer, scorer.unit_of(measure)
        self._rows: dict[int, tuple[Ints, Ints]] = {}
        self._known: dict[tuple[int, tuple[int, ...]], tuple[Ranking, Ranking, float]] = {}
        spans = scorer.spans
        relevant = np.flatnonzero(spans.grade > 0)
        span, chunk, _ = overlapping(spans.take(relevant), scorer.chunks)
        # spans are in the order of their queries, and pairs in that of their spans
        first_span = np.searchsorted(spans.query[relevant], np.arange(len(scorer.queries) + 1))
        first_pair = np.searchsorted(span, first_span)
        for at in np.flatnonzero(np.diff(first_pair)).tolist():
            rows = np.unique(chunk[first_pair[at] : first_pair[at + 1]])
            own = relevant[first_span[at] : first_span[at + 1]]
            self._rows[at] = own, rows

    def best(self, found: Orders | None = None) -> Best:
        """For every query the greedy orders of the chunks that were ``found``, of all without it.

        Queries no chunk shows relevant evidence of have none.
        """
        best = Best([], [], np.zeros(len(self._query_ids)))
        chunk_ids = self._scorer.chunks.chunk_ids
        for at, (_, rows) in self._rows.items():
            there = None if found is None else set(found.get(self._query_ids[at], ()))
            some = tuple(i for i, row in enumerate(rows) if there is None or chunk_ids[row] in there)
            by_rate, by_gain, best.most[at] = self._of(at, some)
            best.by_rate.append(by_rate)
            best.by_gain.append(by_gain)
        return best

    def _of(self, at: int, allowed: tuple[int, ...]) -> tuple[Ranking, Ranking, float]:
        if (at, allowed) not in self._known:
            spans, rows = self._rows[at]
            # made anew for each set of chunks: all queries' at once would take kilobytes a judgment
            evidence = Evidence.of(self._scorer, spans, rows, self._unit, self._paying)
            names = [self._scorer.chunks.chunk_ids[row] for row in rows]
            orders = [
                greedy_order(evidence, allowed, self._paying, per_unit=per_unit) for per_unit in (True, False)
            ]
            by_rate, by_gain = (
                Ranking(
                    self._query_ids[at],
                    tuple(names[i] for i in order),
                    tuple(-float(i) for i in range(len(order))),
                )
                for order in orders
            )
            self._known[at, allowed] = by_rate, by_gain, most_earned(evidence, allowed, self._paying)
        return self._known[at, allowed]


def greedy_order(evidence: Evidence, allowed: Sequence[int], paying: Paying, *, per_unit: bool) -> list[int]:
    """Read next the chunk that adds most discounted gain, or most ``per_unit`` of its length.

    Up to the budget. The first can spend on one long chunk what several short ones need, the second the other
    way round. Returns indices into the chunks of ``evidence``; of equals the first. Chunks that add nothing
    are left out.
    """
    left = list(allowed)
    when = np.full(len(evidence.length), np.inf)
    have, read = 0.0, 0.0
    order: list[int] = []
    while left and read < paying.budget:
        # text read again is paid less than before: its first reading counts
        after = np.minimum(read + evidence.at[left], when)
        gain = evidence.earned(after, paying)
        added = gain - have
        length = np.minimum(evidence.size[left], paying.budget - read)
        best = int(np.argmax(added / length if per_unit else added))
        if added[best] <= 1e-12:
            break
        have, when = float(gain[best]), after[best]
        order.append(left.pop(best))
        read += float(evidence.size[order[-1]])
    return order
