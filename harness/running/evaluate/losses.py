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

import numpy as np

from harness.measures import Floats, SpanQrels
from harness.report import CANDIDATES, CHANGE, CHUNKING, FILTER, ORDER, PARSER, LossRow, is_route
from harness.running.evaluate.oracle import Oracle, Orders
from harness.running.search import Searched
from harness.steps import Passages
from harness.values import Query, Ranking, by_key

# Not the name of a step: the chunks that a filter leaves.
_LEFT = "\0left"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Level:
    """The best score each query can still reach after a ``part`` of a ``step``, [Q], NaN if it has none.

    All levels are of one measure with one ideal. That of a change may be above the level before it. ``bound``
    [Q] is what the best score cannot exceed, where ``scores`` are the best that a search has found.
    """

    step: str
    part: str
    scores: Floats
    bound: Floats | None = None


def waterfall(query_ids: Sequence[str], levels: Sequence[Level]) -> tuple[Floats, Floats]:
    """Take a way of P levels apart, changes last: the loss of each query at each, and what is left after it.

    Both are [Q, P], NaN for a query without scores. ``1 - losses.sum(axis=1) == left[:, -1]`` for every other
    query, and so for the means. Below 0 are only losses of changes. Raises ValueError for another level above
    the one before it. Differences within rounding are set right.
    """
    table = np.stack([np.ones(len(query_ids)), *(level.scores for level in levels)], axis=1)
    falling = 1 + sum(level.part != CHANGE for level in levels)
    rising = np.argwhere(np.diff(table[:, :falling], axis=1) > _ROUNDING)
    if len(rising):
        row, at = rising[0]
        raise ValueError(
            f"query {query_ids[row]}: the level after {levels[at].step}, {levels[at].part} is "
            f"{table[row, at + 1]:.6f}, above the {table[row, at]:.6f} before it"
        )
    table[:, :falling] = np.minimum.accumulate(table[:, :falling], axis=1)
    return table[:, :-1] - table[:, 1:], table[:, 1:]


def loss_rows(
    setting: str, queries: Sequence[Query], levels: Sequence[Level], measure: str
) -> Iterator[LossRow]:
    """The losses of a setting, query by query, each part in its place on the way; none without scores."""
    query_ids = [query.query_id for query in queries]
    falls: dict[tuple[str, str], tuple[Floats, Floats]] = {}
    for route in ("", *dict.fromkeys(level.step for level in levels if is_route(level.step))):
        way = [level for level in levels if _stands_in(level, route)]
        losses, left = waterfall(query_ids, way)
        falls |= {(level.step, level.part): (losses[:, at], left[:, at]) for at, level in enumerate(way)}
    for row in np.flatnonzero(~np.isnan(levels[-1].scores)).tolist():
        for level in levels:
            loss, rest = (float(fall[row]) for fall in falls[level.step, level.part])
            bound = None if level.bound is None else max(rest, float(level.bound[row]))
            of, split = queries[row].query_id, queries[row].split
            yield LossRow(setting, of, split, measure, level.step, level.part, loss, rest, bound)


def _stands_in(level: Level, route: str) -> bool:
    """Whether a level is on the way to the final score ('') or to that of a route."""
    if level.part in (PARSER, CHUNKING, FILTER):
        return True
    return level.step == route if route else not is_route(level.step)


def loss_levels(searched: Searched, oracle: Oracle, spans: SpanQrels | None = None) -> list[Level]:
    """The score that each query of a setting can still reach after each part of the pipeline.

    ``oracle`` is that of the setting's scorer: it knows all evidence that the scores count, that which only
    the texts of other parsers hold included; ``found`` is the evidence in the text of the setting (None: only
    one parser, and no level for it). The unit is its measure, one of text read. The steps are those of
    ``searched.rankings`` in their order. The first except for routes of a fusion, and each route, has a level
    for the best order of what it found and one for its own order; every later step has one, which may rise. A
    filter that restricts the whole search has one before them. The last level is the reported score. NaN for
    queries without relevant evidence. What cutting costs has no level where another pipeline cut the
    documents: it is part of what was not found.
    """
    scorer, first = oracle.scorer, searched.steps[0]
    achieved = {step: oracle.scores(rankings) for step, rankings in searched.rankings.items()}
    finders = [step for step in achieved if is_route(step) or step == first]
    ranked = {step: _order_of(searched.rankings[step]) for step in finders}
    filtered = searched.filtered.get(first, ())
    if restricted := {
        selection.query_id: selection.documents for selection in filtered if selection.mode == "restrict"
    }:
        ranked[_LEFT] = _left_by(restricted, searched.chunking.passages)
    within = {step: oracle.best(orders) for step, orders in ranked.items()}
    # an achieved score was possible; fmax: NaN stands for the same queries in all of them
    best = {step: np.fmax(within[step].scores, achieved[step]) for step in finders}
    for step in searched.steps[1:]:
        # an order of what was found, by whichever step, says what was possible
        later = _order_of(searched.rankings[step])
        same = [set(later.get(q, ())) <= set(ranked[first].get(q, ())) for q in scorer.query_ids]
        best[first] = np.where(same, np.fmax(best[first], achieved[step]), best[first])
    possible = np.fmax.reduce([*best.values(), *achieved.values()])
    before = []
    if restricted:
        possible = np.fmax(possible, within[_LEFT].scores)
        before.append(Level(FILTER, FILTER, possible, within[_LEFT].bound))
    if not searched.chunking.returned_only:
        every = oracle.best()
        before.append(Level("chunk", CHUNKING, np.fmax(possible, every.scores), every.bound))
    if spans is not None:
        before.append(Level("parse", PARSER, np.where(np.isnan(possible), np.nan, oracle.share(spans))))
    levels = before[::-1]
    for step, scores in achieved.items():
        if step in finders:
            levels.append(Level(step, CANDIDATES, best[step], within[step].bound))
        levels.append(Level(step, ORDER if step in finders else CHANGE, scores))
    return levels


def _left_by(restricted: Mapping[str, frozenset[str] | None], passages: Passages) -> Orders:
    """The chunks that a filter leaves to each query; those in no document are left to all."""
    by_document = by_key(zip(passages.documents, passages.ids, strict=True))
    return {
        query_id: [
            chunk_id
            for document, chunk_ids in by_document.items()
            if documents is None or not document or document in documents
            for chunk_id in chunk_ids
        ]
        for query_id, documents in restricted.items()
    }


def _order_of(rankings: Iterable[Ranking]) -> Orders:
    return {ranking.query_id: list(ranking.chunk_ids) for ranking in rankings}
