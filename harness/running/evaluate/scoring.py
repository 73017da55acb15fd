"""A searched setting and its scorer → rows: values by query, means, ranked chunks, answerability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.comparison import Interval, mean_of
from harness.measures import (
    UNJUDGED,
    Floats,
    Scorer,
    ScoreTable,
    is_quality,
    judged_share,
    separation,
    thresholds,
)
from harness.report import (
    AnswerabilityRow,
    ChunkQrels,
    RankedRow,
    ScoreRow,
    SeedRatioRow,
    SummaryRow,
    ThresholdRow,
)
from harness.running.config.bootstrap import BootstrapConfig
from harness.running.config.models import BenchConfig
from harness.running.evaluate.seed_ratio import reranker_of, seed_ratio_rows
from harness.running.judging.judged import Judged
from harness.running.notes import RunNotes
from harness.running.pipeline import RETRIEVE
from harness.running.search import Searched
from harness.values import FEWEST_FOR_INTERVAL, NOT_SCORED, SPLITS, Document, Query, Ranking, counted, finite

ALL = "all"


@dataclass(frozen=True, slots=True)
class ScoredSetting:
    """The results of one setting: rows of the tables, and the grades of its chunks.

    ``judged`` has, by stage and depth (such as judged@10), the mean share of the first ranks that is judged.
    """

    summary: list[SummaryRow]
    per_query: list[ScoreRow]
    ranked: list[RankedRow]
    qrels: ChunkQrels
    more: list[SeedRatioRow | AnswerabilityRow | ThresholdRow]
    judged: dict[str, dict[str, float]]


def _shares(config: BenchConfig) -> list[str]:
    return sorted({judged_share(name) for name in config.measures if is_quality(name)})


def scored_by(config: BenchConfig) -> list[str]:
    """What rankings are scored by: the measures of a configuration, and how much is judged.

    The latter bears on every verdict, whatever the measures are.
    """
    return list(dict.fromkeys([*config.measures, *_shares(config)]))


@dataclass(frozen=True, slots=True)
class Scoring:
    """What the stages of all settings are scored with: the same queries and the same judged text."""

    judged: Judged
    # those of the chunks, by id
    documents: Mapping[str, Document]
    # what a query is tested with; intervals of means go by them
    clusters: Mapping[str, str]
    # for which reason a query has no relevant text, should it have none
    why: Mapping[str, str]
    config: BenchConfig
    notes: RunNotes

    def of(
        self, searched: Searched, scorer: Scorer, table: Callable[[str, Sequence[str]], ScoreTable]
    ) -> ScoredSetting:
        """The scores of every stage of a setting; ``table`` gives those of a stage by measures."""
        config, setting, queries = self.config, searched.setting.name, scorer.queries
        depth, zero = config.relevance.seed_ratio, config.relevance.unanswerable == "zero"
        counted = [query.query_id for query in queries if query.answerable or zero]
        # whether there is an answer to a query that nobody graded text for is not known
        counted_queries = [query for query in queries if self.why[query.query_id] != "ungraded"]
        scored = ScoredSetting([], [], [], _qrels(scorer, counted), [], {})
        retrieved: list[RankedRow] = []
        for stage, rankings in searched.rankings.items():
            with self.notes.timed("score"):
                scores = table(stage, scored_by(config))
                every = {measure.name: scores.values[:, at] for at, measure in enumerate(scores.measures)}
                columns = {name: every[name] for name in config.measures}
                scored.judged[stage] = {name: mean_of_known(every[name]) for name in _shares(config)}
                ranked = list(_ranked(searched, stage, scores, self.documents))
                if stage == RETRIEVE:
                    retrieved = ranked
                if depth is not None and stage == (reranker_of(searched) or RETRIEVE):
                    ratios = seed_ratio_rows(searched, retrieved, queries, depth)
                    scored.more.extend(ratios)
                    columns[f"seed_ratio@{depth}"] = values_of(row.seed_ratio for row in ratios)
                scored.summary.extend(self._summary(setting, stage, columns, scores, queries))
                scored.per_query.extend(
                    ScoreRow(
                        setting=setting,
                        stage=stage,
                        query_id=query.query_id,
                        split=query.split,
                        cluster=self.clusters.get(query.query_id, ""),
                        measure=measure,
                        value=finite(value),
                    )
                    for query, *values in zip(queries, *(of.tolist() for of in columns.values()), strict=True)
                    for measure, value in zip(columns, values, strict=True)
                )
                scored.ranked.extend(ranked)
                scored.more.extend(answerability(setting, stage, rankings, counted_queries, config.bootstrap))
        return scored

    def _summary(
        self,
        setting: str,
        stage: str,
        columns: Mapping[str, Floats],
        scores: ScoreTable,
        queries: Sequence[Query],
    ) -> Iterator[SummaryRow]:
        reason = np.array([self.why[query_id] for query_id in scores.query_ids])
        failed = ~scores.ranked | np.isin(scores.query_ids, sorted(self.judged.failed))
        level = self.config.bootstrap.level
        for split, measure, rows, mean in means_by_split(columns, queries, self.clusters, level):
            out = ~scores.has_relevant & np.isnan(columns[measure])
            left_out = Counter(reason[rows][out[rows]].tolist())
            yield SummaryRow(
                setting=setting,
                stage=stage,
                split=split,
                measure=measure,
                mean=finite(mean.value),
                ci_low=mean.low,
                ci_high=mean.high,
                n_queries=mean.n,
                n_unanswerable=left_out["unanswerable"],
                n_ungraded=left_out["ungraded"],
                n_irrelevant=left_out["irrelevant"],
                n_failed=int(np.sum(failed[rows])),
                judge=self.judged.judge,
            )


def means_by_split(
    values: Mapping[str, Floats], queries: Sequence[Query], clusters: Mapping[str, str], level: float
) -> Iterator[tuple[str, str, list[int], Interval]]:
    """The mean of every measure, of rankings or answers, in every split and over all queries.

    ``values`` are [Q] by measure, NaN where there is none. Each mean comes with its split, its measure and
    the rows of the queries of the split.
    """
    for split in (*SPLITS, ALL):
        rows = [row for row, query in enumerate(queries) if split in (ALL, query.split)]
        clusters_of_rows = [clusters.get(queries[row].query_id, "") for row in rows]
        for measure, column in values.items():
            yield split, measure, rows, mean_of(column[rows], clusters_of_rows, level)


def mean_of_known(values: Floats) -> float:
    """The mean of the values that are there; 1 where none is, as nothing is known to be unjudged."""
    defined = values[~np.isnan(values)]
    return round(float(defined.mean()), 4) if len(defined) else 1.0


def values_of(values: Iterable[float | None]) -> Floats:
    """Values as an array, NaN where there is none."""
    return np.array(list(values), dtype=np.float64)


def _ranked(
    searched: Searched, stage: str, scores: ScoreTable, documents: Mapping[str, Document]
) -> Iterator[RankedRow]:
    scores_of = {ranking.query_id: ranking.scores for ranking in searched.rankings[stage]}
    items = scores.items
    columns = (items.query, items.rank, items.chunk, items.grade, items.earned)
    # lists: an array makes each number anew as it is gone through
    for query, rank, row, grade, earned in zip(*(column.tolist() for column in columns), strict=True):
        query_id, chunk = scores.query_ids[query], searched.chunking.chunks[row]
        score = scores_of[query_id][rank - 1]
        yield RankedRow(
            setting=searched.setting.name,
            stage=stage,
            query_id=query_id,
            rank=rank,
            chunk_id=chunk.chunk_id,
            document=chunk.doc_id,
            page=documents[chunk.doc_id].page_of(chunk.start),
            score=None if score == NOT_SCORED else score,
            grade=None if grade == UNJUDGED else grade,
            earned=earned,
            text=chunk.text,
        )


def _qrels(scorer: Scorer, counted: Collection[str]) -> ChunkQrels:
    """The grades of all chunks, by query id, for the queries that means count: other tools count all."""
    graded, chunk_ids = scorer.grades, scorer.chunks.chunk_ids
    counts = np.isin(scorer.query_ids, list(counted))[graded.query]
    relevant = counts & (graded.grade > 0)
    stands_for = np.stack([graded.query[relevant], graded.evidence[relevant]], axis=1)
    pairs, times = np.unique(stands_for, axis=0, return_counts=True)
    columns = (column[counts].tolist() for column in (graded.query, graded.chunk, graded.grade))
    rows = [
        (scorer.query_ids[query], chunk_ids[chunk], grade)
        for query, chunk, grade in zip(*columns, strict=True)
    ]
    return ChunkQrels(
        rows=sorted(rows, key=lambda row: row[0]),
        queries=len(np.unique(graded.query[relevant])),
        repeating=len(np.unique(pairs[times > 1, 0])),
    )


def answerability(
    setting: str,
    stage: str,
    rankings: Sequence[Ranking],
    queries: Sequence[Query],
    bootstrap: BootstrapConfig,
) -> Iterator[AnswerabilityRow | ThresholdRow]:
    """The AUROC of the top scores of one stage, and the effect of every threshold on them.

    Neither is there if all ``queries`` are answerable or none is. A query without a ranking has no top score
    and takes no part, nor has one whose ranks came without scores, or that is not among ``queries``.
    """
    answerable = {query.query_id: query.answerable for query in queries}
    tops = [ranking for ranking in rankings if ranking.scores and ranking.scores[0] != NOT_SCORED]
    yes, no = (
        np.array([top.scores[0] for top in tops if answerable.get(top.query_id) is side])
        for side in (True, False)
    )
    separated = separation(yes, no, bootstrap.seed, bootstrap.resamples, bootstrap.level)
    if separated is None:
        return
    sides = {"answerable query": separated.n_answerable, "unanswerable query": separated.n_unanswerable}
    few = [counted(n, side, f"{side[:-1]}ies") for side, n in sides.items() if n < FEWEST_FOR_INTERVAL]
    yield AnswerabilityRow(
        setting,
        stage,
        separated.auroc,
        separated.low,
        separated.high,
        separated.n_answerable,
        separated.n_unanswerable,
        f"from only {' and '.join(few)}" if few else "",
    )
    for row in zip(*thresholds(yes, no), strict=True):
        yield ThresholdRow(setting, stage, *map(float, row))
