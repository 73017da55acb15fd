"""Search every setting: one pass of each model over the needs of all settings, then step by step."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from time import perf_counter
from typing import Any

from harness.report import AskedRow, is_route
from harness.running.chunks import Chunking, chunk_corpus
from harness.running.config.models import Setting
from harness.running.context import Context, NotStoredError
from harness.running.corpus import Corpus
from harness.running.passes import embed_for_all, score_for_all
from harness.running.resources import cut_apart
from harness.running.tools import RETRIEVE, RunTools
from harness.steps import Effort, FilterResult, PendingCallsError, Phrasings, RetrievalResult, rerank
from harness.values import Query, Ranking, Silent, listed

RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Searched:
    """The rankings of one setting by step, with notes on the search.

    ``rankings`` has the routes of a fusion first, by names with a dot (``retrieve.bm25``), then the steps in
    their order. ``asked`` are the queries as a rewriter put them, by step; none if nothing was rewritten.
    ``filtered`` is what filters made of the queries, by step. ``efforts``: what it took up to and with each
    step. ``exact_shares`` is the share of the true nearest chunks among what a retriever or a route has
    found, by its name; it is left out where that has no meaning, as for words. ``rewriting_costs`` is what
    language models were paid to rewrite all queries, by ``retrieve`` and its routes, no matter which run
    paid; None if a price is unknown.

    Where something else is read than the chunks that were searched, ``chunking`` and ``rankings`` hold what
    would be read if the search ended with a step, and ``over_chunks`` is the same search by its chunks.
    """

    setting: Setting
    chunking: Chunking
    rankings: dict[str, list[Ranking]]
    notes: dict[str, Any]
    asked: dict[str, tuple[Query, ...]] = field(default_factory=dict)
    efforts: list[Effort] = field(default_factory=list)
    filtered: dict[str, tuple[FilterResult, ...]] = field(default_factory=dict)
    over_chunks: Searched | None = None
    exact_shares: dict[str, float] = field(default_factory=dict)
    rewriting_costs: dict[str, float | None] = field(default_factory=dict)

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps in their order, routes left out."""
        return tuple(name for name in self.rankings if not is_route(name))


def asked_rows(searched: Iterable[Searched]) -> Iterator[AskedRow]:
    """Every query as each step of each setting searched for it, where it was rewritten."""
    for one in searched:
        for step, queries in one.asked.items():
            phrasings: Counter[str] = Counter()
            for query in queries:
                phrasings[query.query_id] += 1
                yield AskedRow(one.setting.name, step, query.query_id, phrasings[query.query_id], query.text)


def reranker_names(setting: Setting) -> tuple[str, ...]:
    """The names of the rerankers of a setting: ``rerank``, ``rerank2`` and so on."""
    return tuple(RERANK if place == 1 else f"{RERANK}{place}" for place in range(1, len(setting.rerank) + 1))


@dataclass(frozen=True, slots=True)
class Chunked:
    """A setting with its chunks, and the seconds it took to cut them."""

    setting: Setting
    chunking: Chunking
    seconds: float = 0.0


def cut_for_all(
    settings: Sequence[Setting],
    corpora: Corpus | Mapping[str, Corpus],
    context: Context,
    done: Callable[[], None] = lambda: None,
) -> list[Chunked]:
    """The chunks of every setting; a problem of several is reported once.

    ``corpora`` is the corpus of all settings, or that of each by its name. ``done`` is called after each.
    """
    points: list[Chunked] = []
    problems: dict[str, list[str]] = {}
    of = {one.name: corpora if isinstance(corpora, Corpus) else corpora[one.name] for one in settings}
    if context.engine.apart and context.may_ask:
        cut_apart([(setting, of[setting.name]) for setting in settings], context)
    for setting in settings:
        begun = perf_counter()
        found: list[str] = []
        corpus = of[setting.name]
        chunking = chunk_corpus(corpus, setting, context, found.append)
        points.append(Chunked(setting, chunking, perf_counter() - begun))
        for problem in found:
            problems.setdefault(problem, []).append(setting.name)
        done()
    for problem, names in problems.items():
        context.warn("chunks", f"{listed(names, 3)}: {problem}", settings=names)
    return points


def as_read(one: Searched) -> Searched:
    """The search with the text read in place of its chunks, by step."""
    reading = one.chunking.reading
    if reading is None:
        return one
    rankings = {step: list(map(reading.ranking, found)) for step, found in one.rankings.items()}
    return replace(one, chunking=reading.chunking(one.chunking), rankings=rankings, over_chunks=one)


def search_settings(
    points: Sequence[Chunked],
    queries: Sequence[Query],
    context: Context,
    found: Callable[[Searched], None] = lambda _: None,
) -> list[Searched]:
    """Rank all chunks of every setting for all queries; ``found`` is called with each as it gets rankings.

    The results are given as they are read.
    """
    tools = RunTools.of(queries, context)
    if context.prepared.unwritten:
        raise PendingCallsError(*context.prepared.unwritten.values())
    asked = [tools.rewritten(point.setting.rewrite, queries) for point in points]
    for point in points:
        # a table with gaps ends the run here, not after everything is embedded
        missing = tools.run_filters(point.setting.finder, point.chunking.passages.documents, queries)
        if missing:
            raise PendingCallsError(*missing.values())
    known = _stored(points, queries, tools)
    efforts = [Effort()] * len(points)
    if len(known) < len(points):
        # The texts of all points are named, whatever is stored, so that the batches of a model, and with them
        # the last digits of its vectors, are always the same.
        texts = [
            list(tools.wants(point.setting.finder, point.chunking.passages, own))
            for point, own in zip(points, asked, strict=True)
        ]
        efforts = embed_for_all(texts, context)
    searched: list[Searched] = []
    with context.reporter.task("search", len(points)) as task:
        for point, effort, stored in zip_longest(points, efforts, known):
            output = stored or tools.retrieve(point.setting, point.chunking.passages, queries)
            one = Searched(point.setting, point.chunking, {}, {"exact_share": output.exact_share})
            _collect(output, RETRIEVE, one, tuple(queries), ())
            _note(one, RETRIEVE, Effort(point.seconds) + effort + output.effort)
            searched.append(one)
            found(as_read(one))
            task.advance()
    for place in range(max((len(point.setting.rerank) for point in points), default=0)):
        _rerank_all(searched, place, queries, context)
        for one in searched:
            found(as_read(one))
    return list(map(as_read, searched))


def _stored(points: Sequence[Chunked], queries: Sequence[Query], tools: RunTools) -> list[RetrievalResult]:
    """What the first points retrieve, up to the first of which not all is stored; computes nothing."""
    reading = replace(tools, context=tools.context.reading())
    found: list[RetrievalResult] = []
    try:
        for point in points:
            found.append(reading.retrieve(point.setting, point.chunking.passages, queries))
    except NotStoredError:
        if not tools.context.may_compute:
            raise
    return found


_Rewritings = tuple[Phrasings, ...]


def _collect(
    output: RetrievalResult, name: str, one: Searched, queries: tuple[Query, ...], before: _Rewritings
) -> _Rewritings:
    """Put the routes of a fusion before what was made of them, each under its full name.

    ``before`` are the rewritings of what it is a route of; returns these and all that were made for it.
    """
    rewritings = made = (*before, *output.rewritings)
    for route in output.routes:
        rewritings += _collect(route, f"{name}.{route.name}", one, queries, made)
    # each once, as routes share them; None if a price is unknown
    costs = [made.cost for made in {id(made): made for made in rewritings}.values()]
    one.rewriting_costs[name] = None if None in costs else math.fsum(cost for cost in costs if cost)
    one.rankings[name] = output.rankings
    if output.exact_share is not None:
        one.exact_shares[name] = output.exact_share
    if output.asked != queries:
        one.asked[name] = output.asked
    if output.filtered:
        # a query may be asked in several texts
        one.filtered[name] = tuple({its.query_id: its for its in output.filtered}.values())
    return rewritings


def _note(one: Searched, step: str, effort: Effort) -> None:
    """Keep, by step, the seconds up to and with it, and the share of its values that had to be computed."""
    one.notes.setdefault("seconds", {})[step] = effort.seconds
    one.notes.setdefault("computed_share", {})[step] = (
        effort.computed / effort.values if effort.values else 0.0
    )
    one.efforts.append(effort)


def _rerank_all(searched: Sequence[Searched], place: int, queries: Sequence[Query], context: Context) -> None:
    """Let the reranker at this place work on every setting that has one."""
    reranked_here = [one for one in searched if place < len(one.setting.rerank)]
    requests = [(one.setting.rerank[place], rerank_lists(one, place, queries)) for one in reranked_here]
    try:
        results = score_for_all(requests, context)
    except NotStoredError as error:
        error.place = place
        raise
    for one, (config, _), (scores, effort) in zip(reranked_here, requests, results, strict=True):
        begun = perf_counter()
        top_n, start = config.top_n, 0
        reranked = []
        for ranking in one.rankings[one.steps[-1]]:
            end = start + len(ranking.chunk_ids[:top_n])
            reranked.append(rerank(ranking, scores[start:end]))
            start = end
        step = reranker_names(one.setting)[place]
        one.rankings[step] = reranked
        _note(one, step, one.efforts[-1] + effort + Effort(perf_counter() - begun))


def rerank_lists(one: Searched, place: int, queries: Sequence[Query]) -> list[tuple[str, ...]]:
    """What the reranker at this place reads after those before it: texts of each query, then its passages."""
    reranker = one.setting.rerank[place]
    top_n = reranker.top_n
    if reranker.reads_context:
        passages = one.chunking.passages
        text = dict(zip(passages.ids, passages.texts, strict=True))
    else:
        text = {chunk.chunk_id: chunk.text for chunk in one.chunking.chunks}
    asked = {query.query_id: query.text for query in queries}
    before = one.rankings[one.steps[place]]
    return [(asked[r.query_id], *(text[chunk_id] for chunk_id in r.chunk_ids[:top_n])) for r in before]


def stored_search(
    point: Chunked, queries: Sequence[Query], context: Context
) -> Searched | NotStoredError | PendingCallsError:
    """The search of a setting by what is stored, or the first thing that it would compute or ask for."""
    try:
        return search_settings([point], queries, replace(context.reading(), reporter=Silent()))[0]
    except (NotStoredError, PendingCallsError) as error:
        return error
