"""The levels of the loss waterfall of a setting, in units of text-NDCG.

Why text-NDCG and not NDCG@k of chunks: the ideal of the latter is made of the chunking's own chunks, so it is
blind to what the chunking lost, and a chunk that holds two facts earns but one. Text-NDCG has one ideal under
every chunking: the judged text and nothing else, densest first. What the best order of chunks falls short of
1 is what the chunking costs, evidence cut apart or padded with other text.

The best order of chunks under overlaps, copies and a budget is a hard problem. Greed by gain per character
comes near, and the level is the best order *known*: greed's own, or any that was achieved or is the best of
fewer chunks. So no level is below a later one, and what the chunking costs may be overstated a little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.comparison.waterfall import Level, Waterfall, waterfall
from harness.config import BenchConfig
from harness.corpus import AnchorResult, LabelRow
from harness.evaluate.oracle import Evidence, greedy_order
from harness.evaluate.scoring import queries_to_score
from harness.judging.judges import pool_judge_config
from harness.measures import ChunkTable, SpanQrels, parse_measure, score
from harness.measures.projection import overlapping
from harness.report import CANDIDATES, CHANGE, CHUNKING, FILTER, ORDER, PARSER, LossRow, is_route
from harness.running.corpus import Corpus
from harness.running.search import Searched
from harness.search import Narrowed
from harness.types import Chunk, Judgment, Query, Ranking

BUDGET = 10_000
# No document has this id: file names hold no NUL.
_LOST = "\0lost"
# Nor is any step called so.
_LEFT = "\0left"
# A label that says neither quote nor offsets, of a document that could not be read: one reading unit.
_UNKNOWN_LENGTH = 1000

Floats = NDArray[np.float64]
_Orders = dict[str, list[str]]


def lost_rows(
    searched: Sequence[Searched], corpus: Corpus, judgments: Sequence[Judgment], config: BenchConfig
) -> list[LossRow]:
    """What each part of the way costs each query, for every setting.

    Queries without relevant evidence have no rows. Evidence that the parser lost counts only where people
    judge: a judge's pool holds retrieved text alone. Evidence that another parser has found is lost as well.
    """
    by_people = pool_judge_config(config) is None
    lost = lost_evidence(corpus.label_rows, corpus.anchored) if by_people else []
    queries = queries_to_score(corpus.queries.queries, [*judgments, *lost], config.relevance)
    if not any(query.answerable for query in queries):
        return []
    measure = loss_measure(config.measures)
    rows: list[LossRow] = []
    for one in searched:
        own, elsewhere = corpus.judged_for(one.setting.name, judgments)
        levels = loss_levels(one, queries, own, [*elsewhere, *lost], measure)
        rows += loss_rows(one.setting.name, queries, levels, measure)
    return rows


def loss_rows(
    setting: str, queries: Sequence[Query], levels: Sequence[Level], measure: str
) -> Iterator[LossRow]:
    """The losses of a setting, query by query, each part in its place on the way."""
    ids = [query.query_id for query in queries]
    split = {query.query_id: query.split for query in queries}
    falls: dict[tuple[str, str], tuple[Waterfall, int]] = {}
    for route in ("", *dict.fromkeys(level.step for level in levels if is_route(level.step))):
        way = [level for level in levels if _stands_in(level, route)]
        fall = waterfall(ids, way)
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


def lost_evidence(labels: Iterable[LabelRow], anchored: AnchorResult) -> list[Judgment]:
    """The labels whose text is not in the documents as extracted, as spans of a document that does not exist.

    These are quotes that were not found, and all labels of documents that were skipped. Each is as long as
    its quote, so that it has a place in the ideal.
    """
    found = {a.line for a in anchored.anchorings if a.accepted}
    lost, at = [], 0
    for row in labels:
        if row.line in found:
            continue
        length = len(row.quote.strip()) or (row.end or 0) - (row.start or 0) or _UNKNOWN_LENGTH
        lost.append(Judgment(row.query_id, _LOST, at, at + length, row.grade, row.evidence, row.source))
        at += length + 1
    return lost


def loss_levels(
    searched: Searched,
    queries: Sequence[Query],
    judgments: Sequence[Judgment],
    lost: Sequence[Judgment] = (),
    measure: str = f"ndcg_text@{BUDGET}",
) -> list[Level]:
    """What each query of a setting can still reach after each part of the way.

    The unit is ``measure``, an ``ndcg_text``. The steps are those of ``searched.rankings`` in their
    order. The first that is no route of a fusion, and each route, has a level for the best order of what
    it found and one for its own order; every later step has one, which may rise. A filter that restricts
    the whole search has one before them. ``lost`` is evidence that is in no text (``lost_evidence``); it
    belongs to the ideal of all levels, so the last level is below the reported ``ndcg_text`` where
    evidence was lost, and equal to it elsewhere. NaN for queries without relevant evidence, found or
    lost. What cutting costs has no level where another pipeline cut the documents: it is part of what was
    not found.
    """
    budget = parse_measure(measure).cutoff or BUDGET
    spans = SpanQrels.from_judgments([*judgments, *lost])
    table = ChunkTable.of(searched.chunking.chunks)

    def level(orders: Iterable[Ranking]) -> Floats:
        return score(list(orders), queries, spans, table, [measure]).values[:, 0]

    achieved = {step: level(rankings) for step, rankings in searched.rankings.items()}
    steps = [step for step in achieved if not is_route(step)]
    finders = [step for step in achieved if is_route(step) or step == steps[0]]
    found = {step: _order_of(searched.rankings[step]) for step in finders}
    restricted = {one.query_id: one.documents for one in restricting(searched, steps[0])}
    if restricted:
        found[_LEFT] = _left_by(restricted, table.chunk_ids)
    every, within = _best_orders(spans, table, queries, found, budget)
    # fmax: NaN stands for the same queries in all of them
    best = {step: np.fmax(level(_rankings(within[step])), achieved[step]) for step in finders}
    for step in steps[1:]:
        # an order of what was found, by whichever step, says what was possible
        same = _finds_no_more(queries, _order_of(searched.rankings[step]), found[steps[0]])
        best[steps[0]] = np.where(same, np.fmax(best[steps[0]], achieved[step]), best[steps[0]])
    known = [*best.values(), *achieved.values()]
    if restricted:
        known.append(_highest(level(_rankings(within[_LEFT])), known))
    chunked = _highest(level(_rankings(every)), known)
    levels = [Level("parse", PARSER, _parsed(queries, judgments, lost, measure))]
    if not searched.chunking.returned_only:
        levels.append(Level("chunk", CHUNKING, chunked))
    if restricted:
        levels.append(Level(FILTER, FILTER, known[-1]))
    for step, scores in achieved.items():
        if step in finders:
            levels += [Level(step, CANDIDATES, best[step]), Level(step, ORDER, scores)]
        else:
            levels.append(Level(step, CHANGE, scores, may_rise=True))
    return levels


def restricting(searched: Searched, step: str) -> list[Narrowed]:
    """What a filter that restricts the whole search made of each query; empty where there is none."""
    return [one for one in searched.filtered.get(step, ()) if one.mode == "restrict"]


def _left_by(restricted: Mapping[str, frozenset[str] | None], chunk_ids: Sequence[str]) -> _Orders:
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
    """The highest score of each query, [Q]: what was achieved says what was possible."""
    for other in others:
        scores = np.fmax(scores, other)
    return scores


def _order_of(rankings: Iterable[Ranking]) -> _Orders:
    return {ranking.query_id: list(ranking.chunk_ids) for ranking in rankings}


def _finds_no_more(queries: Sequence[Query], later: _Orders, found: _Orders) -> NDArray[np.bool_]:
    """For which queries a later step ranks nothing but what was found before it, [Q]."""
    ids = [query.query_id for query in queries]
    return np.array([set(later.get(q, ())) <= set(found.get(q, ())) for q in ids], dtype=np.bool_)


def _best_orders(
    spans: SpanQrels, table: ChunkTable, queries: Sequence[Query], found: Mapping[str, _Orders], budget: int
) -> tuple[_Orders, dict[str, _Orders]]:
    """For every query the greedy order of all chunks, and of those that each step ``found``."""
    relevant = np.flatnonzero(spans.grade > 0)
    span, chunk, _ = overlapping(spans.take(relevant), table)
    number = {query_id: i for i, query_id in enumerate(spans.query_ids)}
    # spans stand in the order of their queries, and pairs in that of their spans
    first_span = np.searchsorted(spans.query[relevant], np.arange(len(number) + 1))
    first_pair = np.searchsorted(span, first_span)
    every: _Orders = {}
    within: dict[str, _Orders] = {step: {} for step in found}
    for query_id in (q.query_id for q in queries):
        at = number.get(query_id)
        if at is None or first_pair[at] == first_pair[at + 1]:
            continue
        chunk_rows = np.unique(chunk[first_pair[at] : first_pair[at + 1]])
        span_rows = relevant[first_span[at] : first_span[at + 1]]
        evidence = Evidence.of(spans, table, span_rows, chunk_rows)
        names = [table.chunk_ids[row] for row in chunk_rows]
        every[query_id] = [names[i] for i in greedy_order(evidence, range(len(names)), budget)]
        for step, orders in found.items():
            there = set(orders.get(query_id, ()))
            some = [i for i, name in enumerate(names) if name in there]
            within[step][query_id] = [names[i] for i in greedy_order(evidence, some, budget)]
    return every, within


def _parsed(
    queries: Sequence[Query], judgments: Sequence[Judgment], lost: Sequence[Judgment], measure: str
) -> Floats:
    """The ideal of the evidence that was found over that of all evidence, for every query.

    Reading one found span earns the same under both ideals; the ratio of its scores is that of the ideals.
    """
    found, missing = _apart(judgments), _apart(lost)
    first: dict[str, Judgment] = {}
    for row in found:
        if row.grade:
            first.setdefault(row.query_id, row)
    chunk = {
        query_id: Chunk(f"{query_id}", row.doc_id, row.start, row.end, "") for query_id, row in first.items()
    }
    asked = {query.query_id for query in queries}
    orders = [Ranking(query_id, (query_id,), (0.0,)) for query_id in chunk if query_id in asked]
    table = ChunkTable.of(chunk.values())

    def read(spans: Sequence[Judgment]) -> Floats:
        return score(orders, queries, SpanQrels.from_judgments(spans), table, [measure]).values[:, 0]

    with_all, found_only = read([*found, *missing]), read(found)
    share = np.divide(with_all, found_only, out=np.zeros(len(queries)), where=found_only > 0)
    touched = {row.query_id for row in lost if row.grade}
    whole = np.array([query.query_id not in touched for query in queries], dtype=np.bool_)
    return np.where(np.isnan(with_all), np.nan, np.where(whole, 1.0, share))


def _apart(judgments: Sequence[Judgment]) -> list[Judgment]:
    """Every query's spans in copies of the documents that are its own.

    Each query reads one span. In the real documents a span that many queries share would meet the spans of
    all of them, and be held as often as there are pairs of queries.
    """
    return [replace(row, doc_id=f"{row.query_id}\0{row.doc_id}") for row in judgments]


def _rankings(orders: _Orders) -> list[Ranking]:
    return [
        Ranking(query_id, tuple(names), tuple(-float(i) for i in range(len(names))))
        for query_id, names in orders.items()
    ]
