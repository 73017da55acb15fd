"""The plan of stages of `harness tune`: what settings take, counted on the labelled documents alone."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace

from harness.comparison import ending_early
from harness.models import CalibrationTexts
from harness.running.config.models import BenchConfig
from harness.running.config.tune_keys import PartConfig, TuneConfig
from harness.running.corpora import queries_and_rows
from harness.running.corpus import document_files
from harness.running.evaluate.evaluating import run_headline
from harness.running.judging.judged import GradedQueries, judged_by_people, pool_judge_config
from harness.running.part import documents_of, labelled_documents, queries_of
from harness.running.passage_files import labels_by_file
from harness.running.session import Session
from harness.running.tuning.calibrating import calibrate, draw_calibration
from harness.running.tuning.early import shares_at_most
from harness.running.tuning.ladder import TEXTS, Extent, Ladder, PlannedStage, make_ladder
from harness.running.tuning.outlay import CountedPart, outlays
from harness.running.tuning.screen import without_rerankers
from harness.values import Reporter, Silent, Task


def make_plan_of_stages(config: BenchConfig, reporter: Reporter) -> tuple[Ladder, CalibrationTexts | None]:
    """Count what settings take on the labelled documents alone, and plan within the budget.

    With the plan comes what models learn by that compute in int8.
    """
    tuning, quiet = config.tune, QuietReporter(reporter)
    extent = _extent(config, tuning)
    part = PartConfig(text=0.0 if len(extent.sizes) > 1 else 1.0, seed=tuning.seed)
    retrieving = quantised = calibration = None
    with ExitStack() as sessions:
        session = Session.at(config.cache, quiet, may_ask=False, precision=config.precision)
        sessions.enter_context(session)
        cut = CountedPart.of(config, part, session)
        costs = outlays(cut, session)
        if tuning.screen:
            session = sessions.enter_context(Session.at(config.cache, quiet, may_ask=False))
            calibration = draw_calibration(config, part, session.document_reader)
            calibrate(session.models, calibration, session.artifacts)
            quantised = outlays(CountedPart.of(config, part, session), session)
        # what was held back is not shown to be worse, so that a certificate needs all of it
        if extent.retrieving < extent.settings and tuning.give == "search" and not extent.proposed:
            plain = config.model_copy(update={"settings": without_rerankers(config.settings)})
            retrieving = outlays(CountedPart.of(plain, part, session), session)
    ladder = make_ladder(extent, costs, tuning.allowed, retrieving, quantised)
    names = [setting.name for setting in config.settings]
    early = ending_early(shares_at_most(cut.points, run_headline(config)), names)
    return replace(ladder, stages=_with_answers(ladder, cut), early=early), calibration


def _with_answers(ladder: Ladder, cut: CountedPart) -> tuple[PlannedStage, ...]:
    """The stages with how many of their queries have an answer; a judge of what is found says later."""
    config, corpus = cut.config, cut.corpora.united
    if pool_judge_config(config) is not None:
        return ladder.stages
    judgments = judged_by_people(corpus, config).judgments
    to_score = GradedQueries(corpus.queries.queries, judgments, config.relevance).to_score()
    answered = {query.query_id for query in to_score if query.answerable}
    queries, rows = queries_and_rows(config, lambda _: None)
    return tuple(
        replace(
            stage,
            answered=sum(query.query_id in answered for query in queries_of(stage.part, queries, rows)),
        )
        for stage in ladder.stages
    )


class QuietReporter(Silent):
    """Shows progress and says nothing: the last stage says what bears on its numbers."""

    def __init__(self, reporter: Reporter) -> None:
        super().__init__()
        self._reporter = reporter

    def task(self, name: str, total: int) -> AbstractContextManager[Task]:
        """Show the task."""
        return self._reporter.task(name, total)


def _extent(config: BenchConfig, tuning: TuneConfig) -> Extent:
    """How many settings, queries and documents there are."""
    queries, rows = queries_and_rows(config, lambda _: None)
    files = document_files(config)
    ids = [file.doc_id for file in files]
    named = labels_by_file(config, rows, files)
    labelled = labelled_documents(named, ids) if pool_judge_config(config) is None else {*ids}
    train = sum(query.split == "train" for query in queries.queries)
    sizes = {1.0: 1.0}
    if labelled and len(labelled) < len(ids):
        weight = {file.doc_id: max(1, file.path.stat().st_size) for file in files}
        first = sum(weight[name] for name in labelled)
        for text in (0.0, *TEXTS, 1.0):
            kept = documents_of(PartConfig(text=text, seed=tuning.seed), ids, labelled)
            sizes[text] = sum(weight[name] for name in kept) / first
    retrieving = len(without_rerankers(config.settings))
    proposed = tuning.strategy != "grid"
    return Extent(len(config.settings), train, len(queries.queries), sizes, tuning.seed, retrieving, proposed)
