"""Scores → tables on disk, independent of how they were computed."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.report.columns import spec_of
    from harness.report.history import name_of_earlier, past_runs, runs_table, same_result
    from harness.report.losses import (
        answer_loss_table,
        answer_table,
        is_route,
        loss_table,
        lost_by,
        worst_table,
    )
    from harness.report.page.build import Page, build_page, colours
    from harness.report.page.factors import size_of
    from harness.report.page.tables import Axes, Tables, figure, read_tables
    from harness.report.read import (
        StoredResult,
        cells_of,
        read_any,
        read_expected,
        read_first_passages,
        read_result,
        read_summary,
        read_table,
    )
    from harness.report.rendering import Part, render, to_csv
    from harness.report.rows.answers import (
        ADDS,
        ANSWER_PARTS,
        CONTRADICTS,
        CUT,
        LEFT_OUT,
        NOT_EXTRACTED,
        NOT_FOUND,
        SOMETHING_ELSE,
        TOO_LOW,
        WITHOUT,
        AnswerLossRow,
        AnswerScoreRow,
        AnswerSummaryRow,
        ReplyPassageRow,
        ReplyRow,
    )
    from harness.report.rows.labels import AnchoringRow, DocumentRow, HitRow, JudgmentRow
    from harness.report.rows.prices import CostRow, LatencyRow, PriceRow
    from harness.report.rows.ranked import AskedRow, PassageRow, RankedRow, SurroundingRow, spans_of_chunk
    from harness.report.rows.scores import (
        WHY,
        AnswerabilityRow,
        LabelSensitivityRow,
        QueryRow,
        ScoreRow,
        SeedRatioRow,
        SummaryRow,
        ThresholdRow,
        left_out_words,
    )
    from harness.report.rows.steps import (
        CANDIDATES,
        CHANGE,
        CHUNKING,
        FILTER,
        ORDER,
        PARSER,
        ChunkRow,
        FilterCounts,
        FilterRow,
        LossRow,
        RouteRow,
        count_filters,
        part_in_words,
    )
    from harness.report.scoring_inputs import (
        ScoringInputs,
        read_chunk_offsets,
        read_graded_spans,
        read_scoring_inputs,
    )
    from harness.report.stored import PICTURE, RECORD, REPORT, Row
    from harness.report.summaries import (
        best_of,
        chunk_table,
        label_note,
        last_stages,
        lost_label_note,
        other_measures,
        summary_table,
    )
    from harness.report.tables import Table, in_words, one_line_width, two_line_width
    from harness.report.write import PASSAGE_RANKS, ChunkQrels, Results, trec_qrels, write_results
else:
    __getattr__ = door(__name__, __file__)
