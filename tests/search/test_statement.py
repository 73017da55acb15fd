"""Questions as statements by rules, held against the table of docs/rewriting.md."""

import re
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from harness.bench.flow import run_bench
from harness.comparison import mean_of
from harness.config import load_config
from harness.progress import Silent
from harness.running.context import Context
from harness.running.tools import RunTools
from harness.search.rewrite.statement import StatementConfig, statement_of
from harness.types import Query

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "rewriting.md").read_text(encoding="utf-8")
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
def test_a_question_that_fits_no_rule_is_unchanged(text):
    assert statement_of(text) is None


@hypothesis.given(st.text())
def test_any_text_is_accepted(text):
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
        assert found.lower().count("yard") == words.count("yard")
        assert found.count("3M") == words.count("3M")


def test_how_many_fit_no_rule_is_reported(tmp_path):
    reporter = Silent()
    tools = RunTools(Context.at(tmp_path, reporter))
    queries = [Query("q1", "What is the price?", "train"), Query("q2", "What moved it?", "train")]
    asked = tools.rewritten(StatementConfig(), queries)
    assert [one.text for one in asked] == ["The price is", "What moved it?"]
    assert reporter.notes == ["1 of 2 queries fit no rule of `statement` and are searched unchanged."]


@pytest.mark.slow
def test_the_figures_are_those_of_the_command_and_no_difference_is_real(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    config = load_config(ROOT / "configs" / "meridian_rewriting.yaml")
    folders = {"results": tmp_path / "results", "cache": tmp_path / "cache"}
    results, _ = run_bench(config.model_copy(update=folders), Silent())
    means = {(row.setting, row.measure): row.mean for row in results.summary if row.split == "all"}
    table = PAGE.partition("<!-- meridian")[2].partition("<!-- end -->")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if "|" in line]
    measures, rows = lines[0][1:], lines[2:]
    assert {row[0] for row in rows} == {setting.name for setting in config.settings}
    for setting, *cells in rows:
        # figures of a model move in their last digits between processors
        message = [means[setting, measure] for measure in measures]
        assert [float(cell) for cell in cells] == pytest.approx(message, abs=0.01)
    for plain in ("bm25 stop_words=long", "bm25 stop_words=none", "chroma"):
        both = [
            {one.query_id: one.value for one in results.per_query if (one.setting, one.measure) == at}
            for at in ((plain, "ndcg_exp@10"), (f"statement {plain}", "ndcg_exp@10"))
        ]
        differences = [both[1][q] - value for q, value in both[0].items() if value is not None]
        found = mean_of(np.array(differences))
        assert found.low < 0 < found.high
