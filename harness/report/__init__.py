"""Scores → tables on disk. Knows nothing of how they came about."""

from harness.report.cells import to_csv
from harness.report.read import StoredResult, read_result
from harness.report.rows import (
    AnswerabilityRow,
    ChunkQrels,
    CostRow,
    JudgmentRow,
    RankedRow,
    Results,
    SeedRatioRow,
    SummaryRow,
    ThresholdRow,
)
from harness.report.write import read_summary, write_results

__all__ = [
    "AnswerabilityRow",
    "ChunkQrels",
    "CostRow",
    "JudgmentRow",
    "RankedRow",
    "Results",
    "SeedRatioRow",
    "StoredResult",
    "SummaryRow",
    "ThresholdRow",
    "read_result",
    "read_summary",
    "to_csv",
    "write_results",
]
