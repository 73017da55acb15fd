"""The plan of a benchmark: what a run would embed, score and pay for. It asks and spends nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from harness.judge import Pair, Pool, PoolJudgeConfig
from harness.models import Estimate
from harness.running.answering.answer_scores import calls_of, cases_of
from harness.running.answering.replies import plan_answers
from harness.running.bench.preparing import prepare
from harness.running.bench.spread import Work
from harness.running.config.models import BenchConfig
from harness.running.corpora import Corpora
from harness.running.corpus import Corpus
from harness.running.evaluate.warnings import warn_of_unfilled_budgets
from harness.running.judging.judged import pool_judge_config
from harness.running.judging.pool import estimate_pool, flag_passages, make_pool, scores_to_buy
from harness.running.pipeline import RETRIEVE, embeds, has_answers, ranking_count
from harness.running.planning import Planned, Planning, plan_settings
from harness.running.precision import what_fast_saves
from harness.running.search import Chunked, Searched, as_read
from harness.running.session import Session
from harness.steps import PendingCalls
from harness.values import Chunk, Query, Ranking, Reporter, by_key


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
    """The cost of judging. ``estimate`` None: at no cost, or of scores that endpoints would be asked for.

    ``ranked`` are the chunks, copies included, that all settings would put into the pool; ``pairs`` its size,
    None before they are searched: the estimate is then that of the most there may be. ``endpoints`` would be
    asked for scores.
    """

    judge: str
    ranked: int
    pairs: int | None
    estimate: Estimate | None
    endpoints: tuple[PendingCalls, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """The calls to language models: to answer, and then by measures of answers.

    ``about``: rankings or answers are not known yet, so the longest texts take their place, and the estimates
    are bounds; so are those of measures that ask twice, such as for statements and then whether each is
    supported.
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
    what ``precision: fast`` would save. ``counted``: a dry run has searched nothing, as no price depends on
    the results.
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
    counted: bool = False


def make_plan(config: BenchConfig, reporter: Reporter, *, search: bool = False) -> Plan:
    """Check everything that a run needs (files, models, labels) and count what it would do.

    Nothing is computed, so what depends on rankings is counted only where these are stored. ``search``: as in
    a dry run, models on this machine search where a price depends on the results, unless a language model or
    a user-defined service would have to be asked first. With a cluster, it is noted first
    how the work is spread.
    """
    with Session.at(
        config.cache, reporter, may_ask=False, precision=config.precision, engine=config.engine
    ) as session:
        cutting = Planning(session, computes=search)
        corpora, points = prepare(config, session, cutting)
        queries = corpora.united.queries.queries
        planned = plan_settings(points, queries, Planning(session))
        calls = cutting.calls
        work = Work(points, planned, queries, config)
        for line in work.spread(session.engine):
            reporter.note(line)
        calls_of_search = [call for call in planned.calls if call.purpose != "reranking"]
        services = {url: len(settings) for url, settings in cutting.services.items()} | planned.services
        bought = [call for call in cutting.endpoints if call.estimate.calls]
        waits = bool(calls or bought or calls_of_search or services)
        counted = search and not waits and not _priced_by_rankings(points, planned, config)
        if search and not waits and not counted:
            planned = plan_settings(points, queries, Planning(session, computes=True))
            work = replace(work, planned=planned)
        cutting.say()
        planned.say()
        endpoints = (
            *bought,
            # what language models are asked before anything is retrieved is in ``rewriting``
            *(call for call in planned.calls if call.purpose == "reranking"),
            *work.planned.endpoints,
        )
        plan = _of_what_is_known(work, corpora, search, session)
        waiting = sum(setting.to_embed + setting.pairs for setting in plan.settings)
        faster = what_fast_saves(waiting, session.models, session.artifacts, session.notes) if search else ()
        # a table that narrows the search is looked into first
        rewriting = (*calls, *sorted(calls_of_search, key=lambda call: call.purpose != "filter"))
        plan = replace(plan, rewriting=rewriting, services=services, endpoints=endpoints, faster=faster)
        return replace(plan, counted=counted)


def _priced_by_rankings(points: Sequence[Chunked], planned: Planned, config: BenchConfig) -> bool:
    """Whether judging, answering or requests to a model elsewhere depend on the results of the search."""
    return (
        pool_judge_config(config) is not None
        or bool(planned.calls or planned.endpoints)
        or any(has_answers(point.setting) for point in points)
    )


def _of_what_is_known(work: Work, corpora: Corpora, search: bool, session: Session) -> Plan:
    """The plan, but for what is asked for before rankings are known."""
    corpus, judge = corpora.united, pool_judge_config(work.config)
    queries = corpus.queries.queries
    labelled = {judgment.query_id for judgment in corpus.labels}
    searched = [corpora.in_united(result) for result in work.planned.searched if result is not None]
    complete = len(searched) == len(work.points)
    if search and complete:
        warn_of_unfilled_budgets(searched, work.config, session.notes)
    pool = make_pool(searched, corpus, judge.pool) if judge is not None and complete else None
    if pool is not None and judge is not None and judge.asked and search:
        flag_passages(pool.pairs, session.notes)
    begin = partial(Planning, session)
    return Plan(
        corpus,
        tuple(_settings(work, {} if pool is None else pool.by_setting)),
        tuple(q.query_id for q in queries if judge is None and q.answerable and q.query_id not in labelled),
        tuple(session.models.describe()),
        None if judge is None else _of_judge(judge, pool, work, corpus, search, session.cache.ledger, begin),
        answers=_answers(work, searched, corpus, begin),
    )


def _settings(work: Work, judged: Mapping[str, Sequence[int]]) -> Iterator[SettingPlan]:
    """What each setting takes; what several need is counted for the first of them."""
    planned: set[tuple[str, bytes]] = set()
    for at, point in enumerate(work.points):
        name, health = point.setting.name, point.chunking.health
        needs = [need for need in work.planned.left if need.setting == at]
        texts = {key for need in needs if need.whose == "passages" for key in need.keys}
        pairs = {key for need in needs if not need.whose for key in need.keys}
        yield SettingPlan(
            name,
            chunks=len(point.chunking.chunks),
            tokens_p50=health.get("tokens_p50", 0),
            # a search by words reads every chunk to its end
            overlong=health["overlong"] if embeds(point.setting) else 0,
            to_embed=len(texts - planned),
            pairs=len(pairs - planned) + sum(need.count for need in needs if need.guessed and not need.whose),
            to_judge=len(judged[name]) if name in judged else None,
        )
        planned |= texts | pairs


def _of_judge(
    judge: PoolJudgeConfig,
    pool: Pool | None,
    work: Work,
    corpus: Corpus,
    search: bool,
    ledger: Path,
    begin: Callable[..., Planning],
) -> JudgePlan:
    """The pairs to judge: exactly where the rankings are known.

    ``begin`` makes a plan that has noted nothing yet.
    """
    depth, queries = judge.pool.depth, corpus.queries.queries
    ranked = sum(
        min(depth, len(point.chunking.chunks)) * ranking_count(point.setting) for point in work.points
    )
    pairs = most_pairs(work.points, queries, depth) if pool is None else pool.pairs
    return JudgePlan(
        judge.title,
        len(queries) * ranked,
        None if pool is None else len(pool.pairs),
        estimate_pool(pairs, judge, ledger, begin(), corpus),
        # who may not compute would have local scores missing too
        scores_to_buy(pool.pairs, judge, ledger, begin(), corpus) if pool is not None and search else (),
    )


def most_pairs(points: Sequence[Chunked], queries: Sequence[Query], depth: int) -> list[Pair]:
    """The pairs of a pool of rankings that are not known, as many as there may be and of the longest chunks.

    What settings with the same chunks find may be the same, but need not be.
    """
    chunks: list[Chunk] = []
    for same in by_key((point.chunking.key, point) for point in points).values():
        rankings = sum(ranking_count(point.setting) for point in same)
        # they may be read in different ways
        longest = max(
            (sorted(point.chunking.texts_read, key=lambda chunk: -len(chunk.text)) for point in same),
            key=lambda passages: sum(len(chunk.text) for chunk in passages[:depth]),
        )
        chunks += longest[: depth * rankings]
    every = [(query, chunk) for query in queries for chunk in chunks]
    return [Pair(query, chunk, number) for number, (query, chunk) in enumerate(every)]


def _answers(
    work: Work, searched: Sequence[Searched], corpus: Corpus, begin: Callable[..., Planning]
) -> AnswerPlan:
    """The cost of answers: by the rankings where they are known, else by the longest chunks.

    ``begin`` makes a plan that has noted nothing yet.
    """
    queries = corpus.queries.queries
    answering = [point for point in work.points if has_answers(point.setting)]
    results = [result for result in searched if has_answers(result.setting)]
    about = len(results) < len(answering)
    rankings = placeholder_rankings(answering, queries) if about else results
    # on rankings that are not known those of settings may be the same, and are not so in a run
    replied, missing = plan_answers(rankings, corpus, begin(apart=about))
    missing = [replace(calls, at_most=calls.at_most or about) for calls in missing]
    about = about or bool(missing)
    cases = [case for reply in replied for case in cases_of(reply, corpus, {})]
    # the others cost nothing, and a plan computes nothing
    bought = frozenset() if work.config.answer_embedding.endpoint is None else frozenset({"vectors"})
    asking = [
        answer_measure
        for answer_measure in work.config.answer_measures
        if cases and (answer_measure.may_cost or answer_measure.needs & bought)
    ]
    measuring = calls_of(cases, asking, work.config.answer_scoring, begin())
    return AnswerPlan(
        tuple(missing), tuple(replace(calls, at_most=calls.at_most or about) for calls in measuring), about
    )


def placeholder_rankings(
    points: Sequence[Chunked], queries: Sequence[Query], shift: int = 0
) -> list[Searched]:
    """Settings as if they had retrieved the longest chunks; ``shift`` skips that many of these."""
    results = []
    for point in points:
        pairs = zip(point.chunking.chunks, point.chunking.texts_read, strict=True)
        longest = [chunk for chunk, _ in sorted(pairs, key=lambda pair: -len(pair[1].text))]
        places = range(shift, shift + min(50, len(longest)))
        some = [longest[place % len(longest)].chunk_id for place in places]
        scores = tuple(-float(i) for i in range(len(some)))
        rankings = [Ranking(query.query_id, tuple(some), scores) for query in queries]
        results.append(as_read(Searched(point.setting, point.chunking, {RETRIEVE: rankings}, {})))
    return results
