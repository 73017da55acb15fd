"""Scores → tables on disk, independent of how they were computed."""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.report.history import name_of_earlier, outcome_of, past_runs, runs_table, same_result
    from harness.report.loss_tables import (
        answer_loss_table,
        answer_table,
        is_route,
        loss_table,
        losses_by_query,
        lost_by,
        worst_table,
    )
    from harness.report.page.build import Page, build_page, colours
    from harness.report.page.detail import Detail, passages_detail
    from harness.report.page.page_tables import Axes, Tables, figure, read_tables
    from harness.report.page.payload import base_payload, with_detail
    from harness.report.plain_table import Table, in_words, one_line_width, two_line_width
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
    from harness.report.rendering import Part, in_markdown, render, to_csv
    from harness.report.rows.answer_rows import (
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
    from harness.report.rows.ranking_rows import (
        AskedRow,
        PassageRow,
        RankedRow,
        SurroundingRow,
        TokenStartRow,
        spans_of_chunk,
    )
    from harness.report.rows.score_rows import (
        WHY,
        AnswerabilityRow,
        LabelSensitivityRow,
        QueryRow,
        ReadingRow,
        ScoreRow,
        SeedRatioRow,
        SummaryRow,
        ThresholdRow,
        left_out_words,
    )
    from harness.report.rows.step_rows import (
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
    from harness.report.rows.tuned_rows import DroppedRow
    from harness.report.scoring_inputs import (
        SCORED_FROM,
        ScoringInputs,
        documents_ranked,
        lacking_inputs,
        read_chunk_offsets,
        read_graded_spans,
        read_scoring_inputs,
    )
    from harness.report.stored_tables import PICTURE, RECORD, REPORT, Row, read_as, read_rows
    from harness.report.summaries import (
        best_of,
        chunk_table,
        dropped_table,
        label_note,
        last_stages,
        lost_label_note,
        other_measures,
        seed_ratio_lines,
        summary_table,
    )
    from harness.report.table_spec import TABLES, spec_of
    from harness.report.write import (
        PASSAGE_RANKS,
        ChunkQrels,
        Results,
        strictly_falling,
        trec_qrels,
        trec_run,
        write_results,
        write_scored_answers,
        write_table,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "harness.report.history": "name_of_earlier outcome_of past_runs runs_table same_result",
            "harness.report.loss_tables": (
                "answer_loss_table answer_table is_route loss_table losses_by_query lost_by worst_table"
            ),
            "harness.report.page.build": "Page build_page colours",
            "harness.report.page.detail": "Detail passages_detail",
            "harness.report.page.page_tables": "Axes Tables figure read_tables",
            "harness.report.page.payload": "base_payload with_detail",
            "harness.report.plain_table": "Table in_words one_line_width two_line_width",
            "harness.report.read": (
                "StoredResult cells_of read_any read_expected read_first_passages read_result read_summary "
                "read_table"
            ),
            "harness.report.rendering": "Part in_markdown render to_csv",
            "harness.report.rows.answer_rows": (
                "ADDS ANSWER_PARTS AnswerLossRow AnswerScoreRow AnswerSummaryRow CONTRADICTS CUT LEFT_OUT "
                "NOT_EXTRACTED NOT_FOUND ReplyPassageRow ReplyRow SOMETHING_ELSE TOO_LOW WITHOUT"
            ),
            "harness.report.rows.labels": "AnchoringRow DocumentRow HitRow JudgmentRow",
            "harness.report.rows.prices": "CostRow LatencyRow PriceRow",
            "harness.report.rows.ranking_rows": (
                "AskedRow PassageRow RankedRow SurroundingRow TokenStartRow spans_of_chunk"
            ),
            "harness.report.rows.score_rows": (
                "AnswerabilityRow LabelSensitivityRow QueryRow ReadingRow ScoreRow SeedRatioRow SummaryRow "
                "ThresholdRow WHY left_out_words"
            ),
            "harness.report.rows.step_rows": (
                "CANDIDATES CHANGE CHUNKING ChunkRow FILTER FilterCounts FilterRow LossRow ORDER PARSER "
                "RouteRow count_filters part_in_words"
            ),
            "harness.report.rows.tuned_rows": "DroppedRow",
            "harness.report.scoring_inputs": (
                "SCORED_FROM ScoringInputs documents_ranked lacking_inputs read_chunk_offsets "
                "read_graded_spans read_scoring_inputs"
            ),
            "harness.report.stored_tables": "PICTURE RECORD REPORT Row read_as read_rows",
            "harness.report.summaries": (
                "best_of chunk_table dropped_table label_note last_stages lost_label_note other_measures "
                "seed_ratio_lines summary_table"
            ),
            "harness.report.table_spec": "TABLES spec_of",
            "harness.report.write": (
                "ChunkQrels PASSAGE_RANKS Results strictly_falling trec_qrels trec_run write_results "
                "write_scored_answers write_table"
            ),
        },
    )
