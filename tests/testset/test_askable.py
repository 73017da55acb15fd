"""Drafts that nobody could ask are dropped: without a subject, a verb, or a whole span."""

from collections import Counter

import pytest

from harness.labels.testset.propose.askable import (
    Vocabulary,
    is_heading,
    is_noun_phrase,
    is_whole_row,
    owners_of,
)
from harness.labels.testset.propose.drafting import draft
from harness.labels.testset.propose.material import table_rows
from harness.labels.testset.state import time_to_grade
from tests.testset.test_propose import document

PHRASES = ["total revenue", "cost of sales", "cash and cash equivalents", "net income (loss)"]
FRAGMENTS = [
    "",
    ",",
    "of the",
    "based on the",
    "million in",
    "these facilities totaled",
    "January",
    "Expense",
]
FORMAL = ["Item 9B.", "Article III.", "Mine Safety Disclosures", "See", ". See"]


@pytest.mark.parametrize("text", [*PHRASES, *FRAGMENTS, "Expense", "losses in"])
def test_a_subject_is_a_whole_noun_phrase(text):
    assert is_noun_phrase(text) == (text in PHRASES)


@pytest.mark.parametrize("title", FORMAL)
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
        "What was the dividend of the company in 2018?"
    }


ADOBE = (
    "ADOBE INC. Adobe sells software.\n\nContract assets were $97 million as of December 2, 2022. "
    "Lease expense was $121 million for fiscal 2022 and $119 million for fiscal 2021. "
    "Net income increased 15.6% compared to an increase of 37.9% in fiscal 2021. Net income is a measure. "
    "The Company's dividend rate is $0.79 per share. Our store count was 12 at the end of 2021. "
    "Our store count was 14 at the end of 2021. Included in the total balance were 1,516 units.\n"
)
COSTCO = (
    "Costco Wholesale\n\nWe live on membership fees, not on interest income or total costs.\n\n"
    "In millions 2022 2021\nMembership fees 3,877 3,541\nInterest income 41 89\nInterest income 7 8\n"
    "Total costs 10 12\n"
)


def test_among_filings_a_draft_names_its_company_and_its_period():
    both = [document("ADOBE_2022_10K", ADOBE), document("COSTCO_2021_10K", COSTCO)]
    asked = {one.text for one in draft(both, 60, 7)}
    facts = {one.text for one in draft(both, 60, 7) if one.kind == "fact"}
    # growth without its own period, and a count of which two sentences differ, could mean either
    assert facts == {
        "What were Adobe's contract assets as of December 2, 2022?",
        "What was Adobe's lease expense for fiscal 2022?",
        "What is Adobe's dividend rate?",
    }
    assert "Can you tell me what Adobe's lease expense was for fiscal 2022?" in asked
    assert "How did Costco's membership fees change from 2021 to 2022?" in asked
    assert not any("interest income" in one for one in asked)
    # the documents of one company need not name it
    alone = {one.text for one in draft([both[0], document("ADOBE_2021_10K", "Adobe.")], 60, 7)}
    assert "What was lease expense for fiscal 2022?" in alone


@pytest.mark.parametrize(
    ("doc_id", "text", "owner"),
    [
        ("ULTABEAUTY_2023", "ULTA BEAUTY ANNOUNCES\nUlta Beauty grew.", "Ulta Beauty"),
        ("people", "In 2020 people left. People work.  The people stay.", ""),
        ("10k_2020", "A text.", ""),
    ],
)
def test_the_company_of_a_document_is_what_its_id_spells(doc_id, text, owner):
    other = document("COSTCO_2021", COSTCO), document("ADOBE_2021", ADOBE)
    assert owners_of([document(doc_id, text), *other])[doc_id] == owner


def test_the_time_is_said_in_minutes_or_hours():
    assert "about 61 minutes" in time_to_grade(34 * 9)
    assert "about 10.0 hours" in time_to_grade(100 * 30)
