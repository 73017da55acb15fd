"""The pipeline, top to bottom: one configuration in, one folder of results out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import report, store
from harness.report import Results, SummaryRow, is_route, write_results
from harness.running import search
from harness.running.config.models import BenchConfig
from harness.running.config.naming import file_names
from harness.running.context import Context
from harness.running.corpora import Corpora, load_corpora
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import Scorers, evaluate, means_by_measure, run_headline
from harness.running.evaluate.tables import results_of
from harness.running.evaluate.warnings import warn_of_labels, warn_of_measures, warn_of_unfilled_budgets
from harness.running.judging.judged import (
    GradedQueries,
    judged_by_people,
    pool_judge_config,
    warn_of_same_model,
)
from harness.running.readiness import check_ready, results_folder, warn_of_languages
from harness.running.tools import RETRIEVE
from harness.store import replace_folder
from harness.values import Board, HarnessError, Reporter, number

if TYPE_CHECKING:
    from harness.running.answering.replies import Replies

Finish = Callable[[Path, Results], None]
"""Adds files to an unfinished folder of results."""


def run_bench(config: BenchConfig, reporter: Reporter, finish: Finish | None = None) -> tuple[Results, Path]:
    """Run every setting and write ``results/<name>/``; returns the results and that folder.

    An earlier, different result is kept next to it, named after the time when it began. ``finish`` may add
    files to the folder before it takes its place; if it fails, the results are kept without them and the
    error is raised.
    """
    context = Context.at(config.cache, reporter, precision=config.precision, engine=config.engine)
    with context, context.timed("total"), shared_cache(config, context), live_table(config, context) as live:
        corpus, found, searched = _search(config, context, live.searched)
        replied: list[Replies] = []
        if any(one.setting.answer is not None for one in searched):
            from harness.running.answering.replies import answer_all

            replied = answer_all(searched, corpus, context)
        evaluated = evaluate(searched, corpus, config, context, live.scored)
        answers: list[Any] = []
        if replied:
            from harness.running.bench.answers import rows_of_answers

            answers = rows_of_answers(replied, searched, evaluated, corpus, config, context)
        latencies: list[Any] = []
        if config.latency.queries:
            from harness.running.latency import latency_rows

            latencies = latency_rows(found, corpus.queries.queries, config.latency, context)
    results = results_of(evaluated, searched, corpus, config, context, [*latencies, *answers])
    return results, keep_results(results, config, finish)


@contextmanager
def shared_cache(config: BenchConfig, context: Context) -> Iterator[None]:
    """Take what other machines have computed before the block, add what is new after it, failed or not."""
    if config.shared_cache is None:
        yield
        return
    shared = store.SharedCache(config.shared_cache, context.cache, context.faults)
    context.reporter.note(f"Copying what is new in {config.shared_cache}.")
    shared.pull()
    try:
        yield
    finally:
        try:
            shared.push()
        except HarnessError as error:
            # what others do not get is no reason to lose the results, or to hide why the run failed
            context.reporter.warn(str(error))


def search_all(config: BenchConfig, context: Context) -> tuple[Corpus, list[search.Searched]]:
    """The corpus, and the rankings of every setting; warns of limits of the scores.

    Where several parsers read the documents, each of their texts is a document of the corpus.
    """
    corpus, _, searched = _search(config, context)
    return corpus, searched


def _search(
    config: BenchConfig, context: Context, found: Callable[[Corpus, search.Searched], None] = lambda *_: None
) -> tuple[Corpus, list[search.Searched], list[search.Searched]]:
    """The united corpus, and the rankings of every setting by the ids of its own corpus and by those of it.

    ``found`` is called with each of the latter as soon as it is searched.
    """
    corpora, points = prepare(config, context)
    searched = search.search_settings(
        points,
        corpora.united.queries.queries,
        context,
        lambda one: found(corpora.united, corpora.in_united(one)),
    )
    warn_of_unfilled_budgets(searched, config, context)
    if config.precision == "fast":
        from harness.running.precision import compare_with_exact

        with context.timed("precision"):
            compare_with_exact(searched, corpora.united.queries.queries, context)
    return corpora.united, searched, [corpora.in_united(one) for one in searched]


def prepare(config: BenchConfig, context: Context) -> tuple[Corpora, list[search.Chunked]]:
    """Find all models, read and cut the documents, and warn of what is doubtful about them."""
    check_ready(config, context)
    _tell_ways(context)
    corpora = load_corpora(config, context)
    if any(setting.answer is not None for setting in config.settings):
        from harness.running.answering.replies import refuse_bad_golden

        refuse_bad_golden(corpora.united)
    warn_of_labels(corpora.united, config, context)
    warn_of_same_model(config, context)
    warn_of_languages(corpora.united, config.settings, context)
    with context.reporter.task("chunk", len(config.settings)) as task:
        points = search.cut_for_all(config.settings, corpora.by_setting, context, task.advance)
    warn_of_measures(config, {one.setting.name: len(one.chunking.chunks) for one in points}, context)
    return corpora, points


def _tell_ways(context: Context) -> None:
    """Say what a probe found to be the fastest."""
    for name, probe in context.models.probed.items():
        context.reporter.note(
            f"precision: fast: {name} computes in {probe.way}"
            + (f", {probe.gain:.1f} times as fast as float32 by torch." if probe.gain > 1 else ".")
        )


@dataclass(frozen=True, slots=True)
class LiveTable:
    """Fills the board of a run. With human labels, scores appear immediately; else after judging."""

    board: Board
    config: BenchConfig
    context: Context

    def searched(self, corpus: Corpus, one: search.Searched) -> None:
        """A setting has its rankings."""
        if not self.board.live:
            return
        cells = {
            "chunks": f"{len(one.chunking.chunks):,}",
            "seconds": f"{one.notes['seconds'][one.steps[-1]]:.1f}",
        }
        if pool_judge_config(self.config) is None:
            judgments = judged_by_people(corpus, self.config).judgments
            graded = GradedQueries(corpus.queries.queries, judgments, self.config.relevance)
            scorer = Scorers(graded, corpus, self.context).of(one)
            for stage, rankings in one.rankings.items():
                ((_, mean, _),) = means_by_measure(scorer, rankings, [run_headline(self.config)])
                cells |= {} if is_route(stage) else {stage: number(mean)}
        self.board.put(one.setting.name, cells)

    def scored(self, summary: Sequence[SummaryRow]) -> None:
        """A setting has its scores."""
        for row in summary:
            if row.split == "all" and row.measure == run_headline(self.config) and not is_route(row.stage):
                self.board.put(row.setting, {row.stage: number(row.mean)})


@contextmanager
def live_table(config: BenchConfig, context: Context) -> Iterator[LiveTable]:
    """Show the board during the with block."""
    rerankers = max((search.reranker_names(setting) for setting in config.settings), key=len)
    columns = (f"mean {run_headline(config)}", "chunks", "seconds", RETRIEVE, *rerankers)
    with context.reporter.board(columns) as board:
        yield LiveTable(board, config, context)


def keep_results(results: Results, config: BenchConfig, finish: Finish | None = None) -> Path:
    """Write the folder of a result and return where it is.

    ``finish`` may add files to the folder before it takes its place; if it fails, the results are kept
    without them and the error is raised.
    """
    folder = results_folder(config)
    failed: Exception | None = None
    with replace_folder(folder, _name_of_replaced) as unfinished:
        names = file_names([setting.name for setting in config.settings])
        write_results(unfinished, results, names.__getitem__)
        try:
            if finish is not None:
                finish(unfinished, results)
        except Exception as error:
            failed = error
    if failed is not None:
        raise failed
    return folder


def _name_of_replaced(current: Path, earlier: Path) -> str | None:
    """The new name of an earlier result, next to the current one; None if they are the same result.

    If they are the same, files that the current one lacks move over, such as a page made with `harness
    report`.
    """
    if not report.same_result(current, earlier):
        return report.name_of_earlier(earlier, current.name)
    for path in sorted(earlier.rglob("*")):
        there = current / path.relative_to(earlier)
        if path.is_file() and not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            path.rename(there)
    return None
