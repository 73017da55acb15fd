"""Scores → tables on disk. Knows nothing of how they came about."""

from harness.report.cells import to_csv
from harness.report.history import name_of_earlier, past_runs, runs_table, same_result
from harness.report.label_note import label_note
from harness.report.offsets import CHUNK_OFFSETS, read_chunk_offsets
from harness.report.read import (
    StoredResult,
    read_first_passages,
    read_result,
    read_summary,
    read_table,
    read_waterfall,
)
from harness.report.render import FORMATS, Part, render
from harness.report.rows import (
    AnswerabilityRow,
    ChunkQrels,
    ChunkRow,
    CostRow,
    JudgmentRow,
    LabelSensitivityRow,
    PriceRow,
    RankedRow,
    Results,
    SeedRatioRow,
    SummaryRow,
    ThresholdRow,
    WaterfallRow,
)
from harness.report.summaries import (
    best_of,
    chunk_table,
    last_stages,
    loss_table,
    other_measures,
    summary_table,
    worst_table,
)
from harness.report.tables import FEWEST_FOR_INTERVAL, Table, counted
from harness.report.text import one_line_width, to_text, two_line_width
from harness.report.write import write_results

__all__ = [
    "CHUNK_OFFSETS",
    "FEWEST_FOR_INTERVAL",
    "FORMATS",
    "AnswerabilityRow",
    "ChunkQrels",
    "ChunkRow",
    "CostRow",
    "JudgmentRow",
    "LabelSensitivityRow",
    "Part",
    "PriceRow",
    "RankedRow",
    "Results",
    "SeedRatioRow",
    "StoredResult",
    "SummaryRow",
    "Table",
    "ThresholdRow",
    "WaterfallRow",
    "best_of",
    "chunk_table",
    "counted",
    "label_note",
    "last_stages",
    "loss_table",
    "name_of_earlier",
    "one_line_width",
    "other_measures",
    "past_runs",
    "read_chunk_offsets",
    "read_first_passages",
    "read_result",
    "read_summary",
    "read_table",
    "read_waterfall",
    "render",
    "runs_table",
    "same_result",
    "summary_table",
    "to_csv",
    "to_text",
    "two_line_width",
    "worst_table",
    "write_results",
]
