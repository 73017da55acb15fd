"""The rows of the tables, and all that one benchmark leaves behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.types import Chunk, ChunkHealth, Query, QueryScore, Ranking, RunRecord


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """The mean of one measure over the queries of a split.

    ``n_queries`` are the queries in the mean, ``n_unanswerable`` those left out of it for want of relevant
    text, ``n_failed`` those where something went wrong: no ranking (they score 0 and count), or text of their
    pool that the judge could not grade (they count, and that text is unjudged). Without a value, the mean is
    None; with a single query the interval is. ``judge`` names who graded.
    """

    setting: str
    stage: str
    split: str
    measure: str
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n_queries: int
    n_unanswerable: int
    n_failed: int
    judge: str = ""


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One ranked chunk.

    ``score`` None: the stage did not score the chunk, and left it where it stood. ``grade`` None: unjudged.
    ``earned``: the grade, or 0 where its evidence was already read above it.
    """

    setting: str
    stage: str
    query_id: str
    rank: int
    chunk_id: str
    document: str
    page: int | None
    score: float | None
    grade: int | None
    earned: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunkQrels:
    """The grades of one chunking's chunks, as (query, chunk, grade) rows.

    Of ``queries`` with a relevant chunk, ``repeating`` have several that stand for one evidence. TREC qrels
    cannot say so: other tools count each of them, we count the evidence once.
    """

    rows: list[tuple[str, str, int]]
    queries: int
    repeating: int


@dataclass(frozen=True, slots=True)
class JudgmentRow:
    """One graded span. ``grade`` None: not scored, for the ``reason``.

    Spans of a query with one ``evidence`` name, unless it is '', are copies of one fact.

    ``scored_on``: the settings are scored on it; False for human labels that only stand beside a judge's.
    ``samples`` are the grades that were combined, ``spread`` their range; ``cost`` None: unknown.
    """

    query_id: str
    document: str
    start: int
    end: int
    page: int | None
    evidence: str
    answer: str  # the part of the span that answers, as start-end; '' for all of it
    grade: int | None
    reason: str
    judge: str
    scored_on: bool
    samples: str
    spread: int
    cost: float | None
    text: str


@dataclass(frozen=True, slots=True)
class CostRow:
    """What the judgments that one setting uses have cost; None: unknown.

    ``cost_alone`` is what it would have cost by itself; ``cost_shared`` splits each judgment among the
    settings that use it and adds up to the bill.
    """

    setting: str
    judgments: int
    cost_alone: float | None
    cost_shared: float | None


@dataclass(frozen=True, slots=True)
class SeedRatioRow:
    """The seed ratio of one ranking, which is *not* NDCG; None where it is undefined, for the ``reason``."""

    setting: str
    stage: str
    query_id: str
    split: str
    depth: int
    seed_ratio: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerabilityRow:
    """The chance that an answerable query has a higher top score than an unanswerable one (AUROC).

    ``remark`` says where it comes from too few queries to mean much.
    """

    setting: str
    stage: str
    auroc: float
    ci_low: float | None
    ci_high: float | None
    n_answerable: int
    n_unanswerable: int
    remark: str = ""


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """Answering only where the top score reaches ``threshold``: the shares kept and rightly refused."""

    setting: str
    stage: str
    threshold: float
    answerable_kept: float
    unanswerable_refused: float


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """What each stage costs one query of a setting, in units of ``measure``, from 1 down to ``final``.

    ``1 - (parser + chunking + retriever + ranking + reranker) == final``, within rounding; the reranker's
    loss is negative where it gained. ``blame`` names the stage that cost most, '' where nothing was lost.
    """

    setting: str
    query_id: str
    split: str
    measure: str
    parser: float
    chunking: float
    retriever: float
    ranking: float
    reranker: float
    final: float
    blame: str


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """The health of one setting's chunks."""

    setting: str
    health: ChunkHealth


@dataclass(frozen=True, slots=True)
class PriceRow:
    """What one setting and stage costs, beside its ``mean`` of ``measure``. See docs/results.md.

    ``k`` None: the whole ranking, whose mean length is ``characters_ranked``. ``tokens_per_point`` None: the
    mean is 0 or missing; ``judge_cost`` None: no judge, or an unknown price. The seconds a setting took
    belong to one run, and stand in its record.
    """

    setting: str
    stage: str
    k: int | None
    measure: str
    mean: float | None
    characters_ranked: float
    tokens_at_k: float
    tokens_per_point: float | None
    index_tokens: int
    rerank_pairs: int
    rerank_tokens: int
    judge_cost: float | None


@dataclass(frozen=True, slots=True)
class LabelSensitivityRow:
    """The ``mean`` of a setting with the ``labels`` drawn in one way; see docs/results.md.

    ``label_p50`` is the median length of a relevant label in characters.
    """

    setting: str
    stage: str
    measure: str
    labels: str
    label_p50: float
    mean: float | None
    n_queries: int


@dataclass(frozen=True, slots=True)
class Results:
    """What is written to ``results/<name>/``.

    ``runs`` maps (setting, stage) to its rankings, ``qrels`` a setting to its chunks' grades;
    ``anchorings`` and ``documents`` are rows of plain values with equal keys. ``costs`` is empty where
    nothing was bought, ``seed_ratios`` where they were not asked for, ``answerability`` and ``thresholds``
    where all queries are answerable, ``waterfall`` where no query has relevant text, ``label_sensitivity``
    where no measure reads a length of text. ``extras`` maps query ids to what the query file says besides,
    ``clusters`` to what a query is tested with. ``verdict`` is the verdict as plain values, with its
    ``sentences``. ``cut`` maps a setting to a name of its chunking, which settings with the same chunks
    share, and to these.
    """

    name: str
    queries: tuple[Query, ...]
    summary: list[SummaryRow]
    per_query: list[QueryScore]
    ranked: list[RankedRow]
    runs: dict[tuple[str, str], list[Ranking]]
    qrels: dict[str, ChunkQrels]
    anchorings: list[dict[str, Any]]
    documents: list[dict[str, Any]]
    record: RunRecord
    judgments: Sequence[JudgmentRow] = ()
    costs: list[CostRow] = field(default_factory=list)
    seed_ratios: list[SeedRatioRow] = field(default_factory=list)
    answerability: list[AnswerabilityRow] = field(default_factory=list)
    thresholds: list[ThresholdRow] = field(default_factory=list)
    waterfall: list[WaterfallRow] = field(default_factory=list)
    chunks: list[ChunkRow] = field(default_factory=list)
    prices: list[PriceRow] = field(default_factory=list)
    label_sensitivity: list[LabelSensitivityRow] = field(default_factory=list)
    extras: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    verdict: Mapping[str, Any] = field(default_factory=dict)
    cut: Mapping[str, tuple[str, Sequence[Chunk]]] = field(default_factory=dict)
