"""Whether scores tell answerable queries from others, and the seed ratio."""

from __future__ import annotations

from typing import Annotated

from harness.report.columns import table
from harness.report.rows.common import CiHigh, CiLow, QueryId, QuerySplit, Setting, Stage
from harness.values import Column


@table(
    "answerability",
    "does the top score show whether there is an answer?",
    key=("setting", "stage"),
    when="if some queries have no answer",
)
class AnswerabilityRow:
    """How well the top score of a ranking tells answerable from unanswerable queries."""

    setting: Setting
    stage: Stage
    auroc: Annotated[
        float, Column("the chance that an answerable query has a higher top score than an unanswerable one")
    ]
    ci_low: CiLow
    ci_high: CiHigh
    n_answerable: Annotated[int, Column("answerable queries")]
    n_unanswerable: Annotated[int, Column("unanswerable queries")]
    remark: Annotated[str, Column("a note where either group has fewer than five queries")] = ""


@table("thresholds", "answering only from a given score upwards", when="if some queries have no answer")
class ThresholdRow:
    """The effect of answering only queries whose top score reaches a threshold."""

    setting: Setting
    stage: Stage
    threshold: Annotated[float, Column("the lowest top score that is answered")]
    answerable_kept: Annotated[float, Column("the share of answerable queries that are answered")]
    unanswerable_refused: Annotated[float, Column("the share of unanswerable queries that are not answered")]


@table(
    "seed_ratio",
    "not NDCG",
    key=("setting", "stage", "query_id"),
    when="where `relevance: {seed_ratio: 5}` asks for it",
)
class SeedRatioRow:
    """The seed ratio of one ranking, which is *not* NDCG; docs/conventions.md says what it is worth."""

    setting: Setting
    stage: Stage
    query_id: QueryId
    split: QuerySplit
    depth: Annotated[int, Column("how many ranks")]
    seed_ratio: Annotated[float | None, Column("the ratio; empty where it is undefined")]
    reason: Annotated[str, Column("why it is undefined")]
