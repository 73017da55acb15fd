"""The part of a benchmark that follows the rankings: measured answers, as rows of result tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.measures import AGAINST_GOLDEN
from harness.report import AnswerLossRow
from harness.running.answering.losses import answer_loss_rows
from harness.running.answering.measuring import Measured, by_query, measure_all
from harness.running.answering.prediction import prediction_rows
from harness.running.answering.replies import Replies, reply_rows
from harness.running.answering.score_rows import answer_rows
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.corpus import Corpus
from harness.running.evaluate.evaluating import Evaluated, lost_evidence, projection_of
from harness.running.judging.judges import pool_judge_config
from harness.running.search import Searched


def rows_of_answers(
    replied: Sequence[Replies],
    searched: Sequence[Searched],
    evaluated: Evaluated,
    corpus: Corpus,
    config: BenchConfig,
    context: Context,
) -> list[Any]:
    """Measure the answers of all settings; the rows of every table about them, none without answers."""
    if not replied:
        return []
    measured = measure_all(replied, corpus, evaluated.judged.judgments, config, context)
    per_query = [row for one in evaluated.scored for row in one.per_query]
    return [
        *reply_rows(replied, corpus),
        *answer_rows(measured, evaluated.clusters, config),
        *prediction_rows(per_query, measured, evaluated.clusters, config),
        *_losses(measured, searched, corpus, config),
    ]


def _losses(
    measured: Sequence[Measured], searched: Sequence[Searched], corpus: Corpus, config: BenchConfig
) -> Iterator[AnswerLossRow]:
    """Where answers are lost, by the first measure that can be taken apart; none without such a measure."""
    by_kind = {one.kind: one.label for one in reversed(config.answer_measures)}
    measure = next((by_kind[kind] for kind in AGAINST_GOLDEN if kind in by_kind), None)
    if measure is None:
        return
    by_people = pool_judge_config(config) is None
    lost = by_query(lost_evidence(corpus.label_rows, corpus.anchored) if by_people else [])
    projection = projection_of(config.relevance)
    settings = {one.setting.name: one for one in searched}
    for one in measured:
        yield from answer_loss_rows(one, measure, settings[one.setting], lost, projection)
