"""A benchmark with models behind endpoints: planned without a request, paid once, its costs reported."""

import json
import re

import pytest

from harness.running import load_config
from tests.bench.conftest import QUERIES
from tests.command import bench, exit_code, printed, table
from tests.judge.fake_server import FakeServer
from tests.search.test_endpoints import embed, quick, rerank_script

__all__ = ["quick"]


def script(request, number):
    return (embed if request["path"].endswith("/embeddings") else rerank_script)(request, number)


@pytest.fixture
def config(lexical):
    def write(url):
        embedding = f"{{model: e-1, base_url: '{url}', api_key_env: null, price: 1000}}"
        reranker = f"{{model: r-1, base_url: '{url}', price_per_request: 0.5}}"
        return lexical(
            retrieve=f"""
  - {{kind: bm25, top_k: 5}}
  - kind: minmax
    top_k: 5
    routes: [{{kind: exact, top_k: 5, endpoint: {embedding}}}, {{kind: bm25, top_k: 5}}]""",
            rerank=f"[null, {{kind: endpoint, top_n: 3, endpoint: {reranker}}}]",
            more="measures: [ndcg_exp@3]",
            cache="own",
        )

    return write


def prices(folder, column="endpoint_cost"):
    return {(row["setting"], row["stage"]): row[column] for row in table(folder / "prices.csv")}


def test_it_is_planned_without_a_request_and_paid_once(config, capsys):
    with FakeServer(script) as server:
        path = config(server.url)
        output = printed(capsys, "validate", path)
        assert "e-1: 29 texts: 1 requests to make" in output
        assert "r-1: at most 30 pairs: 10 requests to make" in output
        output = printed(capsys, "bench", path, "--dry-run")
        assert "e-1: 29 texts: 1 requests to make, 0 texts kept from before" in output
        assert "depend on an endpoint that has not been called yet. Nothing was spent." in output
        assert server.count == 0, "a plan and a dry run send nothing"
        message = printed(capsys, "bench", path, "--quiet")
        count = server.count
        assert "r-1: " in message
        embedded = [request for request in server.requests if request["path"].endswith("/embeddings")]
        sent = sum(len(text.split()) for request in embedded for text in request["body"]["input"])
        results, folder = bench(path)
        assert server.count == count, "all of it is kept"
        assert exit_code("validate", path) == 0
        assert "r-1" not in capsys.readouterr().out.partition("models")[0]
        assert exit_code("bench", path, "--dry-run") == 0
        assert server.count == count
        bought = json.loads((folder / "record.json").read_text())["counts"]["endpoints"]
        rows, each = prices(folder), prices(folder, "cost_per_1000")
        # clearing the cache keeps what was paid for
        assert exit_code("cache", "--cache", load_config(path).cache, "--clear") == 0
        bench(path)
        assert server.count == count
    # with all rankings known no vector is looked up
    assert "e-1" not in bought
    assert (bought["r-1"]["requests"], bought["r-1"]["cost"]) == (0, 0)
    assert bought["r-1"]["kept_from_before"] > 0
    cost = {key: float(value) if value else None for key, value in rows.items()}
    (lexical,) = {setting for setting, stage in cost if setting.startswith("bm25") and stage == "rerank"}
    (both,) = {setting for setting, stage in cost if setting.startswith("minmax") and stage == "rerank"}
    # 1000 per million of the words that the server counts
    assert cost[both, "retrieve"] == pytest.approx(sent / 1000, rel=1e-6)
    assert cost[both, "retrieve.exact"] == cost[both, "retrieve"]
    assert cost[both, "retrieve.bm25"] == 0
    words = sum(len(text.split()) for _, text, *_ in QUERIES)
    # a request of chunks and queries is parted among them by an estimate
    assert float(each[both, "retrieve"]) == pytest.approx(1000 * words / 1000 / len(QUERIES), rel=0.1)
    assert float(each[both, "rerank"]) > float(each[both, "retrieve"])
    assert cost[lexical, "retrieve"] == 0
    # half a unit for each of five queries, those of the other setting apart where they read the same pairs
    assert cost[lexical, "rerank"] == pytest.approx(0.5 * 5, rel=0.5)
    assert cost[both, "rerank"] > cost[both, "retrieve"]
    assert {row.setting for row in results.summary} >= {lexical, both}


def test_what_a_served_judge_asks_for_is_priced_and_bought_once(lexical, capsys):
    with FakeServer(rerank_script) as server:
        endpoint = f"{{model: r-1, base_url: '{server.url}', api_key_env: null, price_per_request: 0.5}}"
        judge = f"judge: cross_encoder, cuts: [0, 1, 2, 3], pool: {{depth: 3}}, endpoint: {endpoint}"
        path = lexical(more=f"relevance: {{{judge}}}\nmeasures: [ndcg_exp@3]", cache="own")
        output = printed(capsys, "bench", path, "--dry-run")
        priced = re.search(r"r-1: ([\d,]+) pairs: (\d+) requests to make, 0 pairs kept", output)
        assert float(re.search(r"price about (\d+\.\d+)", output)[1]) == int(priced[2]) / 2
        output = printed(capsys, "judge", "agreement", path, "--dry-run")
        assert "r-1: " in output
        assert "requests to make" in output
        assert server.count == 0, "a dry run sends nothing"
        _, folder = bench(path)
        assert server.count == int(priced[2])
        bench(path)
        assert server.count == int(priced[2]), "all scores are kept"
    # what one pair cost is not known, and not nothing
    assert {row["cost_alone"] for row in table(folder / "costs.csv")} == {""}
