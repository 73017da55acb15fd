"""The document on NDCG: judges that cost less than a language model, by cosine, by a reranker, by a graph."""

import json

from tests.command import table
from tests.judge.fake_server import FakeServer
from tests.mission.helpers import flow, run_in, values
from tests.models.tiny import cross_encoder
from tests.search.test_endpoints import rerank_script

PASSAGES = {
    "d1": "The yard holds 4,200 vehicles, and it was paved with asphalt.",
    "d2": "Vehicles fit in the yard, which holds many vehicles.",
    "d3": "Rain fell on the harbour for nine days.",
}
QUERY = "How many vehicles does the yard hold?"
ENCODER = {"model": "embedded:all-MiniLM-L6-v2", "cuts": [0.2, 0.4, 0.6, 0.8]}


def judged(folder, judge, graded=(), **sections):
    """The grades by document that a judge gives to three passages, and what the verdict warns of."""
    relevance = {"judge": judge, "pool": {"unit": "chunk", "depth": 5}, **sections.pop("relevance")}
    results = run_in(
        folder, PASSAGES, [QUERY], graded, relevance=flow(relevance), measures="[ndcg_exp@3]", **sections
    )
    rows = [row for row in table(results / "judgments.csv") if row["scored_on"] == "yes"]
    verdict = json.loads((results / "verdict.json").read_text("utf-8"))
    warned = " ".join(warning["text"] for warning in verdict["warnings"] if warning["kind"] == "judge")
    assert values(results, "ndcg_exp@3", "retrieve")["q1"] is not None
    return {row["document"]: int(row["grade"]) for row in rows}, warned, rows[0]["judge"]


def test_ndcg_10_the_cosine_of_query_and_passage_grades(tmp_path):
    """ndcg-10: judge by cosine similarity."""

    graded, warned, judge = judged(tmp_path, "cosine", relevance=ENCODER)
    assert graded.keys() == PASSAGES.keys()
    assert min(graded["d1"], graded["d2"]) > graded["d3"] == 0
    assert judge == "cosine of embedded:all-MiniLM-L6-v2"
    assert f"The judge is {judge}" in warned
    assert "partial to retrievers and rerankers built on the same model" in warned


def test_ndcg_10_its_kappa_with_people_stands_in_the_verdict(tmp_path):
    labels = [("q1", "d1", 4), ("q1", "d2", 2), ("q1", "d3", 0)]
    same = "{kind: exact, top_k: 5, model: 'embedded:all-MiniLM-L6-v2'}"
    _, warned, _ = judged(tmp_path, "cosine", labels, relevance=ENCODER, retrieve=same)
    assert "Its quadratic kappa with people is" in warned
    assert "over 3 passages of 1 query." in warned
    # the model that judges has retrieved too
    assert "also ranks (embedded:all-MiniLM-L6-v2)" in warned
    (written,) = tmp_path.rglob("verdict.json")
    verdict = json.loads(written.read_text("utf-8"))
    assert verdict["tone"] == "caution"
    assert verdict["doubt"]["also_ranks"] == ["embedded:all-MiniLM-L6-v2"]
    assert verdict["sentence"].startswith("Do not rely on this: the judge also ranks")


def test_ndcg_10_labels_of_one_grade_tell_nothing_of_its_agreement(tmp_path):
    _, warned, _ = judged(tmp_path, "cosine", [("q1", "d1", 4)], relevance=ENCODER)
    assert "Its agreement with people cannot be measured over 1 passage of 1 query. Kappa" in warned
    assert "–" not in warned


def test_ndcg_11_a_cross_encoder_on_this_machine_grades(tmp_path):
    """ndcg-11: judge by semantic similarity (a reranker)."""

    from sentence_transformers import CrossEncoder

    name = cross_encoder(tmp_path / "model")
    # its weights are random; what the model itself gives to each pair, from the lowest
    scores = CrossEncoder(name).predict([(QUERY, text) for text in PASSAGES.values()])
    by_score = sorted(zip(map(float, scores), PASSAGES, strict=True))
    low, middle, high = (score for score, _ in by_score)
    assert low < middle < high
    cuts = [low - 1, (low + middle) / 2, (middle + high) / 2, high + 1]
    grades, _, judge = judged(tmp_path, "cross_encoder", relevance={"model": name, "cuts": cuts})
    # one cut below the lowest of the three, two below the next, three below the highest
    assert grades == dict(zip((document for _, document in by_score), (1, 2, 3), strict=True))
    assert judge.startswith("cross-encoder ")


def test_ndcg_11_a_reranker_behind_an_endpoint_grades(tmp_path):
    with FakeServer(rerank_script) as server:
        endpoint = {"model": "r-1", "base_url": server.url, "api_key_env": None, "price": 1}
        section = {"endpoint": endpoint, "cuts": [0.05, 0.2, 0.4, 0.9]}
        graded, _, judge = judged(tmp_path, "cross_encoder", relevance=section)
        sent = [request["body"]["documents"] for request in server.requests]
    assert sorted(text for texts in sent for text in texts) == sorted(PASSAGES.values())
    assert judge == "cross-encoder r-1"
    assert len(graded) == 3


def test_ndcg_12_a_graph_of_passages_spreads_the_query_and_a_few_labels(tmp_path):
    """ndcg-12: judge by a graph of passages."""

    plain, _, judge = judged(tmp_path / "query", "graph", relevance={**ENCODER, "neighbours": 1})
    assert min(plain["d1"], plain["d2"]) > plain["d3"]
    assert judge == "graph of passages by embedded:all-MiniLM-L6-v2"
    seeds = {**ENCODER, "neighbours": 1, "seeds": "labels", "alpha": 0.9, "width": 1}
    high, warned, judge = judged(tmp_path / "high", "graph", [("q1", "d1", 4)], relevance=seeds)
    low, *_ = judged(tmp_path / "low", "graph", [("q1", "d1", 0)], relevance=seeds)
    # one label on the first passage decides on the second, which is joined to it, and not on itself
    assert high["d2"] > low["d2"]
    assert high["d1"] == low["d1"]
    assert judge.endswith(" and labels")
    assert "over 1 passage of 1 query." in warned
