"""asked.csv: the rewritten form of every query."""

import pytest

from harness.report import PriceRow
from tests.command import bench, printed, refused, table
from tests.judge.fake_server import FakeServer, error, says

from .conftest import DENSE, QUERIES


def asked(folder):
    return [tuple(row.values()) for row in table(folder / "asked.csv")]


def test_every_query_of_a_rewritten_setting_and_route_is_in_the_table(lexical):
    path = lexical(
        retrieve=f"""
  kind: rrf
  routes:
    - {DENSE % "exact"}
    - {{kind: bm25, rewrite: {{kind: template, template: "({{query}})"}}}}""",
        more='rewrite: [null, {kind: template, template: "say: {query}"}]\nmeasures: [ndcg_exp@3]',
    )
    _, folder = bench(path)
    rows = asked(folder)
    as_it_is, stated = sorted({setting for setting, *_ in rows}, key=lambda name: "template" in name)
    steps = {}
    for setting, step, query_id, number, text in rows:
        assert number == "1"
        steps.setdefault((setting, step), {})[query_id] = text
    whole = [as_it_is, "retrieve.bm25"], [stated, "retrieve.bm25"], [stated, "retrieve"]
    assert {tuple(one) for one in whole} <= steps.keys()
    assert (as_it_is, "retrieve") not in steps
    assert all(set(one) == {query[0] for query in QUERIES} for one in steps.values())
    assert steps[as_it_is, "retrieve.bm25"]["q5"] == "(Who is the chief executive?)"
    # a route rewrites what the setting's rewriter has made
    assert steps[stated, "retrieve"]["q5"] == "say: Who is the chief executive?"
    assert steps[stated, "retrieve.bm25"]["q5"] == "(say: Who is the chief executive?)"


def fake(request, number):
    return says("Words of: " + request["body"]["messages"][-1]["content"].splitlines()[1], usage=(100, 10))


def rewriting(url):
    return (
        f"{{kind: llm, endpoint: {{model: fake-1, base_url: '{url}', api_key_env: FAKE_KEY, timeout: 120}}, "
        "prices: {fake-1: {input: 10.0, output: 100.0}}}"
    )


def test_a_model_is_asked_by_a_run_alone_and_paid_once(lexical, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_KEY", "sk-do-not-show-me-4711")
    with FakeServer(fake) as server:
        own = rewriting(server.url)
        path = lexical(
            retrieve=f"{{kind: rrf, routes: [{{kind: bm25}}, {{kind: bm25, rewrite: {own}}}]}}",
            more=f"rewrite: [null, {own}]\nmeasures: [ndcg_exp@3]",
            cache="own",
        )
        assert printed(capsys, "validate", path).count("to rewrite") == 2
        output = printed(capsys, "bench", path, "--dry-run")
        assert server.count == 0, "a plan and a dry run ask nothing"
        # the route's on the queries as they are, which is also the setting's; and the route's on that
        assert "declarative v1 by fake-1: 5 queries: 5 calls to make" in output
        assert "declarative v1 by fake-1: at most 5 queries: 5 calls to make" in output
        later = "what is asked to rerank, answer or judge, depend on a rewriting"
        assert f"{later} that has not been made yet. Nothing was spent." in output
        results, folder = bench(path)
        # the route rewrites the setting's rewriting, so it asks five more
        assert server.count == 10
        again, _ = bench(path)
        for words in (("validate", path), ("bench", path, "--dry-run")):
            assert "to rewrite" not in printed(capsys, *words)
        assert server.count == 10
    # five queries at 0.002: the route's, and with the setting's rewriting twice as many, whoever paid
    for one in (results, again):
        prices = {(row.setting, row.stage): row for row in one.of(PriceRow)}
        costs = {(setting == "llm", stage): row.rewrite_cost for (setting, stage), row in prices.items()}
        assert costs == {
            (False, "retrieve.bm25"): 0,
            (False, "retrieve.bm25-2"): pytest.approx(0.01),
            (False, "retrieve"): pytest.approx(0.01),
            (True, "retrieve.bm25"): pytest.approx(0.01),
            (True, "retrieve.bm25-2"): pytest.approx(0.02),
            (True, "retrieve"): pytest.approx(0.02),
        }
        assert all(row.cost_per_1000 == pytest.approx(200 * row.rewrite_cost) for row in prices.values())
    (facts,) = results.record.counts["rewriting"].values()
    assert (facts["calls"], facts["prompt_tokens"], facts["completion_tokens"]) == (10, 1000, 100)
    assert facts["cost"] == pytest.approx(10 * 0.002)
    (later,) = again.record.counts["rewriting"].values()
    assert (later["calls"], later["from_ledger"], later["cost"]) == (0, 10, 0)
    texts = {text for _, _, query_id, _, text in asked(folder) if query_id == "q5"}
    assert texts == {
        "Words of: Who is the chief executive?",
        "Words of: Words of: Who is the chief executive?",
    }
    assert not any("sk-do-not-show" in file.read_text() for file in folder.glob("*.*"))


def test_a_dry_run_of_an_agreement_asks_nothing(lexical, capsys):
    with FakeServer(fake) as server:
        path = lexical(
            more=f"rewrite: {rewriting(server.url)}\nmeasures: [ndcg_exp@3]\n"
            f"relevance: {{judge: llm, endpoint: {{model: fake-1, base_url: '{server.url}'}}}}",
            cache="own",
        )
        said = refused(capsys, "judge", "agreement", path, "--settings", "--dry-run")
        assert server.count == 0
    assert "a rewriting that has not been made yet" in said


def test_calls_that_were_made_again_are_named(lexical, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_KEY", "sk-do-not-show-me-4711")

    def broken_once(request, number):
        return error(503, headers={"retry-after": "0"}) if number == 1 else fake(request, number)

    with FakeServer(broken_once) as server:
        path = lexical(more=f"rewrite: {rewriting(server.url)}\nmeasures: [ndcg_exp@3]", cache="own")
        output = printed(capsys, "bench", path)
        assert server.count == 6
    assert "6 calls now for 0.0100, 1 without an answer (" in output
