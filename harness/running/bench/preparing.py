"""What comes before any search: everything is found, documents are read and cut, doubts are said."""

from __future__ import annotations

from harness.running import search
from harness.running.config.models import BenchConfig
from harness.running.corpora import Corpora, load_corpora
from harness.running.evaluate.warnings import warn_of_labels, warn_of_measures
from harness.running.fast_int8 import allow_int8
from harness.running.judging.judged import warn_of_same_model
from harness.running.loop import Visitor
from harness.running.note_wordings import RUN
from harness.running.pipeline import collection_searched, has_answers
from harness.running.readiness import check_ready, warn_of_languages
from harness.running.run_models import RunModels
from harness.running.session import Session
from harness.values import Reporter, worded


def prepare(
    config: BenchConfig, session: Session, visitor: Visitor | None = None
) -> tuple[Corpora, list[search.Chunked]]:
    """Find all models, read and cut the documents, and warn of what is doubtful about them.

    ``visitor`` meets what contexts and readers need; None: a run, which asks for what is missing.
    """
    check_ready(config, session)
    corpora = load_searched(config, session)
    if config.int8_changes:
        allow_int8(config.int8_changes, corpora.united, session.models, session.artifacts, session.notes)
    _tell_ways(session.models, session.notes.reporter)
    if any(map(has_answers, config.settings)):
        from harness.running.answering.replies import refuse_bad_golden

        refuse_bad_golden(corpora.united)
    warn_of_labels(corpora.united, config, session.notes)
    warn_of_same_model(config, session.notes)
    warn_of_languages(corpora.united, config.settings, session.notes)
    with session.notes.reporter.task("chunk", len(config.settings)) as task:
        points = search.cut_for_all(config.settings, corpora.by_setting, session, task.advance, visitor)
    warn_of_measures(
        config, {point.setting.name: len(point.chunking.chunks) for point in points}, session.notes
    )
    return corpora, points


def load_searched(config: BenchConfig, session: Session) -> Corpora:
    """The documents, and the text of collections that is in none of them; as `load_corpora` in its errors.

    ``session`` then knows the passages of the collections that settings search as they are.
    """
    corpora = load_corpora(config, session.document_reader)
    if all(collection_searched(setting) is None for setting in config.settings):
        return corpora
    from harness.running.existing import with_existing

    return with_existing(corpora, config, session)


def _tell_ways(models: RunModels, reporter: Reporter) -> None:
    """Say what a probe found to be the fastest."""
    for name, probe in models.probed.items():
        code = "fast.faster" if probe.gain > 1 else "fast.way"
        reporter.note(worded(RUN, code, model=name, way=probe.way, gain=f"{probe.gain:.1f}"))
