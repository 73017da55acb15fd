"""Does a ranking measure predict answers here? Correlations between ranking measures and answer measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from harness.comparison import (
    ScoreMatrix,
    bounds,
    from_scores,
    kendall,
    kendall_rows,
    resampled,
    spearman,
    spearman_rows,
    units_of,
)
from harness.measures import Bools, Floats, less_is_better, parse_measure
from harness.report import AnswerPredictionRow
from harness.running.answering.scores import Measured, lower_is_better, matrix_of
from harness.running.config.models import BenchConfig
from harness.values import QueryScore

RESAMPLES = 1000
_FEWEST_SETTINGS = 3
_FEWEST_QUERIES = 10
# Shares of what was judged say nothing about quality.
_NO_QUALITY = frozenset({"judged"})


def prediction_rows(
    per_query: Sequence[QueryScore],
    measured: Sequence[Measured],
    clusters: Mapping[str, str],
    config: BenchConfig,
) -> Iterator[AnswerPredictionRow]:
    """Every ranking measure against every answer measure: over settings, over queries and within queries."""
    if not measured:
        return
    names = {one.setting for one in measured}
    scores = [row for row in per_query if row.setting in names]
    splits = {query.query_id: query.split for query in measured[0].queries}
    worse = lower_is_better(config)
    of_quality = [
        name
        for name in config.measures
        if not less_is_better(name) and parse_measure(name).family not in _NO_QUALITY
    ]
    for answer_measure in measured[0].scores:
        answers = matrix_of(measured, answer_measure, clusters)
        for ranking_measure in of_quality:
            ranking = from_scores(scores, ranking_measure, splits)
            sign = -1.0 if answer_measure in worse else 1.0
            yield from _compared(ranking, answers, sign, config)


def _compared(
    ranking: ScoreMatrix, answers: ScoreMatrix, sign: float, config: BenchConfig
) -> Iterator[AnswerPredictionRow]:
    column = {query_id: i for i, query_id in enumerate(ranking.query_ids)}
    row = {setting: i for i, setting in enumerate(ranking.settings)}
    # a query that only one of them has is in neither
    kept: Bools = np.array([query_id in column for query_id in answers.query_ids], dtype=np.bool_)
    answers = answers.only(kept)
    x = ranking.values[np.ix_([row[s] for s in answers.settings], [column[q] for q in answers.query_ids])]
    known: Bools = np.asarray(~(np.isnan(x) | np.isnan(answers.values)).any(axis=0), dtype=np.bool_)
    answers = answers.only(known)
    count = len(answers.query_ids)
    units = units_of(answers.clusters, count)
    resamples = min(RESAMPLES, config.bootstrap.resamples)
    weights = resampled(units, resamples, config.bootstrap.seed) if count else np.zeros((0, 0))
    for over, coefficient, values, n, reason in _coefficients(x[:, known], sign * answers.values, weights):
        point = None if reason or np.isnan(values[0]) else float(values[0])
        low, high = bounds(values[1:], config.bootstrap.level) if point is not None else (None, None)
        yield AnswerPredictionRow(
            answer_measure=answers.measure,
            ranking_measure=ranking.measure,
            over=over,
            coefficient=coefficient,
            value=point,
            ci_low=low,
            ci_high=high,
            n_settings=len(answers.settings),
            n_queries=n,
            reason=reason or ("" if point is not None else "one of the two is the same everywhere"),
        )


def _coefficients(
    ranking: Floats, answers: Floats, weights: Floats
) -> Iterator[tuple[str, str, Floats, int, str]]:
    """Scope, coefficient, its value and those of resamples, number of queries, reason for no value.

    Of two measures of S settings on the same Q queries, [S, Q] each, and resamples of the queries [B, Q].
    """
    settings, count = ranking.shape
    few = "" if count >= _FEWEST_QUERIES else f"fewer than {_FEWEST_QUERIES} queries"
    lonely = few or ("" if settings >= _FEWEST_SETTINGS else f"fewer than {_FEWEST_SETTINGS} settings")
    nothing = np.full(1, np.nan)
    weights = np.vstack([np.ones(count), weights])
    if lonely:
        yield from (("settings", name, nothing, count, lonely) for name in ("kendall", "spearman"))
        yield "within queries", "kendall", nothing, count, lonely
    else:
        share = weights / weights.sum(axis=1, keepdims=True)
        means = [_rounded(share @ values.T) for values in (ranking, answers)]
        yield "settings", "kendall", kendall_rows(means[0], means[1]), count, ""
        yield "settings", "spearman", spearman_rows(means[0], means[1]), count, ""
        own = kendall_rows(ranking.T, answers.T)
        known = ~np.isnan(own)
        mean = _weighted_mean(own[known], weights[:, known])
        yield "within queries", "kendall", mean, int(known.sum()), ""
    if few:
        yield from (("queries", name, nothing, count, few) for name in ("kendall", "spearman"))
        return
    one, other = (_rounded(values.mean(axis=0)) for values in (ranking, answers))
    yield "queries", "kendall", kendall(one, other, weights), count, ""
    yield "queries", "spearman", spearman(one, other, weights), count, ""


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    """The mean under every row of weights; NaN if a resample holds none of the queries."""
    total = weights.sum(axis=1)
    sums = weights @ values if len(values) else np.zeros(len(weights))
    found: Floats = np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0)
    return found


def _rounded(values: Floats) -> Floats:
    """Means that differ by rounding alone are ties."""
    found: Floats = np.round(values, 12)
    return found
