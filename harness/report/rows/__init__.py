"""The tables of a result: each is declared once, as the dataclass of its rows; see `harness.report.columns`.

A new table is a class in one of these modules, and something that makes its rows.
"""

# ruff: noqa: I001 - in the order of docs/results.md
from harness.report.rows.scores import LabelSensitivityRow, QueryRow, ScoreRow, SummaryRow
from harness.report.rows.ranked import AskedRow, ChunkOffsetRow, PassageRow, RankedRow, SurroundingRow
from harness.report.rows.steps import FilterRow, LossRow, RouteRow
from harness.report.rows.chunks import ChunkRow
from harness.report.rows.prices import CostRow, LatencyRow, PriceRow
from harness.report.rows.labels import AnchoringRow, DocumentRow, HitRow, JudgmentRow
from harness.report.rows.answerability import AnswerabilityRow, SeedRatioRow, ThresholdRow
from harness.report.rows.answers import (
    AnswerComparisonRow,
    AnswerLossRow,
    AnswerPredictionRow,
    AnswerScoreRow,
    AnswerSummaryRow,
    ReplyPassageRow,
    ReplyRow,
)
