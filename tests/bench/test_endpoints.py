"""A benchmark with models behind endpoints: planned without a request, paid once, its costs reported."""

import json
import re

import pytest

from harness import steps
from harness.running import load_config, make_plan
from harness.values import Silent
from tests.bench import toy_steps
from tests.bench.conftest import QUERIES
from tests.command import bench, exit_code, printed, refused, table, write_files
from tests.external.filled import Opensearch
from tests.judge.fake_server import FakeServer
from tests.search.test_endpoints import embed, quick, rerank_script, vector

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


def planned_price(path):
    """What a plan says that endpoints will be paid."""
    return sum(call.estimate.price for call in make_plan(load_config(path), Silent(), search=True).endpoints)


def test_vectors_that_a_reader_buys_are_planned_capped_and_priced(lexical, monkeypatch, capsys):
    made = {**steps.READERS._items, toy_steps.ALIKE.name: toy_steps.ALIKE}
    monkeypatch.setattr(steps.READERS, "_items", made)
    with FakeServer(script) as server:

        def written(limit=""):
            keys = f"{{model: e-1, base_url: '{server.url}', api_key_env: null, price: 1000{limit}}}"
            read = f"read: {{kind: toy_alike, endpoint: {keys}}}\nmeasures: [ndcg_exp@3]"
            return lexical(retrieve="{kind: bm25, top_k: 5}", more=read, cache="own")

        planned = planned_price(written())
        assert "e-1: " in printed(capsys, "bench", written(), "--dry-run")
        assert server.count == 0
        assert "max_cost" in refused(capsys, "bench", written(", max_cost: 0.001"), "--quiet")
        assert server.count == 0
        _, folder = bench(written())
        sent = sum(len(text.split()) for r in server.requests for text in r["body"]["input"])
        count, paid = server.count, prices(folder, "read_cost")
        _, folder = bench(written())
        assert server.count == count
        assert planned_price(written()) == 0
    assert sent / 1000 <= planned
    # 1000 per million of the words that the server counts
    assert [*map(float, paid.values())] == pytest.approx([sent / 1000] * len(paid), rel=1e-6)
    # bought by the first run, and of the same price
    assert prices(folder, "read_cost") == paid


def test_the_sample_by_which_a_collection_is_checked_is_planned_and_is_no_price_of_an_index(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    texts = [f"The harbour of town {n} was built in {1800 + n}." for n in range(40)]
    rows = [{"text": text, "document": "a.txt", "vector": vector(text)} for text in texts]
    files = {"a.txt": "\n\n".join(texts), "q.csv": "query_id,text\nq1,harbour 3\nq2,town 5\n"}
    files |= {"l.csv": "query_id,document,quote,grade\nq1,a,town 3 was,4\nq2,a,town 5 was,4\n"}
    write_files(tmp_path, files)
    with FakeServer(embed) as server:
        section = {**Opensearch(tmp_path).fill(rows), "top_k": 5}
        section["endpoint"] = {"model": "e-1", "base_url": server.url, "api_key_env": None, "price": 1000}
        config = {"name": "x", "documents": "a.txt", "queries": "q.csv", "labels": "l.csv", "cache": "c"}
        config |= {"retrieve": section, "tokenizer": "embedded:all-MiniLM-L6-v2", "measures": ["recall@3"]}
        (tmp_path / "b.yaml").write_text(json.dumps(config))
        (call,) = make_plan(load_config(tmp_path / "b.yaml"), Silent(), search=True).endpoints
        assert (call.estimate.items, server.count) == (2 + 32, 0)
        _, folder = bench(tmp_path / "b.yaml")
        sent = [text for request in server.requests for text in request["body"]["input"]]
    assert len(sent) == 34
    (row,) = table(folder / "prices.csv")
    # a thousand queries cost no sample, and nothing is indexed
    assert float(row["cost_per_1000"]) == pytest.approx(2, rel=0.1)
    assert float(row["index_cost"]) == 0
    assert float(row["endpoint_cost"]) == pytest.approx(sum(len(t.split()) for t in sent) / 1000, rel=1e-6)
