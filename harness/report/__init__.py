"""Scores → tables on disk. Knows nothing of how they came about."""

from harness.report.cells import to_csv
from harness.report.expected import read_expected
from harness.report.filters import FilterCounts, count_filters
from harness.report.frames import read_table
from harness.report.history import name_of_earlier, past_runs, runs_table, same_result
from harness.report.label_note import label_note
from harness.report.losses import is_route, loss_table, worst_table
from harness.report.offsets import CHUNK_OFFSETS, read_chunk_offsets
from harness.report.read import (
    StoredResult,
    cells_of,
    read_any,
    read_first_passages,
    read_result,
    read_summary,
)
from harness.report.render import FORMATS, Part, render
from harness.report.results import ChunkQrels, Results
from harness.report.rows import (
    AnchoringRow,
    AnswerabilityRow,
    AskedRow,
    ChunkRow,
    CostRow,
    DocumentRow,
    FilterRow,
    HitRow,
    JudgmentRow,
    LabelSensitivityRow,
    LatencyRow,
    LossRow,
    PriceRow,
    RankedRow,
    RouteRow,
    SeedRatioRow,
    SummaryRow,
    ThresholdRow,
)
from harness.report.rows.losses import CANDIDATES, CHANGE, CHUNKING, FILTER, ORDER, PARSER
from harness.report.summaries import best_of, chunk_table, last_stages, other_measures, summary_table
from harness.report.tables import FEWEST_FOR_INTERVAL, Table, counted
from harness.report.text import one_line_width, to_text, two_line_width
from harness.report.write import write_results

__all__ = [
    "CANDIDATES",
    "CHANGE",
    "CHUNKING",
    "CHUNK_OFFSETS",
    "FEWEST_FOR_INTERVAL",
    "FILTER",
    "FORMATS",
    "ORDER",
    "PARSER",
    "AnchoringRow",
    "AnswerabilityRow",
    "AskedRow",
    "ChunkQrels",
    "ChunkRow",
    "CostRow",
    "DocumentRow",
    "FilterCounts",
    "FilterRow",
    "HitRow",
    "JudgmentRow",
    "LabelSensitivityRow",
    "LatencyRow",
    "LossRow",
    "Part",
    "PriceRow",
    "RankedRow",
    "Results",
    "RouteRow",
    "SeedRatioRow",
    "StoredResult",
    "SummaryRow",
    "Table",
    "ThresholdRow",
    "best_of",
    "cells_of",
    "chunk_table",
    "count_filters",
    "counted",
    "is_route",
    "label_note",
    "last_stages",
    "loss_table",
    "name_of_earlier",
    "one_line_width",
    "other_measures",
    "past_runs",
    "read_any",
    "read_chunk_offsets",
    "read_expected",
    "read_first_passages",
    "read_result",
    "read_summary",
    "read_table",
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
