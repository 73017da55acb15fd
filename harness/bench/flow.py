"""The pipeline, top to bottom: one configuration in, one folder of results out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from harness.bench.headlines import headlines
from harness.bench.keeping import keep_results
from harness.config import BenchConfig
from harness.evaluate.budget import warn_of_unfilled_budgets
from harness.evaluate.evaluating import evaluate, results_of
from harness.evaluate.scoring import warn_of_pool, warn_of_shallow_rankings
from harness.judging.judges import pool_judge_config, warn_of_same_model
from harness.judging.label_warnings import warn_of_labels
from harness.judging.pool import estimate_pool, flag_passages, make_pool
from harness.llm.money import Estimate
from harness.progress import Reporter
from harness.report import Results
from harness.running.chunks import chunk_corpus
from harness.running.context import Context
from harness.running.corpus import Corpus, load_corpus
from harness.running.language_warnings import warn_of_languages
from harness.running.latency import latency_rows
from harness.running.rewriting import missing_answers
from harness.running.search import Point, Searched, search_points
from harness.running.services import Unasked, unasked, warn_of_services
from harness.search import NotAsked, NotAskedError


@dataclass(frozen=True, slots=True)
class DryRun:
    """What judging would take: ``estimate`` None where it costs nothing; ``settings``: pairs of each.

    ``skipped`` are the documents that cannot be used. ``rewriting`` is what language models would be asked
    before anything is retrieved, ``services`` those of the user's own that search, ``endpoints`` what
    embedding models and rerankers would be asked for; where there is any, nothing is known of what comes
    after it.
    """

    judge: str
    pairs: int
    settings: dict[str, int]
    estimate: Estimate | None
    skipped: tuple[str, ...]
    rewriting: tuple[NotAsked, ...] = ()
    services: tuple[Unasked, ...] = ()
    endpoints: tuple[NotAsked, ...] = ()


def run_bench(
    config: BenchConfig, reporter: Reporter, finish: Callable[[Path], None] | None = None
) -> tuple[Results, Path]:
    """Run every setting and write ``results/<name>/``; returns the results and that folder.

    A result that stood there and is another one stays beside it, named after the time when it began.
    ``finish`` may add files to the folder before it takes its place; should it fail, the results stand
    without them and the error follows.
    """
    context = Context.at(config.cache, reporter)
    with context, context.timed("total"), headlines(config, context) as live:
        corpus, searched = search_all(config, context, live.searched)
        evaluated = evaluate(searched, corpus, config, context, live.scored)
        latencies = latency_rows(searched, corpus.queries.queries, config.latency, context)
    results = results_of(evaluated, searched, corpus, config, context, latencies)
    return results, keep_results(results, config, finish)


def search_all(
    config: BenchConfig, context: Context, found: Callable[[Corpus, Searched], None] | None = None
) -> tuple[Corpus, list[Searched]]:
    """The corpus, and the rankings of every setting; warns of what the scores will not show.

    ``found`` is called with every setting as soon as it is searched.
    """
    corpus, points = _cut_all(config, context)
    tell = None if found is None else partial(found, corpus)
    searched = search_points(points, corpus.queries.queries, context, tell)
    warn_of_unfilled_budgets(searched, config, context.reporter)
    return corpus, searched


def _cut_all(config: BenchConfig, context: Context) -> tuple[Corpus, list[Point]]:
    corpus = load_corpus(config, context)
    warn_of_labels(corpus, config, context.reporter)
    warn_of_shallow_rankings(config, context.reporter)
    warn_of_pool(config, context.reporter)
    warn_of_same_model(config, context)
    warn_of_services(config.settings, context.reporter)
    warn_of_languages(corpus, config.settings, context.reporter)
    points = []
    with context.reporter.task("chunk", len(config.settings)) as task:
        for setting in config.settings:
            begun = perf_counter()
            chunking = chunk_corpus(corpus, setting, context)
            points.append(Point(setting, chunking, perf_counter() - begun))
            task.advance()
    return corpus, points


def dry_run(config: BenchConfig, reporter: Reporter) -> DryRun:
    """Retrieve for every setting, then say what judging would take; asks and spends nothing.

    Where a language model is still to be asked before that, or a service of the user's own to search, it says
    what that would take, and stops there.
    """
    with Context.at(config.cache, reporter, may_ask=False) as context:
        corpus, points = _cut_all(config, context)
        judge = pool_judge_config(config)
        skipped = tuple(item.doc_id for item in corpus.skipped)
        documents = [document.doc_id for document in corpus.documents]
        missing = missing_answers(config.settings, documents, corpus.queries.queries, context)
        services = unasked(points, corpus.queries.queries, context)
        if missing or services:
            name = "labels" if judge is None else judge.title
            return DryRun(name, 0, {}, None, skipped, missing, services)
        try:
            searched = search_points(points, corpus.queries.queries, context)
        except NotAskedError as error:
            name = "labels" if judge is None else judge.title
            return DryRun(name, 0, {}, None, skipped, endpoints=error.missing)
        warn_of_unfilled_budgets(searched, config, context.reporter)
        if judge is None:
            return DryRun("labels", 0, {}, None, skipped)
        pool = make_pool(searched, corpus, judge.pool)
        if judge.asked:
            flag_passages(pool.pairs, context)
        settings = {name: len(pairs) for name, pairs in pool.by_setting.items()}
        estimate = estimate_pool(pool.pairs, judge, context, corpus)
        return DryRun(judge.title, len(pool.pairs), settings, estimate, skipped)
