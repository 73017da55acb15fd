"""The levels of the loss waterfall of a setting, in units of text-NDCG.

Why text-NDCG and not NDCG@k of chunks: the ideal of the latter is made of the chunking's own chunks, so it is
blind to what the chunking lost, and a chunk that holds two facts earns but one. Text-NDCG has one ideal under
every chunking: the judged text and nothing else, densest first. What the best order of chunks falls short of
1 is what the chunking costs, evidence cut apart or padded with other text.

The best order of chunks under overlaps, copies and a budget is a hard problem. Greed comes near, and the
level is the best order *known*: greed's own, or any that was achieved or is the best of fewer chunks. So no
level is below a later one, and what the chunking costs may be overstated a little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from harness.comparison.waterfall import Level, Waterfall, waterfall
from harness.evaluate.oracle import Orders, best_orders
from harness.measures import FAMILIES, Scorer, SpanQrels, parse_measure
from harness.measures.measure import arguments
from harness.measures.ragged import Bools, Floats
from harness.measures.text_ndcg import ideal_gain
from harness.report import CANDIDATES, CHANGE, CHUNKING, FILTER, ORDER, PARSER, LossRow, is_route
from harness.running.search import Searched
from harness.search import FilterResult
from harness.types import Ranking

BUDGET = 10_000
# Not the name of a step: the chunks that a filter leaves.
_LEFT = "\0left"


def loss_rows(setting: str, scorer: Scorer, levels: Sequence[Level], measure: str) -> Iterator[LossRow]:
    """The losses of a setting, query by query, each part in its place on the way."""
    split = {query.query_id: query.split for query in scorer.queries}
    falls: dict[tuple[str, str], tuple[Waterfall, int]] = {}
    for route in ("", *dict.fromkeys(level.step for level in levels if is_route(level.step))):
        way = [level for level in levels if _stands_in(level, route)]
        fall = waterfall(scorer.query_ids, way)
        falls |= {(level.step, level.part): (fall, at) for at, level in enumerate(way)}
    for row, query_id in enumerate(fall.query_ids):
        for level in levels:
            fall, at = falls[level.step, level.part]
            loss, left = float(fall.losses[row, at]), float(fall.left[row, at])
            yield LossRow(setting, query_id, split[query_id], measure, level.step, level.part, loss, left)


def _stands_in(level: Level, route: str) -> bool:
    """Whether a level is on the way to the final score ('') or to that of a route."""
    if level.part in (PARSER, CHUNKING, FILTER):
        return True
    return level.step == route if route else not is_route(level.step)


def loss_measure(measures: Sequence[str]) -> str:
    """The unit of the losses: the first ``ndcg_text`` among the measures, else to a budget of ``BUDGET``."""
    texts = (name for name in measures if parse_measure(name).family == "ndcg_text")
    return next(texts, f"ndcg_text@{BUDGET}")


def loss_levels(
    searched: Searched,
    scorer: Scorer,
    found: SpanQrels | None = None,
    measure: str = f"ndcg_text@{BUDGET}",
) -> list[Level]:
    """The score that each query of a setting can still reach after each part of the pipeline.

    ``scorer`` knows all evidence, that which is in no text of the setting included; ``found`` is the evidence
    that is in one (None: all of it). The unit is ``measure``, an ``ndcg_text``. The steps are those of
    ``searched.rankings`` in their order. The first except for routes of a fusion, and each route, has a level
    for the best order of what it found and one for its own order; every later step has one, which may rise. A
    filter that restricts the whole search has one before them. What is lost belongs to the ideal of all
    levels, so the last level is below the reported ``ndcg_text`` where evidence was lost, and equal to it
    elsewhere. NaN for queries without relevant evidence, found or lost. What cutting costs has no level where
    another pipeline cut the documents: it is part of what was not found.
    """
    unit = parse_measure(measure)

    def level(rankings: Sequence[Ranking]) -> Floats:
        scores = scorer.score(rankings, [unit])
        return np.where(scores.has_relevant, scores.values[:, 0], np.nan)

    achieved = {step: level(rankings) for step, rankings in searched.rankings.items()}
    steps = [step for step in achieved if not is_route(step)]
    finders = [step for step in achieved if is_route(step) or step == steps[0]]
    ranked = {step: _order_of(searched.rankings[step]) for step in finders}
    restricted = {one.query_id: one.documents for one in restricting(searched, steps[0])}
    if restricted:
        ranked[_LEFT] = _left_by(restricted, scorer.chunks.chunk_ids)
    every, within = best_orders(scorer, ranked, unit)
    # fmax: NaN stands for the same queries in all of them
    best = {step: np.fmax(level(within[step]), achieved[step]) for step in finders}
    for step in steps[1:]:
        # an order of what was found, by whichever step, says what was possible
        same = _finds_no_more(scorer, _order_of(searched.rankings[step]), ranked[steps[0]])
        best[steps[0]] = np.where(same, np.fmax(best[steps[0]], achieved[step]), best[steps[0]])
    known = [*best.values(), *achieved.values()]
    if restricted:
        known.append(_highest(level(within[_LEFT]), known))
    levels = [Level("parse", PARSER, _parsed(scorer, found, measure, np.isnan(known[0])))]
    if not searched.chunking.returned_only:
        levels.append(Level("chunk", CHUNKING, _highest(level(every), known)))
    if restricted:
        levels.append(Level(FILTER, FILTER, known[-1]))
    for step, scores in achieved.items():
        if step in finders:
            levels += [Level(step, CANDIDATES, best[step]), Level(step, ORDER, scores)]
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


def _highest(scores: Floats, others: Iterable[Floats]) -> Floats:
    """The highest score of each query, [Q]: an achieved score was possible."""
    for other in others:
        scores = np.fmax(scores, other)
    return scores


def _order_of(rankings: Iterable[Ranking]) -> Orders:
    return {ranking.query_id: list(ranking.chunk_ids) for ranking in rankings}


def _finds_no_more(scorer: Scorer, later: Orders, found: Orders) -> Bools:
    """Mask [Q] of the queries for which a later step ranks only chunks that were found before it."""
    ids = scorer.query_ids
    return np.array([set(later.get(q, ())) <= set(found.get(q, ())) for q in ids], dtype=np.bool_)


def _parsed(scorer: Scorer, found: SpanQrels | None, measure: str, undefined: Bools) -> Floats:
    """The ideal of the evidence that was found over that of all evidence, [Q]; NaN if ``undefined``."""
    share = np.ones(len(scorer.queries))
    if found is not None:
        unit = parse_measure(measure)
        L = arguments(unit, FAMILIES[unit.family])["L"]
        whole, part = scorer.unread(), scorer.against(found).unread()
        most, reached = (ideal_gain(trail, unit.cutoff or BUDGET, L) for trail in (whole, part))
        counts = [np.bincount(trail.spans.query, minlength=len(share)) for trail in (whole, part)]
        np.divide(reached, most, out=share, where=counts[0] > counts[1])
    return np.where(undefined, np.nan, share)
