"""The pipeline, top to bottom: one configuration in, one folder of results out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import store
from harness.report import Results, ScoreRow, SummaryRow, is_route
from harness.running import search
from harness.running.bench.keeping import Finish, keep_results
from harness.running.bench.preparing import prepare
from harness.running.config.models import BenchConfig
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import Scorers, evaluate, run_headline
from harness.running.evaluate.result_tables import results_of
from harness.running.evaluate.warnings import warn_of_unfilled_budgets
from harness.running.judging.judged import judged_by_people, pool_judge_config
from harness.running.meeting import Running
from harness.running.note_wordings import RUN
from harness.running.notes import RunNotes
from harness.running.pipeline import RETRIEVE, has_answers, reranker_names
from harness.running.run_models import RunModels
from harness.running.session import Session
from harness.steps import waits_for
from harness.values import Board, HarnessError, LlmError, Reporter, number, worded

if TYPE_CHECKING:
    from harness.measures import ScoreTable
    from harness.running.answering.replies import Replies
    from harness.running.bench.quick import FirstResults

Add = Callable[[RunNotes, Corpus, Sequence[ScoreRow]], Iterable[Any]]
"""Makes rows of further tables of the documents and all scores, and may warn of what bears on results."""


def run_bench(
    config: BenchConfig, reporter: Reporter, finish: Finish | None = None, add: Add | None = None
) -> tuple[Results, Path]:
    """Run every setting and write ``results/<name>/``; returns the results and that folder.

    An earlier, different result is kept next to it, named after the time when it began. ``finish`` may add
    files to the folder before it takes its place; if it fails, the results are kept without them and the
    error is raised. ``add`` makes more rows.
    """
    session = Session.at(config.cache, reporter, precision=config.precision, engine=config.engine)
    with (
        session,
        session.notes.timed("total"),
        shared_cache(config, session.cache, session.faults, reporter),
        live_table(config, session.models, session.notes) as live,
    ):
        corpus, searched_apart, searched = _search(config, session, live)
        replied: list[Replies] = []
        if any(has_answers(result.setting) for result in searched):
            from harness.running.answering.replies import answer_all

            replied = answer_all(searched, corpus, Running(session))
        evaluated = evaluate(searched, corpus, config, session, live.scored, live.scorers)
        answers: list[Any] = []
        if replied:
            from harness.running.bench.answer_losses import rows_of_answers

            answers = rows_of_answers(
                *(replied, searched, evaluated, corpus, config), Running(session), session.notes
            )
        latencies: list[Any] = []
        if config.latency.queries:
            from harness.running.latency import latency_rows

            latencies = latency_rows(searched_apart, corpus.queries.queries, config.latency, session)
        scores = [row for table in evaluated.scored for row in table.per_query]
        more = add(session.notes, corpus, scores) if add is not None else ()
    results = results_of(evaluated, searched, corpus, config, session, [*latencies, *answers, *more])
    return results, keep_results(results, config, finish)


@contextmanager
def shared_cache(
    config: BenchConfig, cache: store.CacheLayout, faults: store.Faults, reporter: Reporter
) -> Iterator[None]:
    """Take what other machines have computed before the block, add what is new after it, failed or not."""
    if config.shared_cache is None:
        yield
        return
    shared = store.SharedCache(config.shared_cache, cache, faults)
    reporter.note(worded(RUN, "shared.copying", cache=config.shared_cache))
    shared.pull()
    try:
        yield
    finally:
        try:
            shared.push()
        except HarnessError as error:
            # what others do not get is no reason to lose the results, or to hide why the run failed
            reporter.warn(str(error))


def search_all(config: BenchConfig, session: Session) -> tuple[Corpus, list[search.Searched]]:
    """The corpus, and the rankings of every setting; warns of limits of the scores.

    Where several parsers read the documents, each of their texts is a document of the corpus. Raises LlmError
    in a context that may not ask, where somebody would have to be asked.
    """
    if session.may_ask:
        corpus, _, searched = _search(config, session)
        return corpus, searched
    from harness.running.planning import Planning, search_unasked

    cutting = Planning(session, computes=True)
    corpora, points = prepare(config, session, cutting)
    searched, missing = search_unasked(points, corpora.united.queries.queries, cutting)
    if missing:
        raise LlmError(waits_for(missing))
    _look_for_changes(session.prepared.rows_read.values(), session.notes)
    warn_of_unfilled_budgets(searched, config, session.notes)
    return corpora.united, list(map(corpora.in_united, searched))


def _search(
    config: BenchConfig,
    session: Session,
    live: LiveTable | None = None,
) -> tuple[Corpus, list[search.Searched], list[search.Searched]]:
    """The united corpus, and the rankings of every setting by the ids of its own corpus and by those of it.

    ``live`` is shown each of the latter as soon as it is searched.
    """
    corpora, points = prepare(config, session)
    if live is not None and any(setting.model_names for setting in config.settings):
        # only then there is something to wait for
        from harness.running.bench.quick import first_results

        live.first = first_results(corpora, points, config, session)

    def show(result: search.Searched) -> None:
        if live is not None:
            live.searched(corpora.united, corpora.in_united(result))

    searched = search.search_settings(points, corpora.united.queries.queries, session, show)
    _look_for_changes(session.prepared.rows_read.values(), session.notes)
    warn_of_unfilled_budgets(searched, config, session.notes)
    if config.precision == "fast":
        from harness.running.precision import compare_with_exact

        with session.notes.timed("precision"):
            queries, most = corpora.united.queries.queries, config.int8_changes
            compare_with_exact(searched, queries, most, session.models, session.artifacts, session.notes)
    return corpora.united, searched, [corpora.in_united(result) for result in searched]


def _look_for_changes(rows_read: Collection[Any], notes: RunNotes) -> None:
    """Warn where an existing collection changed since it was read; call it when all settings are searched."""
    if rows_read:
        from harness.running.stored_changes import warn_of_changes

        with notes.timed("stores"):
            warn_of_changes(rows_read, notes)


@dataclass(slots=True)
class LiveTable:
    """Fills the board of a run. With human labels, scores appear immediately; else after judging.

    ``first`` shows the settings that need no model, on a board or not. ``scorers`` keep what is scored to be
    shown, for the tables.
    """

    board: Board
    config: BenchConfig
    models: RunModels
    notes: RunNotes
    scorers: Scorers | None = None
    first: FirstResults | None = None

    def searched(self, corpus: Corpus, result: search.Searched) -> None:
        """A setting has its rankings."""
        if self.first is not None:
            headline = run_headline(self.config)
            self.first.scored(result, lambda stage: self._scores(corpus, result)[stage].mean(headline))
        if not self.board.live:
            return
        cells = {
            "chunks": f"{len(result.chunking.chunks):,}",
            "seconds": f"{result.notes['seconds'][result.steps[-1]]:.1f}",
        }
        if pool_judge_config(self.config) is None:
            cells |= {
                stage: number(scores.mean(run_headline(self.config)))
                for stage, scores in self._scores(corpus, result).items()
                if not is_route(stage)
            }
        self.board.put(result.setting.name, cells)

    def _scores(self, corpus: Corpus, result: search.Searched) -> Mapping[str, ScoreTable]:
        """The scores by stage, on the labels of people."""
        if self.scorers is None:
            judged = judged_by_people(corpus, self.config)
            self.scorers = Scorers.of_judged(judged, corpus, self.config, self.models)
        with self.notes.timed("score"):
            return self.scorers.score(result, self.config)

    def scored(self, summary: Sequence[SummaryRow]) -> None:
        """A setting has its scores."""
        for row in summary:
            if row.split == "all" and row.measure == run_headline(self.config) and not is_route(row.stage):
                self.board.put(row.setting, {row.stage: number(row.mean)})


@contextmanager
def live_table(config: BenchConfig, models: RunModels, notes: RunNotes) -> Iterator[LiveTable]:
    """Show the board during the with block."""
    rerankers = max((reranker_names(setting) for setting in config.settings), key=len)
    columns = (f"mean {run_headline(config)}", "chunks", "seconds", RETRIEVE, *rerankers)
    with notes.reporter.board(columns) as board:
        yield LiveTable(board, config, models, notes)
