"""A benchmark that compares a reranker here with those of a language model: planned, paid once, timed."""

import json

import pytest

from harness.report import LatencyRow, PriceRow
from tests.command import bench, printed
from tests.judge.fake_server import FakeServer, says

from .conftest import QUERIES


def first(request, number):
    """A model that likes the last passage best; once it names a passage that is not there."""
    text = request["body"]["messages"][-1]["content"]
    count = text.count("<passage ")
    if "Order all" in text:
        return says(" > ".join(f"[{place}]" for place in range(count, -1, -1)))
    return says(f"[{count}]" if "Which of the" in text else "2")


@pytest.fixture
def config(write_config):
    def write(url, more=""):
        model = (
            f"endpoint: {{model: fake, base_url: '{url}', api_key_env: null, timeout: 100}}, "
            "prices: {fake: {input: 1000, output: 1000}}, top_n: 6"
        )
        return write_config(
            chunk="{kind: recursive, chunk_size: 90}",
            rerank=f"""
  - null
  - {{kind: late_interaction, top_n: 6}}
  - {{kind: llm, {model}}}
  - {{kind: llm, by: listwise, window: 4, stride: 2, {model}}}
  - {{kind: llm, by: setwise, first: 3, {model}}}""",
            more=f"measures: [ndcg_exp@3]\nlatency: {{queries: 2}}\n{more}",
            cache="fresh",
        )

    return write


def test_rerankers_are_planned_paid_once_priced_and_timed(config, capsys):
    with FakeServer(first) as server:
        path = config(server.url)
        output = printed(capsys, "bench", path, "--dry-run")
        assert "grade v1 by fake: 30 lists: 30 calls to make" in output
        # windows over six passages: 3–6 and 1–4
        assert "order v1 by fake: 5 lists: 10 calls to make" in output
        # a heap of six in threes: to build two and one more; then two of 5 and 4 passages: 2 + 1
        assert "best v1 by fake: 5 lists: 30 calls to make" in output
        assert "Nothing was spent." in output
        assert "order v1 by fake: 5 lists: 10 calls to make" in printed(capsys, "validate", path)
        assert server.count == 0
        results, folder = bench(path)
        count = server.count
        assert "order v1 by fake reranked: 0 calls now" in printed(capsys, "bench", path, "--quiet")
        again, _ = bench(path)
        assert server.count == count, "all of it is in the ledger"
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    asked = record["counts"]["rewriting"]
    assert {facts["purpose"] for facts in asked.values()} == {"reranking"}
    for one in (results, again):
        rows = {(row.setting, row.stage): row for row in one.of(PriceRow)}
        by = {
            word: key
            for key in rows
            for word in ("pointwise", "listwise", "setwise", "late")
            if word in key[0]
        }
        cost = {word: rows[by[word][0], "rerank"].endpoint_cost for word in by}
        # 110 tokens a call, at a thousandth each: six passages, and two windows, of five queries
        assert cost["pointwise"] == pytest.approx(5 * 6 * 0.11)
        assert cost["listwise"] == pytest.approx(5 * 2 * 0.11)
        assert 5 * 4 * 0.11 <= cost["setwise"] <= 5 * 6 * 0.11
        assert cost["late"] is None
        listwise = rows[by["listwise"][0], "rerank"]
        assert listwise.cost_per_1000 == pytest.approx(1000 * cost["listwise"] / len(QUERIES))
        (warning,) = [row for row in one.record.warnings if row.kind == "model calls"]
        assert warning.text.startswith("10 of 10 answers of fake by order v1 did not name")
        times = {row.setting: row for row in one.of(LatencyRow) if row.stage == "rerank"}
        assert all(row.p50 > 0 and not row.remark for row in times.values())
        assert len(times) == 4
