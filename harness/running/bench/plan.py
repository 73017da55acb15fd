"""The plan of a benchmark, determined without embedding, scoring or paying for anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.judge import PoolJudgeConfig
from harness.models import Estimate
from harness.running.answering.pricing import AnswerPlan, placeholder_rankings, plan_answers
from harness.running.checks import warn_of_languages
from harness.running.chunks import Chunking
from harness.running.compute import digest, is_computed
from harness.running.config.models import BenchConfig, Setting
from harness.running.context import Context
from harness.running.corpora import load_corpora
from harness.running.corpus import Corpus
from harness.running.evaluate.warnings import warn_of_measures
from harness.running.judging.judges import pool_judge_config, warn_of_same_model
from harness.running.judging.label_warnings import warn_of_labels
from harness.running.judging.pool import estimate_pool, make_pool
from harness.running.passes import vectors_file
from harness.running.pending_calls import (
    PendingService,
    missing_answers,
    pairs_to_buy,
    pending_services,
    texts_to_buy,
)
from harness.running.readiness import check_ready
from harness.running.search import Chunked, cut_for_all, not_stored, search_settings
from harness.steps import RETRIEVERS, PendingCalls
from harness.values import Query, Reporter


@dataclass(frozen=True, slots=True)
class SettingPlan:
    """One setting: its chunks, and the values to compute because no cache or earlier setting has them.

    ``to_embed`` are texts of chunks, ``pairs`` what rerankers score: exact where what is retrieved is in the
    cache, else at most as many.
    """

    setting: str
    chunks: int
    tokens_p50: int
    overlong: int
    to_embed: int
    pairs: int


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
class Plan:
    """The work of a run. ``unlabelled`` are answerable queries with no label at all, where people judge.

    ``rewriting`` is what language models would be asked before anything is retrieved,
    ``services`` those of the user's own that would be asked to search, ``endpoints`` what embedding models
    and rerankers would be asked for, ``answers`` what answering and measuring answers would take.
    """

    corpus: Corpus
    settings: tuple[SettingPlan, ...]
    unlabelled: tuple[str, ...]
    models: tuple[str, ...]
    judge: JudgePlan | None
    rewriting: tuple[PendingCalls, ...] = ()
    services: tuple[PendingService, ...] = ()
    endpoints: tuple[PendingCalls, ...] = ()
    answers: AnswerPlan = field(default_factory=AnswerPlan)


def make_plan(config: BenchConfig, reporter: Reporter) -> Plan:
    """Check everything a run needs (files, models, labels) and count what it would do."""
    with Context.at(config.cache, reporter, may_ask=False) as context:
        return _make_plan(config, context)


def _make_plan(config: BenchConfig, context: Context) -> Plan:
    check_ready(config, context)
    corpora = load_corpora(config, context)
    corpus = corpora.united
    warn_of_labels(corpus, config, context)
    warn_of_measures(config, context)
    warn_of_languages(corpus, config.settings, context)
    labelled = {judgment.query_id for judgment in corpus.labels}
    judge = pool_judge_config(config)
    queries = corpus.queries.queries
    planned: set[tuple[str, bytes]] = set()
    scored: set[tuple[str, bytes]] = set()
    rows = []
    points = cut_for_all(config.settings, corpora.by_setting, context)
    for point in points:
        keys = _to_embed(point, context)
        rows.append(
            SettingPlan(
                setting=point.setting.name,
                chunks=len(point.chunking.chunks),
                tokens_p50=point.chunking.health.get("tokens_p50", 0),
                # a search by words reads every chunk to its end
                overlong=point.chunking.health["overlong"] if point.setting.retrieve.encoders() else 0,
                to_embed=len(keys - planned),
                pairs=_to_score(point, queries, scored, context),
            )
        )
        planned |= keys
    depths = list(map(_pairs_by_reranker, points))
    missing = missing_answers(config.settings, corpora.doc_ids, queries, context)
    return Plan(
        corpus,
        tuple(rows),
        tuple(q.query_id for q in queries if judge is None and q.answerable and q.query_id not in labelled),
        tuple(context.models()),
        None if judge is None else _plan_judge(judge, config, corpus, points, context, bool(missing)),
        missing,
        pending_services(points, queries, context),
        (*texts_to_buy(points, queries, context), *pairs_to_buy(points, depths, queries, context)),
        _plan_answers(points, corpus, config, context, bool(missing)),
    )


def _plan_answers(
    points: Sequence[Chunked], corpus: Corpus, config: BenchConfig, context: Context, unanswered: bool
) -> AnswerPlan:
    """The cost of answers: by the cached rankings, else by chunks in their place.

    ``unanswered``: rankings depend on answers of a language model that are still to be asked for.
    """
    own = [point for point in points if point.setting.answer is not None]
    queries = corpus.queries.queries
    if not own:
        return AnswerPlan()
    if not unanswered and not any(not_stored(one, queries, context) for one in own):
        return plan_answers(search_settings(own, queries, context), corpus, config, context)
    return plan_answers(placeholder_rankings(own, queries), corpus, config, context, about=True)


def _to_embed(point: Chunked, context: Context) -> set[tuple[str, bytes]]:
    """The texts of chunks that are not embedded yet, as (encoder, digest)."""
    missing: set[tuple[str, bytes]] = set()
    for retriever in point.setting.retrieve.every():
        for config, texts in RETRIEVERS.make(retriever).to_embed(point.chunking.passages, ()):
            model = context.encoder(config).fingerprint
            keys = {digest(text) for text in texts}
            done = is_computed("vectors", keys, vectors_file(config, context), context)
            missing |= {(model, key) for key in keys - done}
    return missing


def _to_score(
    point: Chunked, queries: Sequence[Query], planned: set[tuple[str, bytes]], context: Context
) -> int:
    """How many pairs are to be scored; those that are known are added to ``planned``."""
    lack = not_stored(point, queries, context) if point.setting.rerank else None
    if lack is None:
        return 0
    most, new = _pairs_by_reranker(point), set()
    if lack.what == "pairs":
        # those of the first reranker that lacks any are known; what the next ones read depends on them
        model = context.reranker(point.setting.rerank[lack.place]).fingerprint
        new = {(model, key) for key in lack.keys} - planned
        planned |= new
        most = most[lack.place + 1 :]
    return len(new) + len(queries) * sum(most)


def _pairs_by_reranker(point: Chunked) -> list[int]:
    """How many chunks each reranker scores for a query; approximate if a length of text is retrieved."""
    most = min(len(point.chunking.chunks), _estimated_ranks(point.setting, point.chunking))
    return [most if one.top_n is None else min(most, one.top_n) for one in point.setting.rerank]


def _estimated_ranks(setting: Setting, chunking: Chunking) -> int:
    """How many ranks a setting retrieves; where it is a length of text, the mean length of chunks decides."""
    if setting.retrieve.top_chars is None:
        return setting.retrieve.top_k
    length = sum(len(chunk.text) for chunk in chunking.chunks) / max(1, len(chunking.chunks))
    return math.ceil(setting.retrieve.top_chars / max(1.0, length))


def _plan_judge(
    judge: PoolJudgeConfig,
    config: BenchConfig,
    corpus: Corpus,
    points: Sequence[Chunked],
    context: Context,
    unanswered: bool,
) -> JudgePlan:
    """Count the pairs to judge: exactly where the rankings are cached, since nothing may be computed.

    ``unanswered``: rankings depend on answers of a language model that are still to be asked for.
    """
    warn_of_same_model(config, context)
    queries = corpus.queries.queries
    ranked = sum(
        len(queries) * min(judge.pool.depth, len(one.chunking.chunks)) * (1 + len(one.setting.rerank))
        for one in points
    )
    pairs = None
    if not unanswered and not any(not_stored(one, queries, context) for one in points):
        pairs = make_pool(search_settings(points, queries, context), corpus, judge.pool).pairs
    return JudgePlan(
        judge.title,
        ranked,
        None if pairs is None else len(pairs),
        None if pairs is None else estimate_pool(pairs, judge, context, corpus),
    )
