"""Rankings + judgments → scores: per query, and summed up by split with intervals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.comparison import mean_of
from harness.config import BenchConfig, RelevanceConfig, parsers_of
from harness.evaluate.answerability import answerability
from harness.evaluate.seed_ratios import seed_ratios
from harness.evaluate.verdict import run_headline
from harness.judging.judges import pool_judge_config
from harness.judging.pool import Judged
from harness.measures import (
    UNJUDGED,
    ChunkTable,
    Projection,
    ScoreTable,
    SpanQrels,
    across_parsers,
    project,
    rank_cutoff,
    trusted_for,
)
from harness.measures import score as score_rankings
from harness.progress import Reporter
from harness.report import (
    AnswerabilityRow,
    ChunkQrels,
    RankedRow,
    SeedRatioRow,
    SummaryRow,
    ThresholdRow,
)
from harness.running.context import Context
from harness.running.search import Searched
from harness.types import NOT_SCORED, SPLITS, Document, Judgment, Query, QueryScore, Ranking

ALL = "all"
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """What one setting came to: rows of the tables, and the grades of its chunks."""

    summary: list[SummaryRow]
    per_query: list[QueryScore]
    ranked: list[RankedRow]
    qrels: ChunkQrels
    seed_ratios: list[SeedRatioRow]
    answerability: list[AnswerabilityRow]
    thresholds: list[ThresholdRow]


def queries_to_score(
    queries: Sequence[Query], judgments: Sequence[Judgment], relevance: RelevanceConfig
) -> tuple[Query, ...]:
    """The queries, those that no text answers to the grade ``answerable_from`` marked as unanswerable."""
    best: dict[str, int] = {}
    for judgment in judgments:
        best[judgment.query_id] = max(best.get(judgment.query_id, 0), judgment.grade or 0)
    return tuple(
        query
        if best.get(query.query_id, 0) >= relevance.answerable_from
        else replace(query, answerable=False)
        for query in queries
    )


def score_setting(
    searched: Searched,
    queries: Sequence[Query],
    judged: Judged,
    documents: Sequence[Document],
    clusters: Mapping[str, str],
    config: BenchConfig,
    context: Context,
) -> Scored:
    """Score every stage of a setting on the same queries and the same judged text.

    ``clusters`` maps queries to what they are tested with; intervals of means go by them.
    """
    spans = SpanQrels.from_judgments(judged.judgments)
    table = ChunkTable.of(searched.chunking.chunks)
    relevance = config.relevance
    answerable = {query.query_id: query.answerable for query in queries}
    left_out = {query_id for query_id, answered in answerable.items() if not answered}
    if relevance.unanswerable == "zero":
        left_out = set()
    qrels = _qrels(spans, table, _projection(relevance), left_out)
    scored = Scored([], [], [], qrels, [], [], [])
    for stage, rankings in searched.rankings.items():
        with context.timed("score"):
            scores = _score(
                searched, stage, queries, spans, table, config.measures, documents, config, context
            )
            setting = searched.setting.name
            columns = _columns(scores)
            ranked = _ranked(setting, stage, scores, rankings, searched, documents)
            if relevance.seed_ratio is not None:
                ratios = seed_ratios(setting, stage, ranked, queries, relevance.seed_ratio)
                scored.seed_ratios.extend(ratios)
                columns[f"seed_ratio@{relevance.seed_ratio}"] = np.array(
                    [np.nan if row.seed_ratio is None else row.seed_ratio for row in ratios]
                )
            scored.summary.extend(
                _summary(setting, stage, columns, scores, queries, clusters, judged, config)
            )
            scored.per_query.extend(_per_query(setting, stage, columns, scores))
            scored.ranked.extend(ranked)
            separated, by_threshold = answerability(setting, stage, rankings, answerable, config)
            scored.answerability.extend(separated)
            scored.thresholds.extend(by_threshold)
    return scored


def headline(
    searched: Searched,
    queries: Sequence[Query],
    judgments: Sequence[Judgment],
    documents: Sequence[Document],
    config: BenchConfig,
    context: Context,
) -> dict[str, float | None]:
    """The mean of the headline measure by stage, over all queries, as the summary will have it."""
    spans = SpanQrels.from_judgments(judgments)
    table = ChunkTable.of(searched.chunking.chunks)
    means: dict[str, float | None] = {}
    for stage in searched.rankings:
        first = (run_headline(config),)
        scores = _score(searched, stage, queries, spans, table, first, documents, config, context)
        known = scores.values[~np.isnan(scores.values)]
        means[stage] = float(known.mean()) if len(known) else None
    return means


def _score(
    searched: Searched,
    stage: str,
    queries: Sequence[Query],
    spans: SpanQrels,
    table: ChunkTable,
    measures: Sequence[str],
    documents: Sequence[Document],
    config: BenchConfig,
    context: Context,
) -> ScoreTable:
    relevance = config.relevance
    return score_rankings(
        searched.rankings[stage],
        queries,
        spans,
        table,
        measures,
        projection=_projection(relevance),
        unanswerable="zero" if relevance.unanswerable == "zero" else "nan",
        token_boundaries=token_boundaries(searched, documents, context),
        chunk_tokens=searched.chunking.tokens,
    )


def _projection(relevance: RelevanceConfig) -> Projection:
    return Projection(relevance.rule, relevance.span_share, relevance.chunk_share)


def deepest_cutoff(config: BenchConfig) -> int:
    """The lowest rank that a measure looks at; 0 where none has a cutoff in ranks."""
    return max((rank_cutoff(name) or 0 for name in config.measures), default=0)


def warn_of_shallow_rankings(config: BenchConfig, reporter: Reporter) -> None:
    """Say where a measure looks deeper than rankings go, or no deeper than the reranker does."""
    deepest = deepest_cutoff(config)
    depths = [
        setting.retrieve.top_k if setting.retrieve.top_chars is None else None for setting in config.settings
    ]
    shallow = [depth for depth in depths if depth is not None and depth < deepest]
    if shallow:
        reporter.warn(
            f"rankings end at rank {min(shallow)} in {len(shallow)} of {len(depths)} settings; a measure at "
            f"cutoff {deepest} sees nothing below that. Raise retrieve.top_k."
        )
    scored = [reranker.top_n for setting in config.settings for reranker in setting.rerank]
    flat = [top_n for top_n in scored if top_n is not None and top_n <= deepest]
    if flat:
        reporter.warn(
            f"the reranker scores the first {min(flat)} chunks, and a measure looks at {deepest}: no "
            f"lower chunk can enter them. Omit rerank.top_n, or set it above {deepest}."
        )


def warn_of_parsers(config: BenchConfig, reporter: Reporter) -> None:
    """Where parsers are compared, say which measures do not compare them."""
    parsers = parsers_of(config.settings)
    if len(parsers) < 2:
        return
    fit = [name for name in config.measures if across_parsers(name)]
    blind = [name for name in config.measures if trusted_for(name) and name not in fit]
    if not fit:
        reporter.warn(
            f"no measure compares parsers ({', '.join(parsers)}). Add ndcg_evidence@5000 to measures."
        )
    if blind:
        reporter.note(
            f"{', '.join(blind)}: use these only to compare settings of the same parser; they depend on the "
            "length of the extracted text, or on how it was cut."
        )


def warn_of_pool(config: BenchConfig, reporter: Reporter) -> None:
    """Say where the pool leaves text unjudged that is scored, or judges text that overlaps."""
    judge = pool_judge_config(config)
    if judge is None:
        return
    deepest = deepest_cutoff(config)
    if judge.pool.depth < deepest:
        reporter.warn(
            f"the judge sees the first {judge.pool.depth} chunks (relevance.pool.depth) and a measure looks "
            f"at {deepest}; chunks in between may be unjudged and then gain nothing."
        )
    if (
        judge.pool.unit == "chunk"
        and len({repr((setting.chunk, setting.read)) for setting in config.settings}) > 1
    ):
        reporter.warn(
            "several chunkings are judged chunk by chunk: their spans overlap, so a small chunk can earn the "
            "grade of a large one around it. To compare chunkings use relevance.pool: {unit: passage}."
        )


def _columns(scores: ScoreTable) -> dict[str, Floats]:
    return {measure.name: scores.values[:, column] for column, measure in enumerate(scores.measures)}


def _summary(
    setting: str,
    stage: str,
    columns: Mapping[str, Floats],
    scores: ScoreTable,
    queries: Sequence[Query],
    clusters: Mapping[str, str],
    judged: Judged,
    config: BenchConfig,
) -> list[SummaryRow]:
    failed = ~scores.ranked | np.isin(scores.query_ids, sorted(judged.failed))
    splits = np.array([query.split for query in queries])
    rows = []
    for split in (*SPLITS, ALL):
        inside = np.ones(len(queries), dtype=np.bool_) if split == ALL else splits == split
        own = [clusters.get(queries[i].query_id, "") for i in np.flatnonzero(inside).tolist()]
        for measure, values in columns.items():
            found = mean_of(values[inside], own, config.bootstrap.level)
            rows.append(
                SummaryRow(
                    setting=setting,
                    stage=stage,
                    split=split,
                    measure=measure,
                    mean=found.value if found else None,
                    ci_low=found.low if found else None,
                    ci_high=found.high if found else None,
                    n_queries=found.n if found else 0,
                    n_unanswerable=int(np.sum(inside & ~scores.has_relevant & np.isnan(values))),
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
    setting: str,
    stage: str,
    scores: ScoreTable,
    rankings: Sequence[Ranking],
    searched: Searched,
    documents: Sequence[Document],
) -> list[RankedRow]:
    document = {item.doc_id: item for item in documents}
    by_query = {ranking.query_id: ranking for ranking in rankings}
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
                setting=setting,
                stage=stage,
                query_id=query_id,
                rank=int(rank),
                chunk_id=chunk.chunk_id,
                document=chunk.doc_id,
                page=document[chunk.doc_id].page_of(chunk.start),
                score=None if (given := by_query[query_id].scores[rank - 1]) == NOT_SCORED else given,
                grade=None if grade == UNJUDGED else int(grade),
                earned=int(earned),
                text=chunk.text,
            )
        )
    return rows


def token_boundaries(
    searched: Searched, documents: Sequence[Document], context: Context
) -> Callable[[str], list[int]]:
    """Where the encoder's tokens begin in a document, and where the last one ends."""
    tokenizer = context.tokenizer(searched.setting.tokenizer)
    text = {document.doc_id: document.text for document in documents}

    def boundaries(doc_id: str) -> list[int]:
        offsets = tokenizer.offsets([text[doc_id]])[0]
        return [start for start, _ in offsets] + [end for _, end in offsets[-1:]]

    return boundaries


def _qrels(
    spans: SpanQrels, table: ChunkTable, projection: Projection, left_out: Collection[str]
) -> ChunkQrels:
    """The grades of all chunks but for the queries that no mean counts: other tools would count them."""
    graded = project(spans, table, projection)
    counts = ~np.isin(np.array(spans.query_ids, dtype=np.str_), sorted(left_out))[graded.query]
    relevant = counts & (graded.grade > 0)
    stands_for = np.stack([graded.query[relevant], graded.evidence[relevant]], axis=1)
    pairs, times = np.unique(stands_for, axis=0, return_counts=True)
    return ChunkQrels(
        rows=[
            (spans.query_ids[query], table.chunk_ids[chunk], int(grade))
            for query, chunk, grade in zip(
                graded.query[counts], graded.chunk[counts], graded.grade[counts], strict=True
            )
        ],
        queries=len(np.unique(graded.query[relevant])),
        repeating=len(np.unique(pairs[times > 1, 0])),
    )
