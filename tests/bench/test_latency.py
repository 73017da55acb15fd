"""latency.csv: what one query takes, step by step, and that it leaves everything else alone."""

import csv

import pytest

import harness.running.latency as latency
from harness.bench.flow import run_bench
from harness.config import load_config
from harness.progress import Silent
from harness.report import LatencyRow, PriceRow
from harness.report.history import same_result
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, completion

MODEL = 'model: "embedded:all-MiniLM-L6-v2"'
# with time enough on any machine
MEASURED = "measures: [ndcg_exp@3]\nlatency: {queries: 4, seconds: 3600}"


def run(path):
    results, folder = run_bench(load_config(path), Silent())
    return results.of(LatencyRow), folder


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves by a millisecond whenever it is read."""
    now = [0.0]

    def tick():
        now[0] += 0.001
        return now[0]

    monkeypatch.setattr(latency, "perf_counter", tick)
    return now


def test_every_step_and_route_is_measured_and_the_totals_add_up(write_config, clock):
    routes = f"[{{kind: bm25}}, {{kind: exact, {MODEL}, rewrite: {{kind: entities}}}}]"
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve=f"{{kind: rrf, top_k: 5, routes: {routes}}}",
        rerank="{kind: late_interaction, top_n: 3}",
        more=f"rewrite: {{kind: statement}}\n{MEASURED}",
        cache="fresh",
    )
    rows, folder = run(path)
    assert [row.stage for row in rows] == ["rewrite", "retrieve.bm25", "retrieve.exact", "retrieve", "rerank"]
    assert {(row.queries, row.remark) for row in rows} == {(4, "")}
    # each thing done once a query takes one tick: the second route rewrites and searches, and is fused
    own = {row.stage: row.p50 for row in rows}
    total = {row.stage: row.total_p99 for row in rows}
    assert own == pytest.approx(
        {"rewrite": 1, "retrieve.bm25": 1, "retrieve.exact": 2, "retrieve": 4, "rerank": 1}
    )
    assert total == pytest.approx(
        {"rewrite": 1, "retrieve.bm25": 2, "retrieve.exact": 3, "retrieve": 5, "rerank": 6}
    )
    with (folder / "latency.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 5


def test_what_was_measured_is_kept_and_is_no_part_of_the_outcome(write_config, clock, tmp_path):
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve="{kind: bm25}",
        rerank="null",
        more=MEASURED,
        cache="fresh",
    )
    rows, _ = run(path)
    ticks = clock[0]
    again, folder = run(path)
    assert again == rows
    assert clock[0] == ticks, "an unchanged run measures nothing"
    other = tmp_path / "other"
    other.mkdir()
    for file in folder.rglob("*"):
        if file.is_file():
            (other / file.relative_to(folder)).parent.mkdir(parents=True, exist_ok=True)
            (other / file.relative_to(folder)).write_bytes(file.read_bytes())
    assert same_result(folder, other)
    (other / "latency.csv").write_text("another machine")
    assert same_result(folder, other)
    assert not list((tmp_path / "results").glob("*@*"))


def test_a_slow_step_is_measured_on_fewer_queries(write_config, clock):
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve="{kind: bm25}",
        rerank="null",
        # the clock is read once before, and three times a query
        more="measures: [ndcg_exp@3]\nlatency: {queries: 5, seconds: 0.005}",
        cache="fresh",
    )
    rows, _ = run(path)
    assert [row.queries for row in rows] == [2]


def test_nothing_is_measured_unless_asked_for(write_config):
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}", retrieve="{kind: bm25}", rerank="null", cache="fresh"
    )
    rows, folder = run(path)
    assert rows == []
    assert not (folder / "latency.csv").exists()


@pytest.mark.parametrize("kind", ["chroma", "exact", "faiss", "concatenated", "bm25"])
def test_every_kind_is_searched_one_query_at_a_time(write_config, kind):
    if kind == "faiss":
        pytest.importorskip("faiss")
    model = "" if kind == "bm25" else f", {MODEL}"
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve=f"[{{kind: {kind}, top_k: 5{model}}}, {{kind: {kind}, top_chars: 200{model}}}]",
        rerank="null",
        more=MEASURED,
    )
    rows, _ = run(path)
    assert [(row.queries, row.remark) for row in rows] == [(4, "")] * 2
    assert all(0 < row.p50 <= row.p95 <= row.p99 == row.total_p99 for row in rows)


def test_code_of_the_user_is_not_called_to_measure_it(write_config):
    own = '{kind: python, call: "tests.search.own:shared_words", version: "1"}'
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve=f"{{kind: rrf, routes: [{{kind: bm25}}, {own}]}}",
        rerank="null",
        more=MEASURED,
    )
    rows, _ = run(path)
    remarks = {row.stage: row.remark for row in rows}
    assert remarks["retrieve.bm25"] == ""
    assert (
        remarks["retrieve.python"] == remarks["retrieve"] == "python cannot be searched one query at a time"
    )
    assert [row.total_p50 for row in rows if row.remark] == [None, None]


def test_an_answer_of_a_model_takes_what_it_took_when_it_was_paid_for(write_config, monkeypatch):
    monkeypatch.setenv("FAKE_KEY", "sk-do-not-show-me-4711")
    with FakeServer(lambda request, number: Answer(body=completion("words"), delay=0.15)) as server:
        endpoint = f"{{model: fake-1, base_url: '{server.url}', api_key_env: FAKE_KEY, timeout: 120}}"
        path = write_config(
            chunk="{kind: recursive, chunk_size: 90}",
            retrieve="{kind: bm25}",
            rerank="null",
            more=f"rewrite: {{kind: multi_query, endpoint: {endpoint}}}\n{MEASURED}",
            cache="fresh",
        )
        results, _ = run_bench(load_config(path), Silent())
        assert server.count == 5, "nothing is asked again to measure it"
    rows = {row.stage: row for row in results.of(LatencyRow)}
    assert rows["rewrite"].p50 >= 150
    assert rows["retrieve"].total_p50 >= rows["rewrite"].p50
    # no price table: what it costs is not known
    assert {row.cost_per_1000 for row in results.of(PriceRow)} == {None}
    # its answers are counted once
    (facts,) = results.record.counts["rewriting"].values()
    assert (facts["calls"], facts["from_ledger"]) == (5, 0)


def test_the_time_of_a_batch_is_not_taken_for_that_of_a_query(write_config, monkeypatch):
    monkeypatch.setenv("FAKE_KEY", "sk-do-not-show-me-4711")
    with FakeServer(Batches(lambda line: completion("words"))) as server:
        endpoint = f"{{model: fake-1, base_url: '{server.url}', api_key_env: FAKE_KEY, timeout: 120}}"
        path = write_config(
            chunk="{kind: recursive, chunk_size: 90}",
            retrieve="{kind: bm25}",
            rerank="null",
            more=f"rewrite: {{kind: llm, endpoint: {endpoint}, batch: {{poll: 0.02}}}}\n{MEASURED}",
            cache="fresh",
        )
        rows, _ = run(path)
    said = "the language model has answered in batches, whose time is not that of a query"
    assert [(row.stage, row.p50, row.total_p50, row.remark) for row in rows] == [
        ("rewrite", None, None, said),
        ("retrieve", rows[1].p50, None, said),
    ]
    assert rows[1].p50 is not None
