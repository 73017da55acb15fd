"""prices.csv and tokens@k: what quality costs, and that a cached run is not taken for a cheap setting."""

import csv

import pytest

from harness.bench.flow import run_bench
from harness.config import load_config
from harness.errors import ConfigError
from harness.evaluate.prices import reading_depth
from harness.progress import Silent


def run(path):
    results, folder = run_bench(load_config(path), Silent())
    with (folder / "prices.csv").open(newline="") as file:
        return results, {(row["setting"], row["stage"]): row for row in csv.DictReader(file)}


def test_tokens_at_k_is_a_measure_and_its_mean_the_price(write_config):
    path = write_config(
        chunk="{kind: recursive, chunk_size: [90, 180]}",
        rerank="{kind: late_interaction, top_n: 4}",
        more="measures: [ndcg_exp@3, tokens@3, tokens@4, tokens@100]",
    )
    results, prices = run(path)
    means = {(r.setting, r.stage, r.measure): r.mean for r in results.summary if r.split == "all"}
    for (setting, stage), row in prices.items():
        assert (row["k"], row["measure"]) == ("3", "ndcg_exp@3")
        assert float(row["mean"]) == means[setting, stage, "ndcg_exp@3"]
        assert float(row["tokens_at_k"]) == pytest.approx(means[setting, stage, "tokens@3"])
        assert float(row["tokens_per_point"]) == pytest.approx(
            float(row["tokens_at_k"]) / (100 * float(row["mean"]))
        )
        # five queries, four chunks each
        assert row["rerank_pairs"] == ("20" if stage == "rerank" else "0")
        assert row["judge_cost"] == ""
    # longer chunks are more to read; ten chunks are more than three
    assert means["chunk=180/0", "rerank", "tokens@3"] > means["chunk=90/0", "rerank", "tokens@3"]
    assert means["chunk=90/0", "rerank", "tokens@100"] > means["chunk=90/0", "rerank", "tokens@3"]
    row = prices["chunk=90/0", "rerank"]
    assert int(row["rerank_tokens"]) == pytest.approx(5 * means["chunk=90/0", "retrieve", "tokens@4"])
    # the unanswerable query is read as well
    values = [q for q in results.per_query if q.measure == "tokens@3" and q.query_id == "q5"]
    assert all(q.value > 0 for q in values)


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


@pytest.mark.parametrize(
    ("measures", "k"),
    [
        (["ndcg_exp@10", "recall@5"], 10),
        (["ndcg_text@5000", "recall@5"], 5),
        (["map", "ndcg_text_tokens@900", "tokens@7"], 7),
        (["ndcg_evidence@5000", "ndcg_evidence_tokens@900", "text_recall@4"], 4),
        (["map"], None),
    ],
)
def test_the_depth_of_reading_is_the_first_cutoff_in_ranks(measures, k):
    assert reading_depth(measures) == k


def test_a_price_cannot_order_the_summary(write_config):
    with pytest.raises(ConfigError, match="tokens@5 is a cost"):
        load_config(write_config(more="measures: [tokens@5, ndcg_exp@5]"))
