"""A searched setting and its scorer → rows: values by query, means, ranked chunks, answerability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.comparison import Interval, mean_of, number
from harness.measures import UNJUDGED, Floats, Scorer, ScoreTable, seed_ratio, separation, thresholds
from harness.report import (
    WHY,
    AnswerabilityRow,
    ChunkQrels,
    RankedRow,
    SeedRatioRow,
    SummaryRow,
    ThresholdRow,
)
from harness.running.config.models import BenchConfig, RelevanceConfig
from harness.running.context import Context
from harness.running.judging.pool import Judged
from harness.running.search import Searched
from harness.values import (
    FEWEST_FOR_INTERVAL,
    NOT_SCORED,
    SPLITS,
    Document,
    Judgment,
    Query,
    QueryScore,
    Ranking,
    counted,
)

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
                _summary(
                    setting, stage, columns, scores, scorer, clusters, judged, why, config.bootstrap.level
                )
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
    level: float,
) -> Iterator[SummaryRow]:
    reason = np.array([why[query_id] for query_id in scores.query_ids])
    failed = ~scores.ranked | np.isin(scores.query_ids, sorted(judged.failed))
    for mean in means_by_split(columns, scorer.queries, clusters, level):
        out = ~scores.has_relevant & np.isnan(columns[mean.measure])
        left_out = Counter(reason[mean.rows][out[mean.rows]].tolist())
        yield SummaryRow(
            setting=setting,
            stage=stage,
            split=mean.split,
            measure=mean.measure,
            mean=number(mean.interval.value),
            ci_low=mean.interval.low,
            ci_high=mean.interval.high,
            n_queries=mean.interval.n,
            n_unanswerable=left_out["unanswerable"],
            n_ungraded=left_out["ungraded"],
            n_irrelevant=left_out["irrelevant"],
            n_failed=int(np.sum(failed[mean.rows])),
            judge=judged.judge,
        )


@dataclass(frozen=True, slots=True)
class SplitMean:
    """The mean of a measure over the queries of a split, which are at ``rows``."""

    split: str
    measure: str
    rows: list[int]
    interval: Interval


def means_by_split(
    values: Mapping[str, Floats], queries: Sequence[Query], clusters: Mapping[str, str], level: float
) -> Iterator[SplitMean]:
    """The mean of every measure, of rankings or answers, in every split and over all queries.

    ``values`` are [Q] by measure, NaN where there is none.
    """
    for split in (*SPLITS, ALL):
        rows = [row for row, query in enumerate(queries) if split in (ALL, query.split)]
        own = [clusters.get(queries[row].query_id, "") for row in rows]
        for measure, column in values.items():
            yield SplitMean(split, measure, rows, mean_of(column[rows], own, level))


def values_of(scores: Sequence[QueryScore]) -> Floats:
    """The values of scores, NaN where there is none."""
    return np.array([np.nan if score.value is None else score.value for score in scores], dtype=np.float64)


def _per_query(
    setting: str, stage: str, columns: Mapping[str, Floats], scores: ScoreTable
) -> Iterator[QueryScore]:
    for row, query_id in enumerate(scores.query_ids):
        for measure, values in columns.items():
            yield QueryScore(setting, stage, query_id, measure, number(values[row]))


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


def seed_ratios(
    setting: str, stage: str, ranked: Sequence[RankedRow], queries: Sequence[Query], depth: int
) -> list[SeedRatioRow]:
    """One row per query: the seeds n - 1, …, 0 of its first n chunks (at most ``depth``) over their grades.

    Undefined, with the reason, where nothing is ranked, a chunk is unjudged or the judge found nothing.
    """
    grades: dict[str, list[int | None]] = {query.query_id: [] for query in queries}
    for row in ranked:
        if row.rank <= depth:
            grades[row.query_id].append(row.grade)
    rows = []
    for query in queries:
        value, reason = _ratio(grades[query.query_id])
        rows.append(SeedRatioRow(setting, stage, query.query_id, query.split, depth, value, reason))
    return rows


def _ratio(grades: Sequence[int | None]) -> tuple[float | None, str]:
    judged = [grade for grade in grades if grade is not None]
    if not grades:
        return None, "no ranking"
    if len(judged) < len(grades):
        return None, f"{len(grades) - len(judged)} of {len(grades)} chunks are not judged"
    if not any(judged):
        return None, "nothing relevant"
    return seed_ratio(np.arange(len(judged))[::-1], np.array(judged)), ""


def answerability(
    setting: str,
    stage: str,
    rankings: Sequence[Ranking],
    answerable: Mapping[str, bool],
    config: BenchConfig,
) -> tuple[list[AnswerabilityRow], list[ThresholdRow]]:
    """The AUROC of the top scores of one stage, and the effect of every threshold on them.

    Both are empty if all queries are answerable or none is. A query without a ranking has no top score
    and takes no part, nor has one whose ranks came without scores.
    """
    tops = [
        (ranking.scores[0], answerable[ranking.query_id])
        for ranking in rankings
        if ranking.scores and ranking.scores[0] != NOT_SCORED
    ]
    yes = np.array([score for score, has_answer in tops if has_answer])
    no = np.array([score for score, has_answer in tops if not has_answer])
    bootstrap = config.bootstrap
    found = separation(yes, no, bootstrap.seed, bootstrap.resamples, bootstrap.level)
    if found is None:
        return [], []
    head = AnswerabilityRow(
        setting,
        stage,
        found.auroc,
        found.low,
        found.high,
        found.n_answerable,
        found.n_unanswerable,
        _remark(found.n_answerable, found.n_unanswerable),
    )
    table = thresholds(yes, no)
    rows = [
        ThresholdRow(setting, stage, float(threshold), float(kept), float(refused))
        for threshold, kept, refused in zip(
            table.threshold, table.answerable_kept, table.unanswerable_refused, strict=True
        )
    ]
    return [head], rows


def _remark(answerable: int, unanswerable: int) -> str:
    """A remark on a figure from too few queries for an interval."""
    sides = {"answerable query": answerable, "unanswerable query": unanswerable}
    few = [counted(n, one, f"{one[:-1]}ies") for one, n in sides.items() if n < FEWEST_FOR_INTERVAL]
    return f"from only {' and '.join(few)}" if few else ""


def reasons(queries: Sequence[Query], judgments: Iterable[Judgment]) -> dict[str, str]:
    """The reason for every query, should it have no relevant text; ``queries`` as their file has them."""
    graded = {judgment.query_id for judgment in judgments if judgment.grade is not None}
    return {
        query.query_id: "unanswerable"
        if not query.answerable
        else "irrelevant"
        if query.query_id in graded
        else "ungraded"
        for query in queries
    }


def left_out(
    queries: Sequence[Query], judgments: Sequence[Judgment], relevance: RelevanceConfig
) -> Mapping[str, int]:
    """How many queries are left out of means for each reason, none where they count as zero."""
    best: Counter[str] = Counter()
    for judgment in judgments:
        best[judgment.query_id] = max(best[judgment.query_id], judgment.grade or 0)
    why = reasons(queries, judgments)
    without = [
        why[query.query_id]
        for query in queries
        if not query.answerable or best[query.query_id] < relevance.answerable_from
    ]
    counts = Counter(without if relevance.unanswerable == "exclude" else ())
    return {name: counts[name] for name in WHY}
