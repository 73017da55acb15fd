"""Drafts that nobody could ask are dropped: without a subject, a verb, or a whole span."""

from collections import Counter

import pytest

from harness.labels.testset.minutes import time_to_grade
from harness.labels.testset.propose.askable import Vocabulary, is_heading, is_noun_phrase, is_whole_row
from harness.labels.testset.propose.drafting import draft
from harness.labels.testset.propose.material import table_rows
from tests.testset.test_propose import document


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "of the",
        "based on the",
        "million in",
        "these facilities totaled",
        "January",
        "Expense",
        "losses in",
    ],
)
def test_what_is_no_noun_phrase_is_no_subject(text):
    assert not is_noun_phrase(text)


@pytest.mark.parametrize(
    "text", ["total revenue", "cost of sales", "cash and cash equivalents", "net income (loss)"]
)
def test_a_noun_phrase_is(text):
    assert is_noun_phrase(text)


@pytest.mark.parametrize("title", ["Item 9B.", "Article III.", "Mine Safety Disclosures", "See", ". See"])
def test_a_part_of_a_form_is_nothing_to_ask_about(title):
    assert not is_heading(title)


def test_a_row_is_whole_if_only_figures_follow_its_label():
    text = (
        "In millions 2022 2021\nNet sales 14,189 14,082\nissued $1,500.0 million of debt and 400.0 of notes\n"
        "January 28, 2016\nBased on the 2016 level 13 supplies\nTotal costs 10 12\n"
    )
    rows = list(table_rows(document("d", text)))
    labels = Counter(row.label for row in rows)
    assert [row.label for row in rows if is_whole_row(row, labels)] == ["Net sales", "Total costs"]


def test_words_that_a_pdf_has_split_or_run_together_are_told():
    known = Vocabulary(["advertising expenses for content. " * 12 + "the con tent of advertisingexpenses"])
    assert known.is_broken("payments for con tent")
    assert known.is_broken("advertisingexpenses")
    assert not known.is_broken("advertising expenses for content")


def test_sentences_that_are_no_whole_span_bring_no_draft():
    text = (
        "Dividends paid 841 768 652\n\nWhat was , and in 2021. Average paid memberships accounted for 35%. "
        "Cash dividends paid per common share 5.44\n\nThe dividend of the company was $5.44 in 2018.\n"
    )
    assert {one.text for one in draft([document("d", text)], 20, 7) if one.kind == "fact"} == {
        "What was the dividend of the company?"
    }


def test_the_time_is_said_in_minutes_or_hours():
    assert "about 61 minutes" in time_to_grade(34 * 9)
    assert "about 10.0 hours" in time_to_grade(100 * 30)
