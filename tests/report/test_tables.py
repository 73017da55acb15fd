"""Tables as text: what fits is on one line, what does not on two, and nothing steers the terminal."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.report import (
    AnswerLossRow,
    AnswerSummaryRow,
    LossRow,
    ReplyRow,
    SummaryRow,
    Table,
    answer_loss_table,
    answer_table,
    loss_table,
    summary_table,
    worst_table,
)
from harness.report.plain_table import to_text
from harness.values import interval, number, signed


def summary(setting, n=20, mean=0.5, measures=("ndcg_exp@10", "map")):
    return [
        SummaryRow(setting, "retrieve", split, measure, mean, 0.4, 0.6, n, 0, 0, "human")
        for split in ("train", "validation", "all")
        for measure in measures
    ]


def test_settings_come_before_what_they_had_before_their_last_stage():
    rows = [*summary("a", mean=0.5), *(replace(row, stage="rerank", mean=0.4) for row in summary("a"))]
    table = summary_table("run", [*rows, *summary("b", mean=0.3)])
    assert [row[:2] for row in table.rows] == [("a", "rerank"), ("b", "retrieve"), ("a", "retrieve")]
    assert "are no settings" in table.notes[-1]
    assert not any("are no settings" in note for note in summary_table("run", summary("b")).notes)


def test_four_queries_are_too_few_for_an_interval_and_five_are_not():
    few, enough = (to_text(summary_table("run", summary("a", n))) for n in (4, 5))
    assert "0.400–0.600" not in few
    assert "too few queries for an interval" in few
    assert "0.400–0.600" in enough
    assert "too few" not in enough
    assert interval(None, 0.5, 100) == "–"


@given(st.text(max_size=40))
@settings(deadline=None)
def test_no_character_of_a_name_steers_the_terminal(name):
    text = to_text(Table(name, ("setting", "mean"), ((name, "1"),), notes=(name,)), 60)
    assert all(c == "\n" or c.isprintable() or c in "\u200c\u200d" for c in text)


def test_what_rounds_to_zero_has_no_sign():
    shown = [signed(value) for value in (0.0004, -0.0004, 0.001, -0.25)]
    assert shown == ["0.000", "0.000", "+0.001", "-0.250"]
    assert (number(-0.0004), number(-0.0006), number(None)) == ("0.000", "-0.001", "–")


def losses(query, final, setting="a", parser=0.0):
    """All that is lost is lost by the parser and the candidates."""
    places = [("parse", "parser"), ("chunk", "chunking"), ("retrieve", "candidates"), ("retrieve", "order")]
    amounts = [parser, 0.0, 1 - final - parser, 0.0, 0.0]
    left = [1 - parser, 1 - parser, final, final, final]
    return [
        LossRow(setting, query, "train", "ndcg_text@10000", *place, *figures)
        for place, *figures in zip([*places, ("rerank", "change")], amounts, left, strict=True)
    ]


def test_losses_are_means_and_the_worst_come_first():
    rows = [*losses("q1", 1.0), *losses("q2", 0.2), *losses("q3", 0.6), *losses("q1", 0.1, setting="b")]
    _, _, first, second = to_text(loss_table(rows)).splitlines()[1:]
    # setting a: finals 1.0, 0.2, 0.6; losses 0, 0.8, 0.4
    assert first.split() == ["a", "0.000", "0.000", "0.400", "0.000", "0.000", "0.600"]
    assert second.split()[0] == "b"
    worst = worst_table(rows, "a", 2, {"q2": "Did it rain?"}, {"q2": "Rain fell."}, {"q2": "It rained."})
    assert worst.title == "The 2 worst queries of a by ndcg_text@10000"
    assert [row[0] for row in worst.rows] == ["q2", "q3"]
    assert worst.rows[0][3:] == ("not found 0.800", "Did it rain?", "It rained.", "Rain fell.")
    assert worst.rows[1][4:] == ("–", "–", "–")


def test_how_far_the_best_order_known_may_be_from_the_best_is_said_where_it_is_known():
    rows = [*losses("q1", 0.5), *losses("q2", 0.5), *losses("q1", 0.5, "b"), *losses("q2", 0.5, "b")]
    assert loss_table(losses("q1", 0.5)).title.endswith("means over 1 query")
    assert loss_table(rows).notes == ()
    # chunking: 0.02 in the mean of a, 0.03 in that of b; candidates: 0.1
    more = {("a", "q1"): 0.04, ("b", "q1"): 0.01, ("b", "q2"): 0.05}
    bounded = [
        replace(
            row,
            bound={"chunking": row.left + more.get((row.setting, row.query_id), 0), "candidates": 0.6}[
                row.part
            ],
        )
        if row.part in ("chunking", "candidates")
        else row
        for row in rows
    ]
    (note,) = loss_table(bounded).notes
    assert "at most 0.030 more after 'badly chunked' and 0.100 more after 'not found'" in note
    assert "ndcg_exp@10 counts the chunks" in loss_table(rows, "ndcg_exp@10").notes[0]
    assert loss_table(rows, "ndcg_text@10000").notes == ()


def test_a_query_without_a_ranking_is_told():
    row = SummaryRow("a", "retrieve", "all", "map", 0.5, None, None, 9, 1, 1, "", 0, 0)
    (note,) = summary_table("run", [row, replace(row, split="train"), replace(row, split="validation")]).notes
    assert "Left out: 1 unanswerable. 1 got no ranking and scores 0" in note


@pytest.mark.parametrize("width", [24, 40, 60, 80])
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_lost(width):
    columns = ("setting", *(f"measure {i}" for i in range(9)))
    names = ("chunk=500/0 minmax late_interaction against chunk=1000/0", "short")
    rows = tuple((name, *(f"0.{n}{i}5" for i in range(9))) for n, name in enumerate(names))
    lines = to_text(Table("t", columns, rows), width).splitlines()
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for cell in (*columns, *rows[0][1:], *rows[1]):
        assert cell in text
    # figures are below the heads of their columns
    head = next(i for i, line in enumerate(lines) if "measure 0" in line)
    first = next(i for i, line in enumerate(lines) if "0.005" in line)
    assert lines[first].index("0.005") + 5 == lines[head].index("measure 0") + 9


def reply(setting, query_id, reason=""):
    return ReplyRow(
        setting, query_id, "train", "m", "" if reason else "x", reason, "", 1, 0, None, None, None, None
    )


def answer_summary(setting, measure, mean, n, missing, reasons=""):
    return AnswerSummaryRow(setting, "all", measure, mean, 0.1, 0.9, n, missing, reasons)


def test_means_are_next_to_how_much_was_answered_and_what_is_not_scored_is_reported():
    replies = [reply("a", f"q{i}", "refusal" if i == 0 else "") for i in range(6)]
    rows = [
        answer_summary("a", "f1", 0.5, 5, 1, "failed x1"),
        answer_summary("a", "em", None, 0, 6, "no golden x6"),
    ]
    table = answer_table(rows, replies)
    assert table.columns == ("setting", "answered", "f1", "em")
    assert table.rows == (("a", "5 of 6", "0.500 (0.100–0.900)", "–"),)
    assert table.notes[0] == "Not scored, and not in the mean of f1: at most 1 (failed x1)."


def test_means_over_different_questions_are_marked_as_not_comparable():
    replies = [reply(setting, "q1") for setting in ("a", "b")]
    rows = [
        answer_summary("a", "cites", 1.0, 2, 8, "nothing read x8"),
        answer_summary("b", "cites", 0.5, 9, 1, "nothing read x1"),
        answer_summary("a", "f1", 0.5, 9, 1, "no golden x1"),
        answer_summary("b", "f1", 0.6, 9, 1, "no golden x1"),
    ]
    assert "Means of cites are over different queries" in answer_table(rows, replies).notes[-1]


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
