"""Questions as statements by rules, held against the table of docs/rewriting.md."""

import re
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from harness.comparison import mean_of
from harness.running import Session, load_config, run_bench
from harness.steps.search.rewrite.statement import StatementConfig, statement_of
from harness.values import Query, Silent
from tests.search.helpers import Tools

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "rewriting.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| (.+[?？].*|谁是.*) \| (.+) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("question", "statement"), TABLE)
def test_the_table_of_the_page(question, statement):
    assert statement_of(question) == (None if statement == "as it is" else statement)


def test_the_page_shows_every_kind_of_rule():
    assert len(TABLE) == 31


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("李白在哪里出生？", "李白出生的地方。"),
        ("鲁迅是哪一年出生的？", "鲁迅出生的时间。"),
        ("为什么公司的收入下降了？", "公司的收入下降的原因。"),
        ("公司2023年的净利润是多少亿元？", "公司2023年的净利润是多少亿元。"),
        ("Which business segment has grown since 2019?", "The business segment that has grown since 2019 is"),
    ],
)
def test_more_questions(question, statement):
    assert statement_of(question) == statement


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "the yard",
        "What is driving revenue?",
        "How many distinct went?",
        "How?",
        "Which company did Meridian buy?",
        "Which products sold best?",
        "谁",
        "为什么",
        "公司的收入",
        # what 他 is may depend on the sentence before
        "李白写诗。他是谁？",
    ],
)
def test_a_question_that_fits_no_rule_is_unchanged(text):
    assert statement_of(text) is None


@hypothesis.given(st.text() | st.text("谁是什么的在哪里为吗？ ab"))
def test_any_text_is_accepted(text):
    for question in (text, text + "?"):
        statement = statement_of(question)
        assert statement is None or statement.strip("。. ")


@hypothesis.given(
    st.lists(
        st.sampled_from(["how", "many", "what", "is", "did", "the", "yard", "3M", "of", "was", ","]),
        max_size=12,
    )
)
def test_no_question_mark_is_left_and_no_thing_is_lost(words):
    statement = statement_of(" ".join(words) + "?")
    if statement is not None:
        assert "?" not in statement
        assert statement.lower().count("yard") == words.count("yard")
        assert statement.count("3M") == words.count("3M")


def test_how_many_fit_no_rule_is_reported(tmp_path):
    reporter = Silent()
    tools = Tools(Session.at(tmp_path, reporter))
    queries = [Query("q1", "What is the price?", "train"), Query("q2", "What moved it?", "train")]
    rewritten = tools.rewritten(StatementConfig(), queries)
    assert [query.text for query in rewritten] == ["The price is", "What moved it?"]
    assert reporter.notes == ["1 of 2 queries fit no rule of `statement` and are searched unchanged."]


@pytest.mark.slow
def test_the_figures_are_those_of_the_command_and_no_difference_is_shown(tmp_path, computed, monkeypatch):
    monkeypatch.chdir(ROOT)
    config = load_config(ROOT / "configs" / "meridian_rewriting.yaml")
    folders = {"results": tmp_path / "results", "cache": computed}
    results, _ = run_bench(config.model_copy(update=folders), Silent())
    means = {(row.setting, row.measure): row.mean for row in results.summary if row.split == "all"}
    table = PAGE.partition("<!-- meridian")[2].partition("<!-- end -->")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if "|" in line]
    measures, rows = lines[0][1:], lines[2:]
    assert {row[0] for row in rows} == {setting.name for setting in config.settings}
    for setting, *cells in rows:
        # figures of a model move in their last digits between processors
        expected = [means[setting, measure] for measure in measures]
        assert [float(cell) for cell in cells] == pytest.approx(expected, abs=0.01)
    for plain in ("bm25 stop_words=long", "bm25 stop_words=none", "chroma"):
        both = [
            {row.query_id: row.value for row in results.per_query if (row.setting, row.measure) == place}
            for place in ((plain, "ndcg_exp@10"), (f"statement {plain}", "ndcg_exp@10"))
        ]
        differences = [both[1][query] - value for query, value in both[0].items() if value is not None]
        difference = mean_of(np.array(differences))
        assert difference.low < 0 < difference.high
