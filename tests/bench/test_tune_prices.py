"""`harness tune` where rerankers and judges are paid: what is planned, and what a local server was asked."""

import json
import re

import pytest

import harness
from tests.bench.test_tune import CONFIG, pool, tuned
from tests.command import bench, exit_code, printed
from tests.judge.fake_server import FakeServer, grade
from tests.search.test_endpoints import quick, rerank_script

__all__ = ["pool", "quick"]
PRICE = 0.5


@pytest.fixture
def reranked(pool):
    """Eight settings, four of them with a reranker that is paid by the request, of the pairs of one query."""

    def write(url, budget):
        paid = f"price_per_request: {PRICE}, documents_per_request: 3"
        endpoint = f"{{model: r-1, base_url: '{url}', {paid}}}"
        text = (CONFIG % "").replace("80 %", budget).replace("k1: [0.4, 1.2, 2.5]", "k1: 1.2")
        (pool / "my.yaml").write_text(
            text + f"rerank: [null, {{kind: endpoint, top_n: 3, endpoint: {endpoint}}}]\n"
        )
        return "my.yaml"

    return write


def plan_of(pool):
    return json.loads((pool / "results/t.tune.json").read_text("utf-8"))["plan"]


def test_a_paid_reranker_is_tried_on_what_is_left_of_its_retrievers(pool, reranked, capsys):
    with FakeServer(rerank_script) as server:
        path = reranked(server.url, "40 USD")
        expected = printed(capsys, "tune", path, "--dry-run")
        assert server.count == 0, "a dry run sends nothing"
        assert "without rerankers" in expected
        assert "What a reranker makes of a retriever that was dropped is not known." in " ".join(
            expected.split()
        )
        assert exit_code("tune", path) == 0
        spent = PRICE * server.count
        plan = plan_of(pool)
        money = sum(stage["outlay"]["money"] for stage in plan["stages"])
        assert plan["whole"]["money"] == pytest.approx(PRICE * 4 * 32, rel=0.01)
        assert plan["stages"][0]["outlay"]["money"] == 0
        # what one stage has asked is not paid for again
        assert 0.5 * money <= spent <= 1.1 * money
        assert spent <= 40
        found = tuned(pool)
        dropped = harness.read_results(pool / "results/t").table("tuned")
        held = dropped[dropped.held_back]
        assert len(held)
        assert held.setting.str.contains("endpoint").all()
        # of these nothing is known, so that they may be better
        assert held.lead_at_most.isna().all()
        assert held.may_be_better.all()
        assert set(held.setting) <= set(found["may_be_better"])
        assert "no bound is known" in " ".join(found["sentences"])
        count = server.count
        assert exit_code("tune", path) == 0
        assert server.count == count, "all of it is kept"
        assert exit_code("tune", path, "--certify") == 0
        assert PRICE * server.count == pytest.approx(plan["whole"]["money"], rel=0.3)
        capsys.readouterr()


def test_a_price_of_the_plan_is_what_a_full_sweep_spends(pool, reranked, capsys):
    with FakeServer(rerank_script) as server:
        path = reranked(server.url, "100 %")
        assert "64.00 in prices (100 % of a full sweep)" in printed(capsys, "tune", path, "--dry-run")
        assert exit_code("tune", path) == 0
        assert PRICE * server.count == 64


def test_a_judge_grades_less_in_a_search_and_the_plan_says_about_how_much(pool, capsys):
    def careful(request, number=0):
        text = request["body"]["messages"][-1]["content"]
        subject = re.search(r"What has the (\w+ \w+)\?", text)[1]
        return grade(4 if f"The {subject} of" in text else 0)

    with FakeServer(careful) as server:
        judge = (
            "relevance:\n  judge: llm\n"
            f"  endpoint: {{model: fake-1, base_url: '{server.url}', api_key_env: null, timeout: 120}}\n"
            "  pool: {unit: passage, depth: 3, passage_chars: 200}\n"
            "  prices: {fake-1: {input: 10.0, output: 100.0}}\n"
        )
        text = (CONFIG % "").replace("80 %", "75 %").replace("relevance: {judge: labels}\n", judge)
        (pool / "my.yaml").write_text(text)
        printed(capsys, "tune", "my.yaml", "--dry-run")
        assert server.count == 0
        assert exit_code("tune", "my.yaml") == 0
        searched = server.count
        plan = plan_of(pool)
        money = sum(stage["outlay"]["money"] for stage in plan["stages"])
        # a full sweep grades the pool of all settings; what the search has paid for is kept
        (pool / "my.yaml").write_text(text.replace("name: t", "name: all"))
        bench(pool / "my.yaml")
        full = server.count
        assert searched < full
        assert money < plan["whole"]["money"]
        assert searched / full == pytest.approx(money / plan["whole"]["money"], abs=0.3)


def test_proposals_are_graded_by_one_pool(pool, capsys):
    # an ideal comes from all that was graded, so scores of different pools do not stand beside each other
    def careful(request, number=0):
        text = request["body"]["messages"][-1]["content"]
        subject = re.search(r"What has the (\w+ \w+)\?", text)[1]
        return grade(4 if f"The {subject} of" in text else 0)

    with FakeServer(careful) as server:
        judge = (
            "relevance:\n  judge: llm\n"
            f"  endpoint: {{model: fake-1, base_url: '{server.url}', api_key_env: null, timeout: 120}}\n"
            "  pool: {unit: passage, depth: 2, passage_chars: 200}\n"
        )
        text = (CONFIG % ", strategy: tpe, trials: 11").replace("80 %", "75 %").replace(", values: 4", "")
        text = text.replace("relevance: {judge: labels}\n", judge).replace("k1: [0.4, 1.2, 2.5]", "k1: 1.2")
        (pool / "my.yaml").write_text(text)
        assert exit_code("tune", "my.yaml") == 0
        sampled = json.loads((pool / "results/t.tune.json").read_text("utf-8"))["sampled"]
        assert sampled["screened"]["basis"] == "whole, 11 settings"
        assert len(sampled["proposals"]) == len(sampled["screened"]["matrix"]["values"]) == 11
        count = server.count
        assert exit_code("tune", "my.yaml") == 0
        assert server.count == count
        capsys.readouterr()
