"""Scores → tables on disk, independent of how they were computed."""

from harness.report.by_labels import ByLabels, read_by_labels
from harness.report.cells import to_csv
from harness.report.expected import read_expected
from harness.report.history import name_of_earlier, past_runs, runs_table, same_result
from harness.report.losses import is_route, loss_table, worst_table
from harness.report.read import (
    StoredResult,
    cells_of,
    read_any,
    read_first_passages,
    read_result,
    read_summary,
    read_table,
)
from harness.report.render import Part, render
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
    SurroundingRow,
    ThresholdRow,
)
from harness.report.rows.ranked import spans_of_chunk
from harness.report.rows.steps import (
    CANDIDATES,
    CHANGE,
    CHUNKING,
    FILTER,
    ORDER,
    PARSER,
    FilterCounts,
    count_filters,
)
from harness.report.scoring_inputs import read_chunk_offsets
from harness.report.summaries import (
    best_of,
    chunk_table,
    label_note,
    last_stages,
    other_measures,
    summary_table,
)
from harness.report.tables import Table
from harness.report.text import one_line_width, two_line_width
from harness.report.write import PASSAGE_RANKS, ChunkQrels, Results, write_results
from harness.values.text.numbers import FEWEST_FOR_INTERVAL, counted
