"""The levels of the loss waterfall of a setting, in units of the measure that settings are compared by.

That is one of text read, ``ndcg_evidence`` or ``ndcg_text``. The ideal of NDCG@k of chunks is made of the
chunking's own chunks, so it is blind to what the chunking lost; where it is the headline, losses are in units
of a measure of text read, and say so. What the best order of chunks falls short of 1 is what the chunking
costs, evidence cut apart or padded with other text.

The best order of chunks under overlaps, copies and a budget is a hard problem. Greed comes near, and the
level is the best order *known*: greed's own, or any that was achieved or is the best of fewer chunks. So no
level is below a later one, and what the chunking costs may be overstated: by no more than the level is below
its ``bound``, which no order can exceed (``oracle.most_earned``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from harness.comparison import LOSS_MEASURE
from harness.measures import (
    Bools,
    Floats,
    Measure,
    Scorer,
    SpanQrels,
    evidence_ndcg,
    parse_measure,
    text_ndcg,
)
from harness.report import CANDIDATES, CHANGE, CHUNKING, FILTER, ORDER, PARSER, LossRow, is_route
from harness.running.evaluate.oracle import Best, Oracle, Orders
from harness.running.evaluate.segments import Paying
from harness.running.search import Searched
from harness.steps import FilterResult
from harness.values import HarnessError, Ranking

# Not the name of a step: the chunks that a filter leaves.
_LEFT = "\0left"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Level:
    """The best score each query can still reach after a ``part`` of a ``step``, [Q], NaN if it has none.

    All levels are of one measure with one ideal. ``may_rise``: it may be above the level before it.
    ``bound`` [Q] is what the best score cannot exceed, where ``scores`` are the best that a search has found.
    """

    step: str
    part: str
    scores: Floats
    may_rise: bool = False
    bound: Floats | None = None


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The loss of each query at each of P parts, ``losses`` [Q, P], and what was ``left`` after it [Q, P].

    ``1 - losses.sum(axis=1) == left[:, -1]`` for every query, and so for the means. Below 0 are only losses
    of levels that may rise. Queries for which the measure is undefined are left out.
    """

    query_ids: tuple[str, ...]
    losses: Floats
    left: Floats


def waterfall(query_ids: Sequence[str], levels: Sequence[Level]) -> Waterfall:
    """Take a way of levels apart; those that may rise come last.

    Raises ValueError for shapes that do not fit and for a level above the one before it that may not be.
    Differences within rounding are set right.
    """
    n = len(query_ids)
    if any(level.scores.shape != (n,) for level in levels):
        raise ValueError(f"every level needs one score per query, {n}")
    table = np.stack([np.ones(n), *(level.scores for level in levels)], axis=1)
    known: Bools = np.logical_not(np.isnan(table).any(axis=1))
    if not known.any():
        raise HarnessError("No query has a score, so there are no losses to report.")
    table = table[known]
    kept = tuple(query for query, k in zip(query_ids, known, strict=True) if k)
    falling = 1 + sum(not level.may_rise for level in levels)
    rising = np.argwhere(np.diff(table[:, :falling], axis=1) > _ROUNDING)
    if len(rising):
        row, at = rising[0]
        raise ValueError(
            f"query {kept[row]}: the level after {levels[at].step}, {levels[at].part} is "
            f"{table[row, at + 1]:.6f}, above the {table[row, at]:.6f} before it"
        )
    table[:, :falling] = np.minimum.accumulate(table[:, :falling], axis=1)
    return Waterfall(kept, table[:, :-1] - table[:, 1:], table[:, 1:])


def loss_rows(setting: str, scorer: Scorer, levels: Sequence[Level], measure: str) -> Iterator[LossRow]:
    """The losses of a setting, query by query, each part in its place on the way."""
    split = {query.query_id: query.split for query in scorer.queries}
    place = {query_id: row for row, query_id in enumerate(scorer.query_ids)}
    falls: dict[tuple[str, str], tuple[Waterfall, int]] = {}
    for route in ("", *dict.fromkeys(level.step for level in levels if is_route(level.step))):
        way = [level for level in levels if _stands_in(level, route)]
        fall = waterfall(scorer.query_ids, way)
        falls |= {(level.step, level.part): (fall, at) for at, level in enumerate(way)}
    for row, query_id in enumerate(fall.query_ids):
        for level in levels:
            fall, at = falls[level.step, level.part]
            loss, left = float(fall.losses[row, at]), float(fall.left[row, at])
            bound = None if level.bound is None else max(left, float(level.bound[place[query_id]]))
            yield LossRow(
                setting, query_id, split[query_id], measure, level.step, level.part, loss, left, bound
            )


def _stands_in(level: Level, route: str) -> bool:
    """Whether a level is on the way to the final score ('') or to that of a route."""
    if level.part in (PARSER, CHUNKING, FILTER):
        return True
    return level.step == route if route else not is_route(level.step)


def loss_levels(
    searched: Searched,
    scorer: Scorer,
    found: SpanQrels | None = None,
    measure: str = LOSS_MEASURE,
    oracle: Oracle | None = None,
) -> list[Level]:
    """The score that each query of a setting can still reach after each part of the pipeline.

    ``scorer`` is that of the setting's scores: it knows all evidence that they count, that which only the
    texts of other parsers hold included; ``found`` is the evidence in the text of the setting (None: only one
    parser, and no level for it). The unit is ``measure``, one of text read. The steps are those of
    ``searched.rankings`` in their order. The first except for routes of a fusion, and each route, has a level
    for the best order of what it found and one for its own order; every later step has one, which may rise. A
    filter that restricts the whole search has one before them. The last level is the reported score. NaN for
    queries without relevant evidence. What cutting costs has no level where another pipeline cut the
    documents: it is part of what was not found. ``oracle`` is one of the scorer and the measure that has been
    asked before.
    """
    unit = parse_measure(measure)
    oracle, reached = oracle or Oracle(scorer, unit), _Reached(scorer, unit)
    achieved = {step: reached.by(rankings) for step, rankings in searched.rankings.items()}
    steps = [step for step in achieved if not is_route(step)]
    finders = [step for step in achieved if is_route(step) or step == steps[0]]
    ranked = {step: _order_of(searched.rankings[step]) for step in finders}
    restricted = {one.query_id: one.documents for one in restricting(searched, steps[0])}
    if restricted:
        ranked[_LEFT] = _left_by(restricted, scorer.chunks.chunk_ids)
    every, within = oracle.best(), {step: oracle.best(orders) for step, orders in ranked.items()}
    best = {step: reached.best(within[step], achieved[step]) for step in finders}
    for step in steps[1:]:
        # an order of what was found, by whichever step, says what was possible
        same = _finds_no_more(scorer, _order_of(searched.rankings[step]), ranked[steps[0]])
        best[steps[0]] = np.where(same, np.fmax(best[steps[0]], achieved[step]), best[steps[0]])
    known = [*best.values(), *achieved.values()]
    if restricted:
        known.append(reached.best(within[_LEFT], *known))
    levels = []
    if found is not None:
        levels.append(Level("parse", PARSER, reached.parsed(found, np.isnan(known[0]))))
    if not searched.chunking.returned_only:
        levels.append(Level("chunk", CHUNKING, reached.best(every, *known), bound=reached.bound(every)))
    if restricted:
        levels.append(Level(FILTER, FILTER, known[-1], bound=reached.bound(within[_LEFT])))
    for step, scores in achieved.items():
        if step in finders:
            levels += [
                Level(step, CANDIDATES, best[step], bound=reached.bound(within[step])),
                Level(step, ORDER, scores),
            ]
        else:
            levels.append(Level(step, CHANGE, scores, may_rise=True))
    return levels


def restricting(searched: Searched, step: str) -> list[FilterResult]:
    """The results of a filter that restricts the whole search, by query; empty if there is none."""
    return [one for one in searched.filtered.get(step, ()) if one.mode == "restrict"]


def _left_by(restricted: Mapping[str, frozenset[str] | None], chunk_ids: Sequence[str]) -> Orders:
    """The chunks that a filter leaves to each query."""
    by_document: dict[str, list[str]] = {}
    for chunk_id in chunk_ids:
        by_document.setdefault(chunk_id.rpartition(":")[0], []).append(chunk_id)
    return {
        query_id: [
            chunk_id
            for document, own in by_document.items()
            if documents is None or document in documents
            for chunk_id in own
        ]
        for query_id, documents in restricted.items()
    }


def _order_of(rankings: Iterable[Ranking]) -> Orders:
    return {ranking.query_id: list(ranking.chunk_ids) for ranking in rankings}


def _finds_no_more(scorer: Scorer, later: Orders, found: Orders) -> Bools:
    """Mask [Q] of the queries for which a later step ranks only chunks that were found before it."""
    ids = scorer.query_ids
    return np.array([set(later.get(q, ())) <= set(found.get(q, ())) for q in ids], dtype=np.bool_)


class _Reached:
    """What the queries of a scorer reach by one measure of text read, [Q] each."""

    def __init__(self, scorer: Scorer, unit: Measure) -> None:
        self._scorer, self._unit = scorer, unit
        self._ideal = _ideal(scorer, unit)

    def by(self, rankings: Sequence[Ranking]) -> Floats:
        """The scores of rankings; NaN without relevant evidence."""
        scores = self._scorer.score(rankings, [self._unit])
        return np.where(scores.has_relevant, scores.values[:, 0], np.nan)

    def best(self, best: Best, *others: Floats) -> Floats:
        """The better of two greedy orders, or of others: an achieved score was possible."""
        # fmax: NaN stands for the same queries in all of them
        return reduce(np.fmax, [self.by(best.by_rate), self.by(best.by_gain), *others])

    def bound(self, best: Best) -> Floats:
        """What no order exceeds."""
        ideal = self._ideal
        return np.minimum(np.divide(best.most, ideal, out=np.zeros(len(ideal)), where=ideal > 0), 1.0)

    def parsed(self, found: SpanQrels, undefined: Bools) -> Floats:
        """The ideal of the evidence that was found over that of all evidence; NaN if ``undefined``."""
        part, share = self._scorer.against(found), np.ones(len(self._ideal))
        counts = [
            np.bincount(one.spans.query[one.spans.grade > 0], minlength=len(share))
            for one in (self._scorer, part)
        ]
        np.divide(_ideal(part, self._unit), self._ideal, out=share, where=counts[0] > counts[1])
        return np.where(undefined, np.nan, share)


def _ideal(scorer: Scorer, unit: Measure) -> Floats:
    """What the best reading of the scorer's evidence earns, [Q], whatever the chunks."""
    paying, trail = Paying.of(unit), scorer.unread(unit)
    if paying.found:
        return evidence_ndcg.ideal_gain(trail, paying.budget, paying.enough, paying.L)
    return text_ndcg.ideal_gain(trail, paying.budget, paying.L)
