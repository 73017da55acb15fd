"""Where sentences end, and how they are grouped."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.steps import SentenceConfig, chunk_documents
from harness.values import sentence_spans
from tests.chunk.conftest import document
from tests.chunk.texts import texts


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "marked",
    [
        "Sales rose. | Costs fell! | Did profits? | Yes.",
        "PepsiCo, Inc. Annual Report is here. | It is long.",
        "We sold it to Acme Corp. | The price was $3.5 billion.",
        "Mr. Smith met Dr. Jones of the U.S. Government vs. Acme. | They spoke.",
        "See No. 5 and Fig. 3. | Say no. | Then go.",
        "Filed in the U.S. | The court agreed.",
        "J.P. Morgan and J. Smith signed at 5 p.m. | We left.",
        "It grew 3.5% to 1,234.56, e.g. Europe, i.e. abroad. | Next.",
        "He said “it is over.” | She left. | (Both did.) | Then nothing.",
        "Wait... what? | Yes… | No.",
        "on Dec. 31, 2022. | The year ended.",
        "1. Business is good.\n| 2. Risk is high.",
        "売上高は増加した。|「本当か？」|と聞いた。|終わり",
        "净收入增长了10.5%。|成本下降！|结束",
        "容量提高；|寿命延长。|“何时量产？”|明年！",
        "A heading without stop\n\n| A paragraph that\nwraps over lines. | Next.",
        "RISK FACTORS\n| We face risks\nof many kinds.",
        "## Title\n| Text below\nit.",
        "We sell:\n| • drinks in\ncans\n| • snacks\n| (a) other\n",
        "A table:\n| Net revenue $ 86,392 $ 79,474\n| Operating profit 11,512 11,162\n| Note that it\ngrew.",
        "Business . . . . . . . . 5",
    ],
)
def test_sentence_ends(marked):
    parts = [part.strip() for part in marked.split("|")]
    assert sentences(marked.replace("| ", "").replace("|", "")) == parts


def test_rows_of_a_markdown_table_are_alone():
    assert sentences("| a | b |\n|---|---|\n| c | d |") == ["| a | b |", "|---|---|", "| c | d |"]


@given(text=texts)
@settings(deadline=None)
def test_sentences_are_trimmed_in_order_and_hold_all_text(text):
    spans = sentence_spans(text)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert "".join("".join(s.split()) for s in sentences(text)) == "".join(text.split())


def chunks(text, **config):
    return [chunk.text for chunk in chunk_documents([document(text)], SentenceConfig(**config))]


def test_whole_sentences_are_grouped_up_to_the_size():
    text = "Aa bb. Cc dd. Ee ff. Gg hh."  # 6 characters each, 13 for two with the space between
    assert chunks(text, chunk_size=13) == ["Aa bb. Cc dd.", "Ee ff. Gg hh."]
    assert chunks(text, chunk_size=12) == ["Aa bb.", "Cc dd.", "Ee ff.", "Gg hh."]
    assert chunks(text, chunk_size=13, sentence_overlap=1) == [
        "Aa bb. Cc dd.",
        "Cc dd. Ee ff.",
        "Ee ff. Gg hh.",
    ]
    assert chunks(text, chunk_size=20, sentence_overlap=9) == ["Aa bb. Cc dd. Ee ff.", "Cc dd. Ee ff. Gg hh."]


def test_a_repeat_gives_way_where_it_does_not_fit():
    assert chunks("Aa bb. Cccccc dddd. Ee.", chunk_size=15, sentence_overlap=1) == [
        "Aa bb.",
        "Cccccc dddd.",
        "Ee.",
    ]


def test_a_sentence_longer_than_the_size_is_cut_at_whitespace():
    assert chunks("one two three four five six.", chunk_size=10) == ["one two", "three", "four five", "six."]


@given(text=texts, size=st.integers(1, 80), overlap=st.integers(0, 3))
@settings(deadline=None)
def test_no_chunk_is_longer_than_the_size_or_adds_nothing(text, size, overlap):
    config = SentenceConfig(chunk_size=size, sentence_overlap=overlap)
    found = chunk_documents([document(text)], config)
    assert all(chunk.end - chunk.start <= size for chunk in found)
    assert all(before.end < after.end for before, after in pairwise(found))
