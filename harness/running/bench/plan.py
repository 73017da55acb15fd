"""The plan of a benchmark: what a run would embed, score and pay for. It asks and spends nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from harness.judge import Pool, PoolJudgeConfig
from harness.models import Estimate, ServedEstimate, ServedPairs, estimate_tokens
from harness.running.answering.replies import Replies, answer_group, golden_of, groups_of, read_by
from harness.running.answering.scores import MeasuringTools, cases_of
from harness.running.bench.flow import prepare
from harness.running.bench.spread import Looked, Work, depths, pairs_left, pairs_to_score, texts_left
from harness.running.compute import ServedPass
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpora import Corpora
from harness.running.corpus import Corpus
from harness.running.evaluate.warnings import warn_of_unfilled_budgets
from harness.running.judging.judged import pool_judge_config
from harness.running.judging.pool import estimate_pool, flag_passages, make_pool
from harness.running.precision import what_fast_saves
from harness.running.search import Chunked, Searched, as_read, search_settings, stored_search
from harness.running.tools import RETRIEVE, RunTools, pending_calls
from harness.steps import ANSWERERS, AnswerReply, PendingCalls, PendingCallsError
from harness.values import Query, Ranking, Reporter


@dataclass(frozen=True, slots=True)
class SettingPlan:
    """One setting: its chunks, and the values to compute because no cache or earlier setting has them.

    ``to_embed`` are texts of chunks, ``pairs`` what rerankers score: exact where what is retrieved is in the
    cache, else at most as many. ``to_judge`` are the pairs that it puts into the pool, None if not known.
    """

    setting: str
    chunks: int
    tokens_p50: int
    overlong: int
    to_embed: int
    pairs: int
    to_judge: int | None = None


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """The cost of judging. ``estimate`` None: at no cost, or not known before the settings are searched.

    ``ranked`` are the chunks, copies included, that all settings would put into the pool; ``pairs`` its size,
    None before they are searched.
    """

    judge: str
    ranked: int
    pairs: int | None
    estimate: Estimate | None


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """The calls to language models: to answer, and then by measures of answers.

    ``about``: rankings or answers are not known yet, so texts of about the same length take their place.
    Measures that ask twice, such as for statements and then whether each is supported, are known up to what
    they ask first, so ``measuring`` is a lower bound.
    """

    answering: tuple[PendingCalls, ...] = ()
    measuring: tuple[PendingCalls, ...] = ()
    about: bool = False

    @property
    def missing(self) -> tuple[PendingCalls, ...]:
        """Both."""
        return (*self.answering, *self.measuring)


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of a run. ``unlabelled`` are answerable queries with no label at all, where people judge.

    ``rewriting`` is what language models would be asked before anything is retrieved, ``services`` by address
    for how many settings those of the user's own would be asked, ``endpoints`` what embedding models and
    rerankers would be asked for, ``answers`` what answering and measuring answers would take, ``faster`` says
    what ``precision: fast`` would save.
    """

    corpus: Corpus
    settings: tuple[SettingPlan, ...]
    unlabelled: tuple[str, ...]
    models: tuple[str, ...]
    judge: JudgePlan | None
    rewriting: tuple[PendingCalls, ...] = ()
    services: Mapping[str, int] = field(default_factory=dict)
    endpoints: tuple[PendingCalls, ...] = ()
    answers: AnswerPlan = field(default_factory=AnswerPlan)
    faster: tuple[str, ...] = ()


def make_plan(config: BenchConfig, reporter: Reporter, *, search: bool = False) -> Plan:
    """Check everything that a run needs (files, models, labels) and count what it would do.

    Nothing is computed, so that what depends on rankings is counted only where these are stored. ``search``:
    as in a dry run, what models on this machine do is done, unless a language model or a user-defined service
    would have to be asked before. With a cluster, it is noted first how the work is spread.
    """
    with Context.at(
        config.cache, reporter, may_ask=False, precision=config.precision, engine=config.engine
    ) as context:
        corpora, points = prepare(config, context)
        queries = corpora.united.queries.queries
        tools = RunTools.of(queries, context)
        calls = dict(context.prepared.unwritten)
        for point in points:
            calls |= tools.run_filters(point.setting.finder, corpora.united.doc_ids, queries)
        for point in points:
            calls |= tools.run_rewriters(point.setting.rewrite, point.setting.retrieve, queries)
        looked: list[Looked] = [stored_search(point, queries, context) for point in points]
        work = Work(points, looked, queries, config, context)
        services = _services(work)
        for line in work.spread():
            reporter.note(line)
        endpoints: tuple[PendingCalls, ...] = ()
        if not search:
            found = [one for its in looked if isinstance(its, PendingCallsError) for one in its.missing]
            endpoints = (
                # where it is retrieved; what language models are asked before is in ``calls``
                *(one for one in found if one.purpose == "reranking"),
                *_texts_to_buy(work),
                *_pairs_to_buy(work),
            )
        elif not calls and not services:
            try:
                work = replace(work, looked=search_settings(points, queries, context))
            except PendingCallsError as error:
                endpoints = error.missing
        plan = _of_what_is_known(work, corpora, search)
        waiting = sum(one.to_embed + one.pairs for one in plan.settings)
        faster = what_fast_saves(waiting, context) if search else ()
        return replace(
            plan, rewriting=tuple(calls.values()), services=services, endpoints=endpoints, faster=faster
        )


def _of_what_is_known(work: Work, corpora: Corpora, search: bool) -> Plan:
    """The plan, but for what is asked for before rankings are known."""
    corpus, judge = corpora.united, pool_judge_config(work.config)
    queries = corpus.queries.queries
    labelled = {judgment.query_id for judgment in corpus.labels}
    searched = [corpora.in_united(one) for one in work.looked if isinstance(one, Searched)]
    known = len(searched) == len(work.points)
    if search and known:
        warn_of_unfilled_budgets(searched, work.config, work.context)
    pool = make_pool(searched, corpus, judge.pool) if judge is not None and known else None
    if pool is not None and judge is not None and judge.asked and search:
        flag_passages(pool.pairs, work.context)
    return Plan(
        corpus,
        tuple(_settings(work, {} if pool is None else pool.by_setting)),
        tuple(q.query_id for q in queries if judge is None and q.answerable and q.query_id not in labelled),
        tuple(work.context.models.describe()),
        None if judge is None else _of_judge(judge, pool, work, corpus),
        answers=_answers(work, searched, corpus),
    )


def _settings(work: Work, judged: Mapping[str, Sequence[int]]) -> Iterator[SettingPlan]:
    """What each setting takes; what several need is counted for the first of them."""
    planned: set[tuple[str, bytes]] = set()
    for point, found in work.each():
        name, health = point.setting.name, point.chunking.health
        texts = texts_left([point], (), work.context)
        missing = {(model.fingerprint, key) for _, model, left, _ in texts for key in left}
        scored = pairs_to_score(point, found, work.context)
        pairs = sum(pairs_left(point, found, len(work.queries))) - len(scored & planned)
        yield SettingPlan(
            name,
            chunks=len(point.chunking.chunks),
            tokens_p50=health.get("tokens_p50", 0),
            # a search by words reads every chunk to its end
            overlong=health["overlong"] if point.setting.retrieve.encoders() else 0,
            to_embed=len(missing - planned),
            pairs=pairs,
            to_judge=len(judged[name]) if name in judged else None,
        )
        planned |= missing | scored


def _texts_to_buy(work: Work) -> Iterator[PendingCalls]:
    """The vectors that endpoints would be asked for, by model."""
    for _, model, left, known in texts_left(work.points, work.queries, work.context):
        if isinstance(model, ServedPass):
            yield model.pending(list(left.values()), known)


def _pairs_to_buy(work: Work) -> Iterator[PendingCalls]:
    """About the pairs that endpoints would be asked to score, by model; at most, as settings share pairs.

    Chunks are taken to have the average length.
    """
    asked: dict[str, tuple[ServedPairs, list[tuple[int, int, int]]]] = {}
    queries = work.queries
    for point, found in work.each():
        texts = point.chunking.passages.texts
        for reranker, depth in zip(point.setting.rerank, depths(point), strict=True):
            scorer = work.context.models.reranker(reranker)
            if isinstance(found, Searched) or scorer.served is None:
                continue
            chunk = sum(map(estimate_tokens, texts)) / max(1, len(texts))
            tokens = round(sum(depth * (chunk + estimate_tokens(query.text)) for query in queries))
            calls = len(queries) * math.ceil(depth / scorer.served.endpoint.documents_per_request)
            parts = asked.setdefault(scorer.fingerprint, (scorer.served, []))[1]
            parts.append((depth * len(queries), calls, tokens))
    for model, (served, parts) in asked.items():
        e = served.endpoint
        count, calls, tokens = map(sum, zip(*parts, strict=True))
        estimate = ServedEstimate(count, 0, calls, tokens, e.cost(tokens, calls), "pairs", about=True)
        yield PendingCalls(e.model, model, estimate, e.problem(), "endpoint")


def _services(work: Work) -> Mapping[str, int]:
    """The services that a search would call, because not all of their answers are stored."""
    return Counter(
        service.url
        for point, found in work.each()
        if not isinstance(found, Searched)
        for service in point.setting.services
    )


def _of_judge(judge: PoolJudgeConfig, pool: Pool | None, work: Work, corpus: Corpus) -> JudgePlan:
    """The pairs to judge: exactly where the rankings are known."""
    depth = judge.pool.depth
    ranked = sum(min(depth, len(one.chunking.chunks)) * (1 + len(one.setting.rerank)) for one in work.points)
    return JudgePlan(
        judge.title,
        len(corpus.queries.queries) * ranked,
        None if pool is None else len(pool.pairs),
        None if pool is None else estimate_pool(pool.pairs, judge, work.context, corpus),
    )


def _answers(work: Work, searched: Sequence[Searched], corpus: Corpus) -> AnswerPlan:
    """The cost of answers: by the rankings where they are known, else by chunks in their place."""
    queries = corpus.queries.queries
    answering = [point for point in work.points if point.setting.answer is not None]
    known = [one for one in searched if one.setting.answer is not None]
    about = len(known) < len(answering)
    missing: list[PendingCalls] = []
    replied: list[Replies] = []
    for stage, ones in groups_of(_placeholder_rankings(answering, queries) if about else known):
        answered: list[Replies] = []
        try:
            if ANSWERERS.make(stage).asks:
                answered = answer_group(stage, ones, queries, RunTools(work.context))
        except PendingCallsError as error:
            missing += error.missing
            about = True
        replied += answered or [_placeholder_answers(one, corpus) for one in ones]
    cases = [case for one in replied for case in cases_of(one, corpus, {})]
    tools = MeasuringTools(work.config.answer_scoring, work.context)
    # the others cost nothing, and a plan computes nothing
    asking = [one for one in work.config.answer_measures if cases and one.may_cost]
    measuring = pending_calls(partial(one.run, cases, tools) for one in asking)
    return AnswerPlan(tuple(missing), tuple(measuring.values()), about)


def _placeholder_rankings(points: Sequence[Chunked], queries: Sequence[Query]) -> list[Searched]:
    """Settings as if they had found chunks spread evenly over the corpus: about the length to be read."""
    found = []
    for point in points:
        ids = [chunk.chunk_id for chunk in point.chunking.chunks]
        depth = min(len(ids), 50)
        some = [ids[i] for i in np.linspace(0, len(ids) - 1, depth).astype(int).tolist()] if ids else []
        scores = tuple(-float(i) for i in range(len(some)))
        rankings = [Ranking(query.query_id, tuple(some), scores) for query in queries]
        found.append(as_read(Searched(point.setting, point.chunking, {RETRIEVE: rankings}, {})))
    return found


def _placeholder_answers(one: Searched, corpus: Corpus) -> Replies:
    """A setting as if it answered as the query file does; with the question where that has no answer."""
    queries = corpus.queries.queries
    read = read_by(one, queries)
    replies = {q.query_id: AnswerReply(next(iter(golden_of(corpus, q.query_id)), q.text)) for q in queries}
    return Replies(one.setting.name, "", read, replies)
