"""A searched setting and its scorer → rows: values per query, means with intervals, ranked chunks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from harness.comparison import mean_of, number
from harness.measures import UNJUDGED, Floats, Scorer, ScoreTable
from harness.report import AnswerabilityRow, ChunkQrels, RankedRow, SeedRatioRow, SummaryRow, ThresholdRow
from harness.running.config.models import BenchConfig
from harness.running.context import Context
from harness.running.evaluate.answerability import answerability
from harness.running.evaluate.seed_ratios import seed_ratios
from harness.running.judging.pool import Judged
from harness.running.search import Searched
from harness.values import NOT_SCORED, SPLITS, Document, QueryScore

ALL = "all"


@dataclass(frozen=True, slots=True)
class ScoredSetting:
    """The results of one setting: rows of the tables, and the grades of its chunks."""

    summary: list[SummaryRow]
    per_query: list[QueryScore]
    ranked: list[RankedRow]
    qrels: ChunkQrels
    seed_ratios: list[SeedRatioRow]
    answerability: list[AnswerabilityRow]
    thresholds: list[ThresholdRow]


def score_setting(
    searched: Searched,
    scorer: Scorer,
    judged: Judged,
    documents: Mapping[str, Document],
    clusters: Mapping[str, str],
    why: Mapping[str, str],
    config: BenchConfig,
    context: Context,
) -> ScoredSetting:
    """Score every stage of a setting on the same queries and the same judged text.

    ``documents`` are those of the chunks by id; ``clusters`` maps queries to what they are tested with, and
    intervals of means go by them; ``why`` says for which reason a query without relevant text has none.
    """
    setting, depth = searched.setting.name, config.relevance.seed_ratio
    answerable = {query.query_id: query.answerable for query in scorer.queries}
    counted = [q for q, yes in answerable.items() if yes or config.relevance.unanswerable == "zero"]
    scored = ScoredSetting([], [], [], _qrels(scorer, counted), [], [], [])
    for stage, rankings in searched.rankings.items():
        with context.timed("score"):
            scores = scorer.score(rankings, config.measures)
            columns = {measure.name: scores.values[:, at] for at, measure in enumerate(scores.measures)}
            ranked = _ranked(searched, stage, scores, documents)
            if depth is not None:
                ratios = seed_ratios(setting, stage, ranked, scorer.queries, depth)
                scored.seed_ratios.extend(ratios)
                columns[f"seed_ratio@{depth}"] = np.array(
                    [np.nan if row.seed_ratio is None else row.seed_ratio for row in ratios]
                )
            scored.summary.extend(
                _summary(setting, stage, columns, scores, scorer, clusters, judged, why, config)
            )
            scored.per_query.extend(_per_query(setting, stage, columns, scores))
            scored.ranked.extend(ranked)
            separated, by_threshold = answerability(setting, stage, rankings, answerable, config)
            scored.answerability.extend(separated)
            scored.thresholds.extend(by_threshold)
    return scored


def _summary(
    setting: str,
    stage: str,
    columns: Mapping[str, Floats],
    scores: ScoreTable,
    scorer: Scorer,
    clusters: Mapping[str, str],
    judged: Judged,
    why: Mapping[str, str],
    config: BenchConfig,
) -> list[SummaryRow]:
    reason = np.array([why[query_id] for query_id in scores.query_ids])
    failed = ~scores.ranked | np.isin(scores.query_ids, sorted(judged.failed))
    splits = np.array([query.split for query in scorer.queries])
    rows = []
    for split in (*SPLITS, ALL):
        inside = np.ones(len(splits), dtype=np.bool_) if split == ALL else splits == split
        own = [clusters.get(scores.query_ids[i], "") for i in np.flatnonzero(inside).tolist()]
        for measure, values in columns.items():
            found = mean_of(values[inside], own, config.bootstrap.level)
            out = reason[inside & ~scores.has_relevant & np.isnan(values)]
            rows.append(
                SummaryRow(
                    setting=setting,
                    stage=stage,
                    split=split,
                    measure=measure,
                    mean=number(found.value),
                    ci_low=found.low,
                    ci_high=found.high,
                    n_queries=found.n,
                    n_unanswerable=int(np.sum(out == "unanswerable")),
                    n_ungraded=int(np.sum(out == "ungraded")),
                    n_irrelevant=int(np.sum(out == "irrelevant")),
                    n_failed=int(np.sum(inside & failed)),
                    judge=judged.judge,
                )
            )
    return rows


def _per_query(
    setting: str, stage: str, columns: Mapping[str, Floats], scores: ScoreTable
) -> list[QueryScore]:
    return [
        QueryScore(setting, stage, query_id, measure, None if np.isnan(values[i]) else float(values[i]))
        for i, query_id in enumerate(scores.query_ids)
        for measure, values in columns.items()
    ]


def _ranked(
    searched: Searched, stage: str, scores: ScoreTable, documents: Mapping[str, Document]
) -> list[RankedRow]:
    by_query = {ranking.query_id: ranking for ranking in searched.rankings[stage]}
    chunks = searched.chunking.chunks
    items = scores.items
    rows = []
    for query, rank, chunk_row, grade, earned in zip(
        items.query, items.rank, items.chunk, items.grade, items.earned, strict=True
    ):
        query_id = scores.query_ids[query]
        chunk = chunks[chunk_row]
        rows.append(
            RankedRow(
                setting=searched.setting.name,
                stage=stage,
                query_id=query_id,
                rank=int(rank),
                chunk_id=chunk.chunk_id,
                document=chunk.doc_id,
                page=documents[chunk.doc_id].page_of(chunk.start),
                score=None if (given := by_query[query_id].scores[rank - 1]) == NOT_SCORED else given,
                grade=None if grade == UNJUDGED else int(grade),
                earned=int(earned),
                text=chunk.text,
            )
        )
    return rows


def _qrels(scorer: Scorer, counted: Collection[str]) -> ChunkQrels:
    """The grades of all chunks, by query id, for the queries that means count: other tools count all."""
    graded, chunk_ids = scorer.grades, scorer.chunks.chunk_ids
    counts = np.isin(scorer.query_ids, list(counted))[graded.query]
    relevant = counts & (graded.grade > 0)
    stands_for = np.stack([graded.query[relevant], graded.evidence[relevant]], axis=1)
    pairs, times = np.unique(stands_for, axis=0, return_counts=True)
    rows = [
        (scorer.query_ids[query], chunk_ids[chunk], int(grade))
        for query, chunk, grade in zip(
            graded.query[counts], graded.chunk[counts], graded.grade[counts], strict=True
        )
    ]
    return ChunkQrels(
        rows=sorted(rows, key=lambda row: row[0]),
        queries=len(np.unique(graded.query[relevant])),
        repeating=len(np.unique(pairs[times > 1, 0])),
    )
