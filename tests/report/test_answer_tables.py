"""The tables about answers that a run prints."""

from harness.report.losses import answer_loss_table, answer_tables
from harness.report.rows.answers import AnswerLossRow, AnswerSummaryRow, ReplyRow


def reply(setting, query_id, reason=""):
    return ReplyRow(
        setting, query_id, "train", "m", "" if reason else "x", reason, "", 1, 0, None, None, None, None
    )


def summary(setting, measure, mean, n, missing, reasons=""):
    return AnswerSummaryRow(setting, "all", measure, mean, 0.1, 0.9, n, missing, reasons)


def test_without_answers_there_is_no_table():
    assert list(answer_tables([], [])) == []


def test_means_are_next_to_how_much_was_answered_and_what_is_not_scored_is_reported():
    replies = [reply("a", f"q{i}", "refusal" if i == 0 else "") for i in range(6)]
    rows = [summary("a", "f1", 0.5, 5, 1, "failed x1"), summary("a", "em", None, 0, 6, "no golden x6")]
    (table,) = answer_tables(rows, replies)
    assert table.columns == ("setting", "answered", "f1", "em")
    assert table.rows == (("a", "5 of 6", "0.500 (0.100–0.900)", "–"),)
    assert table.notes == (
        "Not scored, and not in the mean of f1: 1 (failed x1).",
        "Not scored, and not in the mean of em: 6 (no golden x6).",
    )


def test_means_over_different_questions_are_marked_as_not_comparable():
    replies = [reply(setting, "q1") for setting in ("a", "b")]
    rows = [
        summary("a", "cites", 1.0, 2, 8, "nothing read x8"),
        summary("b", "cites", 0.5, 9, 1, "nothing read x1"),
        summary("a", "f1", 0.5, 9, 1, "no golden x1"),
        summary("b", "f1", 0.6, 9, 1, "no golden x1"),
    ]
    (table,) = answer_tables(rows, replies)
    assert table.notes == (
        "Not scored, and not in the mean of cites: 1 to 8 (nothing read x8).",
        "Not scored, and not in the mean of f1: 1 (no golden x1).",
        "Means of cites are over different questions: harness compare takes those for which all settings "
        "have a value.",
    )


def test_losses_are_means_and_the_best_setting_is_first():
    rows = [
        AnswerLossRow(setting, q, "train", "token_f1", part, loss, left)
        for setting, q, part, loss, left in (
            ("a", "q1", "not found", 0.6, 0.4),
            ("a", "q2", "not found", 0.2, 0.8),
            ("a", "q1", "without evidence", 0.0, 0.4),
            ("a", "q2", "without evidence", -0.1, 0.9),
            ("b", "q1", "not found", 0.1, 0.9),
            ("b", "q1", "without evidence", 0.0, 0.9),
        )
    ]
    table = answer_loss_table(rows)
    assert table.columns == ("setting", "not found", "without evidence", "left")
    # a: (0.6 + 0.2) / 2 lost, 0.05 earned back
    assert table.rows == (("b", "0.100", "0.000", "0.900"), ("a", "0.400", "-0.050", "0.650"))
    assert table.notes == ("A loss below 0 means that answers are right without the evidence.",)
