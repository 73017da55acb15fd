"""Questions as statements by rules, held against the table of docs/rewriting.md."""

import re
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from harness.pipeline.context import Context
from harness.pipeline.tools import RunTools
from harness.progress import Silent
from harness.search.rewrite.statement import StatementConfig, statement_of
from harness.types import Query

PAGE = (Path(__file__).parent.parent.parent / "docs" / "rewriting.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| (.+[?？].*) \| (.+) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("question", "asked"), TABLE)
def test_the_table_of_the_page(question, asked):
    assert statement_of(question) == (None if asked == "as it is" else asked)


def test_the_page_shows_every_kind_of_rule():
    assert len(TABLE) >= 15


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "the yard",
        "Who wrote it?",
        "What is driving revenue?",
        "How many distinct went?",
        "How?",
    ],
)
def test_what_no_rule_fits_stays(text):
    assert statement_of(text) is None


@hypothesis.given(st.text())
def test_any_text_is_taken(text):
    assert statement_of(text + "?") is None or statement_of(text + "?")


@hypothesis.given(
    st.lists(
        st.sampled_from(["how", "many", "what", "is", "did", "the", "yard", "3M", "of", "was", ","]),
        max_size=12,
    )
)
def test_no_question_mark_and_no_thing_is_lost(words):
    found = statement_of(" ".join(words) + "?")
    if found is not None:
        assert "?" not in found
        assert found.count("yard") == words.count("yard")
        assert found.count("3M") == words.count("3M")


def test_how_many_fit_no_rule_is_told(tmp_path):
    reporter = Silent()
    tools = RunTools(Context.at(tmp_path, reporter))
    queries = [Query("q1", "What is the price?", "train"), Query("q2", "What moved it?", "train")]
    asked = tools.rewritten(StatementConfig(), queries)
    assert [one.text for one in asked] == ["The price is", "What moved it?"]
    assert reporter.notes == ["1 of 2 queries fit no rule of `statement` and are asked as they are."]
