"""Every kind of step keeps the contract, and a new one costs one file and one line of a table."""

import json

import pytest

from harness.running import STEP_KINDS, load_config, run_bench
from harness.values import Kind, Query, Ranking, Silent
from tests.command import table
from tests.custom.services import Search
from tests.models import tiny
from tests.search import toys
from tests.search.helpers import passages_of

MODEL = "embedded:all-MiniLM-L6-v2"
TEXTS = (
    "The yard holds 4,200 vehicles.",
    "Rain fell on the harbour for nine days.",
    "The fuel pump was recalled in 2024.",
    "The yard was paved with recycled asphalt.",
    "vehicles vehicles vehicles",
)
QUERIES = (
    Query("q1", "How many vehicles fit the yard?", "train"),
    Query("q2", "Why was the pump recalled?", "validation"),
    Query("q3", "How many vehicles fit the yard?", "train"),
)

TOYS = {
    "retrieve": (Kind(toys.WordsConfig, toys.Words), Kind(toys.BestRankConfig, toys.BestRank)),
    "rewrite": (Kind(toys.ShoutConfig, toys.Shout), Kind(toys.NamedConfig, toys.Named)),
    "rerank": (Kind(toys.ShortestConfig, toys.Shortest),),
}


def passages(texts=TEXTS):
    return passages_of(texts)


@pytest.fixture
def with_toys(monkeypatch):
    """The line that a new kind adds to the table of its step."""
    for stage, kinds in TOYS.items():
        table = STEP_KINDS[stage]
        monkeypatch.setattr(table, "_items", {**table._items, **{kind.name: kind for kind in kinds}})


@pytest.fixture(scope="module", autouse=True)
def service():
    """The requests of kinds behind HTTP."""
    with Search() as server:
        smallest.root = server.root
        yield


def smallest(kind, **more):
    """A configuration of any kind of retriever with as little as it needs."""
    fields = {"top_k": 3, **more}
    if "model" in kind.config.model_fields:
        fields["model"] = MODEL
    if kind.name == "learned_sparse":
        fields["model"] = tiny.a_splade()
    if "call" in kind.config.model_fields:
        fields |= {"call": "tests.search.own:shared_words", "version": "1"}
    if "url" in kind.config.model_fields:
        request = {name: f"{{{{ {name} }}}}" for name in ("ids", "texts", "k")} | {"qs": "{{ queries }}"}
        fields |= {"url": f"{smallest.root}/many", "version": "1", "request": request}
    if "routes" in kind.config.model_fields:
        routes = STEP_KINDS["retrieve"]["exact"].config
        fields["routes"] = (routes(model=MODEL), routes(model=MODEL, query_prefix="passage: "))
    return kind.config(**fields)


# a learned sparse encoder needs torch, which takes long to load; tests/models has its own tests
SLOW = {"learned_sparse": pytest.param("learned_sparse", marks=pytest.mark.slow)}
# stores whose clients are not installed here: tests/external tries them in an environment of their own
APART = {"qdrant", "pgvector", "lancedb", "opensearch", "elasticsearch"}
OURS = [name for name in STEP_KINDS["retrieve"] if name not in APART]
RETRIEVERS = [*(SLOW.get(name, name) for name in OURS), "toy_words", "toy_best_rank"]


@pytest.fixture(params=RETRIEVERS)
def retriever(request, with_toys):
    if request.param == "faiss":
        pytest.importorskip("faiss")
    return STEP_KINDS["retrieve"][request.param]


def test_a_retriever_ranks_every_query_in_order_and_no_deeper_than_asked(retriever, tools):
    found = tools.search("retrieve", smallest(retriever), passages(), QUERIES)
    assert [r.query_id for r in found.rankings] == ["q1", "q2", "q3"]
    for ranking in found.rankings:
        assert len(ranking.chunk_ids) <= 3
        assert set(ranking.chunk_ids) <= set(passages().ids)
        assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    # equal questions have equal answers
    assert found.rankings[0].chunk_ids == found.rankings[2].chunk_ids
    assert found.rankings[0].chunk_ids[0] in {passages().ids[0], passages().ids[4]}
    again = tools.search("retrieve", smallest(retriever), passages(), QUERIES)
    assert again.rankings == found.rankings


def test_a_retriever_searches_to_a_length_of_text_and_computes_no_vector_twice(retriever, tools):
    tools.search("retrieve", smallest(retriever), passages(), QUERIES)
    computed = tools.session.notes.counts.get("vectors_computed")
    config = smallest(retriever).model_copy(update={"top_k": 20, "top_chars": 60})
    length = dict(zip(passages().ids, passages().lengths, strict=True))
    for ranking in tools.search("retrieve", config, passages(), QUERIES).rankings:
        read = [length[chunk_id] for chunk_id in ranking.chunk_ids]
        assert sum(read[:-1]) < 60
        assert sum(read) >= 60 or len(read) < len(TEXTS)
    assert tools.session.notes.counts.get("vectors_computed") == computed


def test_a_retriever_survives_no_chunks_no_queries_and_fewer_chunks_than_asked_for(retriever, tools):
    config = smallest(retriever, top_k=50)
    nothing = tools.search("retrieve", config, passages(()), QUERIES).rankings
    assert nothing == [Ranking(query.query_id, (), ()) for query in QUERIES]
    assert tools.search("retrieve", config, passages(), ()).rankings == []
    assert all(
        len(r.chunk_ids) <= len(TEXTS) for r in tools.search("retrieve", config, passages(), QUERIES).rankings
    )


# what cannot be searched query by query, and why
NOT_ALONE = {
    "http": "http cannot be searched one query at a time",
    "python": "is given all queries at once",
    "toy_words": "toy_words cannot be searched one query at a time",
}


def test_a_retriever_finds_the_same_for_one_query_at_a_time_or_says_why_not(retriever, tools):
    config = smallest(retriever)
    if config.parts:  # a fusion is measured by its routes
        return
    together = tools.search("retrieve", config, passages(), QUERIES).rankings
    alone, why = tools.alone(config, passages(), QUERIES)
    if retriever.name in NOT_ALONE:
        assert NOT_ALONE[retriever.name] in why
        return
    assert not why
    assert [one.query_id for one in alone] == ["q1", "q2", "q3"]
    assert [one.chunk_ids for one in alone] == [one.chunk_ids for one in together]
    for one, other in zip(alone, together, strict=True):
        # by itself a text has other batches, and so other last digits
        assert one.scores == pytest.approx(other.scores, abs=1e-4)


def test_the_identity_of_a_retriever_is_json_and_moves_with_its_depth(retriever, tools):
    three, four = (json.dumps(tools.identity(smallest(retriever, top_k=k))) for k in (3, 4))
    assert three != four
    rewritten = smallest(retriever, rewrite=STEP_KINDS["rewrite"]["template"].config(template="x {query}"))
    assert json.dumps(tools.identity(rewritten)) != three


@pytest.mark.parametrize(
    ("name", "more"), [("template", {"template": "Asked: {query}"}), ("statement", {}), ("toy_shout", {})]
)
def test_a_rewriter_keeps_ids_and_order(name, more, with_toys, tools):
    asked = tools.rewritten(STEP_KINDS["rewrite"][name].config(**more), QUERIES)
    assert [(q.query_id, q.split) for q in asked] == [(q.query_id, q.split) for q in QUERIES]
    assert asked[0].text != QUERIES[0].text


def test_toys_run_from_yaml_to_tables(write_config, with_toys):
    path = write_config(
        chunk="{kind: recursive, chunk_size: 90}",
        retrieve="""
  kind: toy_best_rank
  top_k: 6
  routes:
    - {kind: toy_words, top_k: 5, rewrite: {kind: toy_shout}}
    - {kind: chroma, model: "embedded:all-MiniLM-L6-v2", top_k: 5}""",
        rerank="[[{kind: toy_shortest}, {kind: late_interaction, top_n: 2}]]",
        more="measures: [ndcg_exp@3, ndcg_text@300]",
    )
    results, folder = run_bench(load_config(path), Silent())
    stages = ["retrieve.toy_words", "retrieve.chroma", "retrieve", "rerank", "rerank2"]
    assert list(dict.fromkeys(row.stage for row in results.summary)) == stages
    runs = {stage: results.runs["base", stage] for stage in stages}
    # shouting changes no letter that this toy looks at
    assert runs["retrieve.toy_words"][0].scores[0] >= 3
    best = {r.chunk_ids[0] for stage in stages[:2] for r in runs[stage][:1]}
    assert runs["retrieve"][0].chunk_ids[0] in best
    for before, after, last in zip(runs["retrieve"], runs["rerank"], runs["rerank2"], strict=True):
        spans = [tuple(map(int, c.rpartition(":")[2].split("-"))) for c in after.chunk_ids]
        assert [b - a for a, b in spans] == sorted(b - a for a, b in spans)
        assert set(after.chunk_ids) == set(before.chunk_ids) == set(last.chunk_ids)
        assert last.chunk_ids[2:] == after.chunk_ids[2:]
    pairs = {row["stage"]: int(row["rerank_pairs"]) for row in table(folder / "prices.csv")}
    queries = len(runs["retrieve"])
    assert pairs["rerank2"] == 2 * queries
    assert pairs["retrieve"] == pairs["retrieve.chroma"] == 0 < pairs["rerank"]
    assert results.record.counts["settings"]["base"]["seconds"].keys() == {"retrieve", "rerank", "rerank2"}
