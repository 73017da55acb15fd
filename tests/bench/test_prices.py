"""prices.csv: the price at the depth of the score, and of a thousand queries; a cached run is not cheap."""

import shutil
from collections import Counter

import pytest

from harness.comparison import read_stored, scores_of
from harness.comparison.scores import costs_of
from harness.report import LatencyRow, PriceRow, same_result
from harness.running import write_page
from tests.command import bench, table
from tests.judge.fake_server import FakeServer
from tests.report.test_page import payload_of
from tests.search.test_endpoints import embed

from .conftest import QUERIES


def run(path):
    results, folder = bench(path)
    rows = table(folder / "prices.csv")
    return results, {(row["setting"], row["stage"], row["measure"]): row for row in rows}


@pytest.fixture(scope="module")
def priced(module_config, module_corpus):
    """A run of two chunkings with measures of several depths: results, prices, and their folder."""
    path = module_config(
        chunk="{kind: recursive, chunk_size: [90, 180]}",
        rerank="{kind: late_interaction, top_n: 4}",
        more="measures: [ndcg_evidence@300, ndcg_exp@3, recall@4, mrr, tokens@3, tokens@4, tokens@100]",
    )
    return *run(path), module_corpus / "results" / "tiny"


def test_tokens_at_k_is_a_measure_and_its_mean_the_price(priced):
    results, prices, _ = priced
    means = {(r.setting, r.stage, r.measure): r.mean for r in results.summary if r.split == "all"}
    assert {name for _, _, name in prices} == {"ndcg_exp@3", "recall@4", "mrr", "ndcg_evidence@300"}
    depths = {"ndcg_exp@3": "tokens@3", "recall@4": "tokens@4", "mrr": "tokens@100"}
    for (setting, stage, measure), row in prices.items():
        assert float(row["mean"]) == means[setting, stage, measure]
        if measure in depths:
            assert float(row["tokens_read"]) == pytest.approx(means[setting, stage, depths[measure]])
        else:
            # all settings read the same 300 characters, whatever their chunks
            assert row["depth"] == "300 characters"
            assert 300 / 7 < float(row["tokens_read"]) < 300 / 3
        points = 100 * float(row["mean"])
        assert float(row["tokens_per_point"]) == pytest.approx(float(row["tokens_read"]) / points)
        # five queries, four chunks each
        assert row["rerank_pairs"] == ("20" if stage == "rerank" else "0")
        assert row["judge_cost"] == ""
    # longer chunks are more to read; ten chunks are more than three
    assert means["chunk=180/0", "rerank", "tokens@3"] > means["chunk=90/0", "rerank", "tokens@3"]
    assert means["chunk=90/0", "rerank", "tokens@100"] > means["chunk=90/0", "rerank", "tokens@3"]
    row = prices["chunk=90/0", "rerank", "mrr"]
    assert int(row["rerank_tokens"]) == pytest.approx(5 * means["chunk=90/0", "retrieve", "tokens@4"])
    # the unanswerable query is read as well
    values = [q for q in results.per_query if q.measure == "tokens@3" and q.query_id == "q5"]
    assert all(q.value > 0 for q in values)


def test_verdict_and_page_take_the_price_of_their_measure(priced):
    results, prices, folder = priced
    stored = scores_of({"": read_stored(folder)})
    assert results.verdict["measure"] == "ndcg_evidence@300"
    page = payload_of(write_page(folder)[0].read_text(encoding="utf-8"))
    units = {"ndcg_evidence@300": "tokens@300 characters", "ndcg_exp@3": "tokens@3", "recall@4": "tokens@4"}
    for measure, unit in units.items():
        costs = costs_of(stored, measure)
        assert costs.unit == unit
        for setting, tokens in costs.by_setting.items():
            assert tokens == float(prices[setting, "rerank", measure]["tokens_read"])
        at = page["measures"].index(measure)
        for row in page["prices"]:
            mine = prices[page["settings"][row["setting"]], row["stage"], measure]
            assert row["read"][at]["depth"] == mine["depth"]
            assert row["read"][at]["tokens"] == pytest.approx(float(mine["tokens_read"]), rel=1e-3)


def test_a_cached_run_says_that_nothing_was_computed(write_config):
    path = write_config(chunk="{kind: recursive, chunk_size: [90, 91]}", cache="fresh")
    first, prices = run(path)
    second, again = run(path)
    noted = [results.record.counts["settings"] for results in (first, second)]
    shares = [share for notes in noted[1].values() for share in notes["computed_share"].values()]
    assert set(shares) == {0.0}
    assert noted[0]["chunk=90/0"]["computed_share"]["rerank"] == 1.0
    # the second setting has most of its chunks from the first
    assert 0 <= noted[0]["chunk=91/0"]["computed_share"]["retrieve"] < 0.5
    for settings in noted:
        for notes in settings.values():
            assert 0 <= notes["seconds"]["retrieve"] <= notes["seconds"]["rerank"]
    assert prices == again


def test_the_vectors_of_queries_are_paid_for_each_time_and_those_of_chunks_once(lexical):
    with FakeServer(embed) as server:
        endpoint = (
            f"{{model: fake-embed, base_url: '{server.url}', api_key_env: null, timeout: 100, "
            "price: 1000000, texts_per_request: 1}"
        )
        path = lexical(
            retrieve=f"[{{kind: exact, top_k: 5, endpoint: {endpoint}}}, {{kind: bm25}}]",
            more="measures: [ndcg_exp@3]\nlatency: {queries: 2}",
            cache="fresh",
        )
        results, _ = bench(path)
        asked = server.count
        again, _ = bench(path)
        assert server.count == asked, "a second run buys nothing, and nothing is bought to measure it"
    # the server counts a token a word, and each is worth 1
    words = sum(len(query[1].split()) for query in QUERIES)
    for one in (results, again):
        dense, words_only = one.of(PriceRow)
        assert dense.cost_per_1000 == pytest.approx(1000 * words / len(QUERIES))
        assert dense.endpoint_cost > words
        assert (dense.rewrite_cost, words_only.cost_per_1000, words_only.endpoint_cost) == (0, 0, None)
        remarks = [row.remark for row in one.of(LatencyRow)]
        assert remarks == ["fake-embed is not a model on this machine", ""]


def test_an_index_has_its_recall_its_seconds_and_its_bytes(write_config, corpus):
    pytest.importorskip("faiss")
    dense = 'model: "embedded:all-MiniLM-L6-v2"'
    fused = f"{{kind: rrf, routes: [{{kind: faiss, {dense}}}, {{kind: bm25}}]}}"
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve=f"[{{kind: faiss, {dense}, ef_search: [16, 64]}}, {{kind: exact, {dense}}}, {fused}]",
        rerank="{kind: late_interaction, top_n: 4}",
        cache="fresh",
    )
    results, _ = bench(path)
    rows = {(row.setting, row.stage): row for row in results.of(PriceRow)}
    narrow, wide, exact, both = dict.fromkeys(setting for setting, _ in rows)
    (built,) = (path for path in (corpus / "fresh").rglob("index.faiss"))
    index = rows[narrow, "retrieve"]
    # one index for all, searched harder or not: it was built once
    assert index.index_bytes == built.stat().st_size
    assert index.build_seconds > 0
    same = [(narrow, "rerank"), (wide, "retrieve"), (both, "retrieve.faiss"), (both, "retrieve")]
    for place in same:
        assert (rows[place].build_seconds, rows[place].index_bytes) == (
            index.build_seconds,
            index.index_bytes,
        )
    # a scan builds nothing and finds all; words have no nearest, and a fusion is none of the two
    for place in [(exact, "rerank"), (both, "retrieve.bm25")]:
        assert rows[place].build_seconds is rows[place].index_bytes is None
    assert rows[exact, "rerank"].exact_share == 1.0
    assert 0 < index.exact_share <= 1
    assert 0 < rows[both, "retrieve.faiss"].exact_share <= 1
    assert rows[both, "retrieve.bm25"].exact_share is rows[both, "retrieve"].exact_share is None
    assert {row.filter_share for row in rows.values()} == {None}
    # what a verdict over a collection of others says of indexing again
    indexing = scores_of({"": read_stored(corpus / "results" / "tiny")}).indexing[narrow]
    assert (indexing.build_seconds, indexing.bytes) == (index.build_seconds, index.index_bytes)
    assert (indexing.tokens, indexing.money) == (index.index_tokens, None)
    # at the speed of this run, which embedded all
    assert indexing.embed_seconds > 0
    again, _ = bench(path)
    assert again.of(PriceRow) == results.of(PriceRow), "kept with the index, and with what it has found"
    kept = shutil.copytree(corpus / "results" / "tiny", corpus / "kept")
    assert same_result(kept, corpus / "results" / "tiny")
    prices = kept / "prices.csv"
    seconds, tokens = f"{index.build_seconds}", f"{index.index_tokens}"
    assert seconds.encode() in prices.read_bytes()
    prices.write_bytes(prices.read_bytes().replace(seconds.encode(), b"1234.5"))
    assert same_result(kept, corpus / "results" / "tiny"), "the same on another machine"
    prices.write_bytes(prices.read_bytes().replace(f",{tokens},".encode(), b",7,"))
    assert not same_result(kept, corpus / "results" / "tiny")


def test_words_alone_embed_nothing(lexical, corpus):
    bench(lexical())
    (indexing,) = scores_of({"": read_stored(corpus / "results" / "tiny")}).indexing.values()
    assert (indexing.embed_seconds, indexing.money, indexing.build_seconds, indexing.bytes) == (
        0,
        *[None] * 3,
    )


def test_the_selectivity_of_a_filter_is_the_share_of_chunks_that_it_leaves(write_config, corpus):
    (corpus / "topics.csv").write_text("document,topic\nengines,pump\npeople,company\nharbour,loading\n")
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve='{kind: exact, model: "embedded:all-MiniLM-L6-v2", top_k: 100}',
        rerank="null",
        more=f"filter: {{kind: rules, file: {corpus}/topics.csv, fields: [topic]}}",
    )
    results, _ = bench(path)
    (row,) = {row.stage: row for row in results.of(PriceRow)}.values()
    (rankings,) = results.runs.values()
    found = {ranking.query_id: len(ranking.chunk_ids) for ranking in rankings}
    whole = max(found.values())
    # q1 names people, q2 engines, q4 harbour, which share all chunks among them; q3 and q5 name none
    chunks = Counter(chunk_id.partition(":")[0] for chunk_id in rankings[2].chunk_ids)
    assert (found["q1"], found["q2"], found["q4"]) == (chunks["people"], chunks["engines"], chunks["harbour"])
    assert row.filter_share == pytest.approx((whole + 2 * whole) / whole / 5)
