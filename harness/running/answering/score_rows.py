"""Scores of answers → rows: every value, means with intervals, and who is better."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.comparison import (
    Options,
    ScoreMatrix,
    compare_to,
    from_scores,
    mean_of,
    number,
    on_common_questions,
)
from harness.report import AnswerComparisonRow, AnswerScoreRow, AnswerSummaryRow
from harness.running.answering.measuring import Measured
from harness.running.answering.replies import counted_reasons
from harness.running.answering.tools import measures_of
from harness.running.config.models import BenchConfig
from harness.values import SPLITS, HarnessError

ALL = "all"


def answer_rows(
    measured: Sequence[Measured], clusters: Mapping[str, str], config: BenchConfig
) -> Iterator[Any]:
    """The rows of answer_scores.csv, answer_summary.csv and answer_comparisons.csv."""
    for one in measured:
        for measure in one.scores:
            yield from _scores(one, measure, clusters)
            yield from _means(one, measure, clusters, config)
    for measure in measured[0].scores if measured else ():
        yield from compared(matrix_of(measured, measure, clusters), config)


def _scores(one: Measured, measure: str, clusters: Mapping[str, str]) -> Iterator[AnswerScoreRow]:
    for query, score in zip(one.queries, one.scores[measure], strict=True):
        yield AnswerScoreRow(
            setting=one.setting,
            query_id=query.query_id,
            split=query.split,
            cluster=clusters.get(query.query_id, ""),
            measure=measure,
            value=score.value,
            reason=score.reason,
            details=json.dumps(dict(score.details), ensure_ascii=False, sort_keys=True),
        )


def _means(
    one: Measured, measure: str, clusters: Mapping[str, str], config: BenchConfig
) -> Iterator[AnswerSummaryRow]:
    for split in (*SPLITS, ALL):
        own = [
            (score, clusters.get(query.query_id, ""))
            for query, score in zip(one.queries, one.scores[measure], strict=True)
            if split in (ALL, query.split)
        ]
        values = np.array([np.nan if s.value is None else s.value for s, _ in own], dtype=np.float64)
        found = mean_of(values, [cluster for _, cluster in own], config.bootstrap.level)
        reasons = [score.reason for score, _ in own if score.value is None]
        yield AnswerSummaryRow(
            setting=one.setting,
            split=split,
            measure=measure,
            mean=number(found.value),
            ci_low=found.low,
            ci_high=found.high,
            n_queries=found.n,
            n_not_scored=len(reasons),
            reasons=counted_reasons(reasons, "; "),
        )


def matrix_of(measured: Sequence[Measured], measure: str, clusters: Mapping[str, str]) -> ScoreMatrix:
    """The values of one measure, settings × queries; NaN if there is none."""
    rows = [score for one in measured for score in one.scores[measure]]
    splits = {query.query_id: query.split for query in measured[0].queries}
    return from_scores(rows, measure, splits, clusters=clusters)


def compared(matrix: ScoreMatrix, config: BenchConfig) -> Iterator[AnswerComparisonRow]:
    """Every setting against the best, on the questions for which all have a value; none for a single one.

    The means that choose the best are those of the same questions.
    """
    try:
        (both,), left_out = on_common_questions([matrix])
    except HarnessError:
        # no question has a value for all
        return
    if len(both.settings) < 2:
        return
    sign = -1 if matrix.measure in lower_is_better(config) else 1
    best = both.settings[int(np.argmax(sign * both.means))]
    stated = config.bootstrap
    options = Options(stated.level, stated.resamples, stated.seed, tolerance=config.tolerance)
    for one in compare_to(both, best, options):
        yield AnswerComparisonRow(
            measure=matrix.measure,
            setting=one.setting,
            against=one.against,
            n=one.n,
            n_left_out=left_out,
            difference=one.difference,
            ci_low=one.low,
            ci_high=one.high,
            p=one.p,
            finding=one.finding,
        )


def lower_is_better(config: BenchConfig) -> set[str]:
    """The names of the measures of which lower values are better."""
    return {one.name for one in measures_of(config.answer_scoring) if one.facts.less_is_better}
