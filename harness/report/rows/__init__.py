"""The tables of a result: each is declared once, as the dataclass of its rows; see `harness.report.columns`.

A new table is a class in one of these modules, and something that makes its rows.
"""

# ruff: noqa: I001 - in the order of docs/results.md
from harness.report.rows.scores import QueryRow, ScoreRow, SummaryRow
from harness.report.rows.ranked import AskedRow, ChunkOffsetRow, PassageRow, RankedRow, SurroundingRow
from harness.report.rows.filters import FilterRow
from harness.report.rows.losses import LossRow
from harness.report.rows.routes import RouteRow
from harness.report.rows.chunks import ChunkRow
from harness.report.rows.sensitivity import LabelSensitivityRow
from harness.report.rows.prices import CostRow, PriceRow
from harness.report.rows.latency import LatencyRow
from harness.report.rows.labels import AnchoringRow, DocumentRow, HitRow, JudgmentRow
from harness.report.rows.answers import AnswerabilityRow, SeedRatioRow, ThresholdRow
from harness.report.rows.replies import (
    AnswerComparisonRow,
    AnswerScoreRow,
    AnswerSummaryRow,
    ReplyPassageRow,
    ReplyRow,
)
from harness.report.rows.answer_losses import AnswerLossRow
from harness.report.rows.prediction import AnswerPredictionRow
