"""How deep rankings go: text budgets that are filled, rerankers that keep what they do not score."""

import itertools

import pytest

from harness.running.evaluate.warnings import text_budgets
from harness.values import Silent
from tests.command import bench, table

DENSE = '{kind: %s, model: "embedded:all-MiniLM-L6-v2"}'
TWO = "{kind: recursive, chunk_size: [60, 250]}"
MEASURES = "measures: [ndcg_exp@3, ndcg_text@600, recall@3]"


def run(path):
    reporter = Silent()
    results, folder = bench(path, reporter)
    return results, folder, reporter.warnings


def test_what_the_reranker_does_not_score_follows_in_the_retriever_s_order(write_config):
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        rerank="[{kind: late_interaction}, {kind: late_interaction, top_n: 4}]",
    )
    results, folder, _ = run(path)
    retrieved = {r.query_id: r.chunk_ids for r in results.runs["top_n=4", "retrieve"]}
    whole = {r.query_id: r for r in results.runs["top_n=all", "rerank"]}
    for ranking in results.runs["top_n=4", "rerank"]:
        before = retrieved[ranking.query_id]
        assert len(before) == 10
        assert set(ranking.chunk_ids[:4]) == set(before[:4])
        assert ranking.chunk_ids[4:] == before[4:]
        assert set(ranking.scores[4:]) == {float("-inf")}
        assert set(whole[ranking.query_id].chunk_ids) == set(before)
        assert min(whole[ranking.query_id].scores) > float("-inf")
    # in the tables a score that was never given is empty; in the TREC run scores still fall strictly
    rows = [r for r in table(folder / "rankings.csv") if (r["setting"], r["stage"]) == ("top_n=4", "rerank")]
    assert {row["score"] == "" for row in rows if int(row["rank"]) > 4} == {True}
    assert {row["score"] == "" for row in rows if int(row["rank"]) <= 4} == {False}
    scores = {}
    for line in (folder / "runs" / "top_n=4.rerank.trec").read_text().splitlines():
        query, _, _, _, score, _ = line.split()
        scores.setdefault(query, []).append(float(score))
    head = {r.query_id: r.scores[0] for r in results.runs["top_n=4", "rerank"]}
    for query, falling in scores.items():
        assert len(falling) == 10
        assert all(a > b for a, b in itertools.pairwise(falling))
        assert falling[0] == pytest.approx(head[query], abs=1e-6)


def test_text_is_retrieved_to_the_same_depth_under_every_chunking(write_config):
    retrieve = DENSE % "exact, top_chars: 600"
    results, folder, warned = run(write_config(chunk=TWO, retrieve=retrieve, more=MEASURES))
    text = {row.chunk_id: row.text for row in results.ranked}
    ranks = {}
    for (setting, stage), rankings in results.runs.items():
        for ranking in rankings:
            lengths = [len(text[chunk_id]) for chunk_id in ranking.chunk_ids]
            assert sum(lengths) >= 600
            assert stage == "rerank" or sum(lengths[:-1]) < 600
            ranks.setdefault(setting, []).append(len(lengths))
    assert min(ranks["chunk=60/0"]) > max(ranks["chunk=250/0"])
    assert not warned
    prices = {(row["setting"], row["stage"]): row for row in table(folder / "prices.csv")}
    for (setting, stage), row in prices.items():
        own = [sum(len(text[i]) for i in r.chunk_ids) for r in results.runs[setting, stage]]
        assert float(row["characters_ranked"]) == pytest.approx(sum(own) / len(own))


def test_rankings_that_end_before_what_a_measure_reads_are_warned_of(write_config):
    def said(more, depths="4", top_n="null", about=("Rankings end", "The reranker scores")):
        path = write_config(
            chunk=TWO,
            retrieve=DENSE % f"exact, top_k: {depths}",
            rerank=f"{{kind: late_interaction, top_n: {top_n}}}",
            more=f"measures: [{more}]",
        )
        return [text for text in run(path)[2] if text.startswith(about)]

    # four chunks of 250 characters fill the budget, four of 60 do not
    (message,) = said("ndcg_text@600")
    assert "chunk=60/0 (5 of 5 queries" in message
    assert "chunk=250/0" not in message
    assert "retrieve.top_chars to 600" in message
    # of 60 characters there are more than 15 chunks, of 250 fewer
    (message,) = said("recall@50", depths="[2, 7, 15]")
    assert message.startswith("Rankings end at rank 2 to 15 in 5 of 6 settings; a measure at cutoff 50 sees")
    shallow, few = said("recall@10", depths="9", top_n="[1, 4]")
    assert shallow.startswith("Rankings end at rank 9 in 4 of 4 settings; a measure at cutoff 10 sees")
    assert few.startswith("The reranker scores the first 1 to 4 chunks, and a measure looks at 10: ")
    assert few.endswith("Omit rerank.top_n, or set it above 10.")
    (line,) = said("recall@3", top_n="3")
    assert line.startswith("The reranker scores the first 3 chunks, and")
    assert said("recall@3", top_n="4") == []


def test_of_text_budgets_the_largest_of_each_unit_counts():
    names = ["ndcg_exp@10", "ndcg_text@500", "ndcg_text@2000", "ndcg_text_tokens@300", "text_recall@5"]
    assert text_budgets(names) == ["ndcg_text@2000", "ndcg_text_tokens@300"]
