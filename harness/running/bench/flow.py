"""The pipeline, top to bottom: one configuration in, one folder of results out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.models import Estimate
from harness.report import Results
from harness.running.answering.pricing import AnswerPlan, plan_answers
from harness.running.answering.replies import answer_all, refuse_bad_golden
from harness.running.bench.answers import rows_of_answers
from harness.running.bench.live_table import live_table
from harness.running.bench.save import keep_results
from harness.running.checks import warn_of_languages
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpora import Corpora, load_corpora
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import evaluate
from harness.running.evaluate.tables import results_of
from harness.running.evaluate.warnings import warn_of_measures, warn_of_unfilled_budgets
from harness.running.judging.judges import pool_judge_config, warn_of_same_model
from harness.running.judging.label_warnings import warn_of_labels
from harness.running.judging.pool import estimate_pool, flag_passages, make_pool
from harness.running.latency import latency_rows
from harness.running.pending_calls import PendingService, missing_answers, pending_services
from harness.running.readiness import check_ready
from harness.running.search import Chunked, Searched, cut_for_all, search_settings
from harness.steps import PendingCalls, PendingCallsError
from harness.values import Reporter


@dataclass(frozen=True, slots=True)
class DryRun:
    """The cost of judging: ``estimate`` None if it costs nothing; ``settings``: pairs of each.

    ``answers`` is what answering the questions would take, and measuring the answers.

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
    rewriting: tuple[PendingCalls, ...] = ()
    services: tuple[PendingService, ...] = ()
    endpoints: tuple[PendingCalls, ...] = ()
    answers: AnswerPlan = field(default_factory=AnswerPlan)


def run_bench(
    config: BenchConfig, reporter: Reporter, finish: Callable[[Path], None] | None = None
) -> tuple[Results, Path]:
    """Run every setting and write ``results/<name>/``; returns the results and that folder.

    An earlier, different result is kept next to it, named after the time when it began. ``finish`` may add
    files to the folder before it takes its place; if it fails, the results are kept without them and the
    error is raised.
    """
    context = Context.at(config.cache, reporter)
    with context, context.timed("total"), live_table(config, context) as live:
        corpora, found = _search(config, context, live.searched)
        corpus, searched = corpora.united, [corpora.in_united(one) for one in found]
        replied = answer_all(searched, corpus, context)
        evaluated = evaluate(searched, corpus, config, context, live.scored)
        answers = rows_of_answers(replied, searched, evaluated, corpus, config, context)
        latency = config.latency
        latencies = latency_rows(found, corpus.queries.queries, latency, context) if latency.queries else []
    results = results_of(evaluated, searched, corpus, config, context, [*latencies, *answers])
    return results, keep_results(results, config, finish)


def search_all(config: BenchConfig, context: Context) -> tuple[Corpus, list[Searched]]:
    """The corpus, and the rankings of every setting; warns of limits of the scores.

    Where several parsers read the documents, each of their texts is a document of the corpus.
    """
    corpora, found = _search(config, context)
    return corpora.united, [corpora.in_united(one) for one in found]


def _search(
    config: BenchConfig, context: Context, found: Callable[[Corpus, Searched], None] | None = None
) -> tuple[Corpora, list[Searched]]:
    """The rankings of every setting in its own corpus.

    ``found`` is called with each as soon as it is searched, by its ids in the united corpus.
    """
    corpora, points = _cut_all(config, context)

    def tell(one: Searched) -> None:
        if found is not None:
            found(corpora.united, corpora.in_united(one))

    searched = search_settings(points, corpora.united.queries.queries, context, tell)
    warn_of_unfilled_budgets(searched, config, context)
    return corpora, searched


def _cut_all(config: BenchConfig, context: Context) -> tuple[Corpora, list[Chunked]]:
    check_ready(config, context)
    corpora = load_corpora(config, context)
    if any(setting.answer is not None for setting in config.settings):
        refuse_bad_golden(corpora.united)
    warn_of_labels(corpora.united, config, context)
    warn_of_measures(config, context)
    warn_of_same_model(config, context)
    warn_of_languages(corpora.united, config.settings, context)
    with context.reporter.task("chunk", len(config.settings)) as task:
        return corpora, cut_for_all(config.settings, corpora.by_setting, context, task.advance)


def dry_run(config: BenchConfig, reporter: Reporter) -> DryRun:
    """Retrieve for every setting, then say what judging would take; asks and spends nothing.

    Where a language model is still to be asked before that, or a user-defined service to search, it says
    what that would take, and stops there.
    """
    with Context.at(config.cache, reporter, may_ask=False) as context:
        corpora, points = _cut_all(config, context)
        corpus, judge = corpora.united, pool_judge_config(config)
        skipped = tuple(item.doc_id for item in corpus.skipped)
        documents = corpora.doc_ids
        missing = missing_answers(config.settings, documents, corpus.queries.queries, context)
        services = pending_services(points, corpus.queries.queries, context)
        dry = DryRun("labels" if judge is None else judge.title, 0, {}, None, skipped, missing, services)
        if missing or services:
            return dry
        try:
            found = search_settings(points, corpus.queries.queries, context)
        except PendingCallsError as error:
            return replace(dry, endpoints=error.missing)
        searched = [corpora.in_united(one) for one in found]
        warn_of_unfilled_budgets(searched, config, context)
        dry = replace(dry, answers=plan_answers(searched, corpus, config, context))
        if judge is None:
            return dry
        pool = make_pool(searched, corpus, judge.pool)
        if judge.asked:
            flag_passages(pool.pairs, context)
        settings = {name: len(pairs) for name, pairs in pool.by_setting.items()}
        estimate = estimate_pool(pool.pairs, judge, context, corpus)
        return replace(dry, pairs=len(pool.pairs), settings=settings, estimate=estimate)
