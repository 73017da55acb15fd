"""Compare settings by query: which is best, by how much, is it real, where is quality lost.

Everything starts from a ``ScoreMatrix``, settings × queries of one measure. ``stored`` reads it from folders
of results, of rankings and answers alike; ``paired`` compares its rows in one ``joint_test``; ``scores`` and
``conclusions`` come to the ``verdict``; ``words`` and ``tables`` show it. docs/statistics.md says which
method is used for what, docs/calibration.md how well it keeps its promises.
"""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.comparison.answer_faults import explained_alone, fault_sentence
    from harness.comparison.caveats import filter_table, warnings_of
    from harness.comparison.conclusions import conclude
    from harness.comparison.design import design_in
    from harness.comparison.doubted_judge import ALSO_RANK, KAPPAS_IN_STUDIES, JudgeDoubt, judge_doubt
    from harness.comparison.factors import effects_of
    from harness.comparison.gate_words import gate_sentence
    from harness.comparison.gating import GateResult, gate, github_annotations, junit
    from harness.comparison.glance import COLUMNS, LINES, glance_json, glance_lines
    from harness.comparison.glance_svg import svg_of
    from harness.comparison.label_sensitivity import LabelSensitivity, sensitivity_of
    from harness.comparison.matrix import ScoredOn, ScoreMatrix, from_rows, join, names_of
    from harness.comparison.next_steps import depth_key, steps_of
    from harness.comparison.page_columns import board_columns
    from harness.comparison.paired import Comparison, Options, compare_changes, compare_to, mean_of, reranked
    from harness.comparison.phrases import finding_words
    from harness.comparison.pull_request import comment_on, comment_without_baseline, marker
    from harness.comparison.runs import MOST_LOST, RunComparison, compare_runs, renamed, run_parts
    from harness.comparison.scores import (
        Scores,
        chunkings_of,
        headline_of,
        loss_measure,
        options_of,
        refuse_no_quality,
        verdict_of,
    )
    from harness.comparison.sentences import sentence
    from harness.comparison.staged import SeenStage, StagedBounds, ending_early, shown_worse, staged_bounds
    from harness.comparison.stats import Interval, bootstrap, guarded_pair, jackknife
    from harness.comparison.stored import Stored, measure_to_take, read_answers_of, read_stored, scores_of
    from harness.comparison.stored_answers import (
        answer_lines,
        answers_to_take,
        brief_verdict,
        common_answer_measure,
        rankings_line,
        untested_answers,
        verdict_of_result,
        verdict_on,
        verdict_on_answers,
    )
    from harness.comparison.sweep import marks_in, routes_in_words
    from harness.comparison.tables import (
        changed_table,
        compared_parts,
        cut_differently,
        label_parts,
        names_table,
        reranked_table,
    )
    from harness.comparison.trend import find_results, read_trends
    from harness.comparison.trend_chart import trend_page, trend_svg, trend_table
    from harness.comparison.verdict import LABELS, Grounds, Verdict
    from harness.comparison.verdict_parts import (
        ENOUGH_READ,
        Costs,
        Effect,
        Effects,
        Holes,
        IndexingCost,
        Loss,
        Standing,
        Trust,
    )
    from harness.comparison.wordings import MOST_WORDS, sentence_of
    from harness.comparison.words import lines_of, sentences_of, verdict_json, warning_lines
else:
    __getattr__ = door(
        __name__,
        {
            "harness.comparison.answer_faults": "explained_alone fault_sentence",
            "harness.comparison.caveats": "filter_table warnings_of",
            "harness.comparison.conclusions": "conclude",
            "harness.comparison.design": "design_in",
            "harness.comparison.doubted_judge": "ALSO_RANK JudgeDoubt KAPPAS_IN_STUDIES judge_doubt",
            "harness.comparison.factors": "effects_of",
            "harness.comparison.gate_words": "gate_sentence",
            "harness.comparison.gating": "GateResult gate github_annotations junit",
            "harness.comparison.glance": "COLUMNS LINES glance_json glance_lines",
            "harness.comparison.glance_svg": "svg_of",
            "harness.comparison.label_sensitivity": "LabelSensitivity sensitivity_of",
            "harness.comparison.matrix": "ScoreMatrix ScoredOn from_rows join names_of",
            "harness.comparison.next_steps": "depth_key steps_of",
            "harness.comparison.page_columns": "board_columns",
            "harness.comparison.paired": "Comparison Options compare_changes compare_to mean_of reranked",
            "harness.comparison.phrases": "finding_words",
            "harness.comparison.pull_request": "comment_on comment_without_baseline marker",
            "harness.comparison.runs": "MOST_LOST RunComparison compare_runs renamed run_parts",
            "harness.comparison.scores": (
                "Scores chunkings_of headline_of loss_measure options_of refuse_no_quality verdict_of"
            ),
            "harness.comparison.sentences": "sentence",
            "harness.comparison.staged": "SeenStage StagedBounds ending_early shown_worse staged_bounds",
            "harness.comparison.stats": "Interval bootstrap guarded_pair jackknife",
            "harness.comparison.stored": "Stored measure_to_take read_answers_of read_stored scores_of",
            "harness.comparison.stored_answers": (
                "answer_lines answers_to_take brief_verdict common_answer_measure rankings_line "
                "untested_answers verdict_of_result verdict_on verdict_on_answers"
            ),
            "harness.comparison.sweep": "marks_in routes_in_words",
            "harness.comparison.tables": (
                "changed_table compared_parts cut_differently label_parts names_table reranked_table"
            ),
            "harness.comparison.trend": "find_results read_trends",
            "harness.comparison.trend_chart": "trend_page trend_svg trend_table",
            "harness.comparison.verdict": "Grounds LABELS Verdict",
            "harness.comparison.verdict_parts": (
                "Costs ENOUGH_READ Effect Effects Holes IndexingCost Loss Standing Trust"
            ),
            "harness.comparison.wordings": "MOST_WORDS sentence_of",
            "harness.comparison.words": "lines_of sentences_of verdict_json warning_lines",
        },
    )
