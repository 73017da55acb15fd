"""A context of a route's own: what it indexes, beside routes that index the chunks alone."""

import json

import pytest

from harness.comparison.design import design_of
from harness.running import load_config, make_plan, run_bench
from harness.values import Query, Silent
from tests.command import save_table, table
from tests.judge.fake_server import FakeServer, says
from tests.mission.helpers import flow, write_bench
from tests.search.helpers import rerank_lists, searched

# the title names the place, and the line that answers does not
PASSAGES = {
    "a": "# Rotterdam\n\nThe yard holds 4,100 vehicles.\n\nThree ships call at the yard.",
    "b": "# Bremerton\n\nThe yard holds 4,200 vehicles.\n\nA crane failed at the yard.",
}
TITLE = {"kind": "document", "show": "title"}
WORDS = {"kind": "bm25", "top_k": 5}
VECTORS = {"kind": "exact", "model": "embedded:all-MiniLM-L6-v2", "top_k": 5}
QUESTION = "How many vehicles does the yard at Bremerton hold?"


def config_at(folder, retrieve, **sections):
    folder.mkdir(parents=True, exist_ok=True)
    label = {"query_id": "q1", "document": "b", "quote": "The yard holds 4,200 vehicles.", "grade": 4}
    save_table(folder / "lines.csv", [label])
    fixed = {"chunk": "{kind: recursive, chunk_size: 40, chunk_overlap: 0}", "measures": "[ndcg_exp@5]"}
    sections = {name: flow(section) for name, section in sections.items()}
    labels = {"labels": str(folder / "lines.csv")}
    return write_bench(
        folder, PASSAGES, [QUESTION], retrieve=flow(retrieve), **{**fixed, **labels, **sections}
    )


def run(folder, retrieve, **sections):
    return run_bench(load_config(config_at(folder, retrieve, **sections)), Silent())[1]


def fused(*routes, **more):
    return {"kind": "rrf", "top_k": 5, "routes": list(routes), **more}


def scores(results, stage="retrieve"):
    rows = [row for row in table(results / "rankings.csv") if row["stage"] == stage]
    return {row["chunk_id"]: float(row["score"]) for row in rows}


@pytest.fixture
def alone(tmp_path):
    """The scores of a retriever alone, with the title as the context of its setting and without."""
    titled = scores(run(tmp_path / "titled", WORDS, context=TITLE))
    bare = scores(run(tmp_path / "bare", WORDS))
    assert titled != bare
    return {"titled": titled, "bare": bare}


@pytest.mark.parametrize(
    ("retrieve", "around", "first", "second"),
    [
        (fused({**WORDS, "context": TITLE}, WORDS), None, "titled", "bare"),
        (fused({**WORDS, "context": None}, WORDS), TITLE, "bare", "titled"),
        # that of a fusion is that of its routes which have none
        (fused(WORDS, {**WORDS, "context": None}, context=TITLE), None, "titled", "bare"),
        # in turn, as in the section of a setting
        (fused({**WORDS, "context": [[TITLE]]}, WORDS), None, "titled", "bare"),
    ],
)
def test_one_route_searches_with_a_context_and_the_other_without(
    tmp_path, alone, retrieve, around, first, second
):
    results = run(tmp_path / "routes", retrieve, context=around)
    assert scores(results, "retrieve.bm25") == alone[first]
    assert scores(results, "retrieve.bm25-2") == alone[second]


def test_a_retriever_with_a_context_is_found_as_by_that_of_its_setting(tmp_path, alone):
    assert scores(run(tmp_path / "own", {**WORDS, "context": TITLE})) == alone["titled"]


def test_a_filter_leaves_each_route_its_context(tmp_path):
    save_table(tmp_path / "documents.csv", [{"document": name, "place": name} for name in PASSAGES])
    table_of = {"kind": "rules", "file": str(tmp_path / "documents.csv"), "fields": ["place"]}
    save_table(
        tmp_path / "documents.csv",
        [{"document": "a", "place": "Rotterdam"}, {"document": "b", "place": "Bremerton"}],
    )
    results = run(tmp_path / "routes", fused({**WORDS, "context": TITLE}, WORDS), filter=table_of)
    titled = run(tmp_path / "titled", WORDS, context=TITLE, filter=table_of)
    bare = run(tmp_path / "bare", WORDS, filter=table_of)
    assert scores(results, "retrieve.bm25") == scores(titled)
    assert scores(results, "retrieve.bm25-2") == scores(bare)
    assert scores(titled) != scores(bare)
    assert {chunk_id.partition(":")[0] for chunk_id in scores(titled)} == {"b"}


def test_names_of_what_is_around_a_chunk_are_found_by_a_route_with_a_field(tmp_path):
    named = {**WORDS, "field": "entities"}
    results = run(tmp_path, fused({**named, "context": TITLE}, named))
    # every chunk of the document is below its title, of which the chunks have the first alone
    assert set(scores(results, "retrieve.bm25-2")) < set(scores(results, "retrieve.bm25"))


def test_the_texts_of_both_are_planned_and_computed_once(tmp_path):
    path = config_at(tmp_path, fused({**VECTORS, "context": TITLE}, VECTORS))
    chunks = make_plan(load_config(path), Silent()).settings[0].chunks
    assert make_plan(load_config(path), Silent()).settings[0].to_embed == 2 * chunks
    counts = [
        json.loads((run_bench(load_config(path), Silent())[1] / "record.json").read_text("utf-8"))["counts"]
        for _ in range(2)
    ]
    # the texts of the index twice, and the question
    assert counts[0]["vectors_computed"] == 2 * chunks + 1
    assert counts[1].get("vectors_computed", 0) == 0
    assert make_plan(load_config(path), Silent()).settings[0].to_embed == 0


def test_what_is_indexed_twice_is_priced_twice(tmp_path):
    def tokens(name, retrieve, **more):
        results = run(tmp_path / name, retrieve, **more)
        return {int(row["index_tokens"]) for row in table(results / "prices.csv")}

    (titled,) = tokens("titled", VECTORS, context=TITLE)
    (bare,) = tokens("bare", VECTORS)
    assert titled > bare
    assert tokens("both", fused({**VECTORS, "context": TITLE}, VECTORS)) == {titled + bare}
    # the context of the setting is indexed by no route here
    routes = fused({**VECTORS, "context": None}, {**WORDS, "context": None})
    assert tokens("none", routes, context=TITLE) == {bare}


def test_calls_for_a_context_of_a_route_are_planned_and_made_once(tmp_path):
    with FakeServer(lambda request, number: says("It is about Bremerton.")) as server:
        endpoint = {"model": "fake", "base_url": server.url, "api_key_env": None}
        written = {"kind": "llm", "endpoint": endpoint}
        path = config_at(tmp_path, fused({**WORDS, "context": written}, WORDS, {**WORDS, "context": written}))
        plan = make_plan(load_config(path), Silent())
        (calls,) = plan.rewriting
        assert calls.estimate.calls == plan.settings[0].chunks
        assert not server.requests
        results = run_bench(load_config(path), Silent())[1]
        assert len(server.requests) == plan.settings[0].chunks
    assert scores(results, "retrieve.bm25") == scores(results, "retrieve.bm25-3")
    assert scores(results, "retrieve.bm25") != scores(results, "retrieve.bm25-2")


def test_each_route_is_timed_with_its_index(tmp_path):
    results = run(tmp_path, fused({**WORDS, "context": TITLE}, WORDS), latency={"queries": 1})
    timed = {row["stage"]: row["p50"] for row in table(results / "latency.csv")}
    assert timed.keys() >= {"retrieve.bm25", "retrieve.bm25-2"}
    assert all(timed.values())


def test_settings_that_differ_in_it_are_named_by_it(tmp_path):
    path = config_at(tmp_path, {**WORDS, "context": [None, TITLE, [TITLE, {"kind": "headings"}]]})
    named = [one.name for one in load_config(path).settings]
    assert named == ["context=none", "context=document", "context=document+headings"]
    routes = [[{**WORDS, "context": TITLE}, VECTORS], [WORDS, VECTORS]]
    path = config_at(tmp_path, {"kind": "rrf", "routes": routes})
    named = [one.name for one in load_config(path).settings]
    assert named == ["rrf(bm25,context=document+exact)", "rrf(bm25,context=setting+exact)"]


def test_verdicts_say_in_words_which_route_has_which_context(tmp_path):
    routes = [{**WORDS, "context": [None, TITLE]}, {**VECTORS, "context": [None, TITLE]}]
    settings = load_config(config_at(tmp_path, {"kind": "rrf", "routes": routes})).settings
    design = design_of({one.name: one.model_dump(mode="json") for one in settings})
    assert [factor.name for factor in design.factors] == ["search", "search context"]
    assert list(dict.fromkeys(design.factors[0].levels.values())) == [
        "keyword search without context + vector search",
        "keyword search with context document + vector search",
    ]
    assert len(set(design.names.values())) == len(settings) == 4


def test_rerankers_read_the_context_of_the_setting(tmp_path):
    rerank = {"kind": "entities", "model": "embedded:all-MiniLM-L6-v2"}
    path = config_at(tmp_path, {**WORDS, "context": None}, context=TITLE, rerank=rerank)
    ((one, *_), _, _) = searched(path)
    texts = [text for _, *texts in rerank_lists(one, 0, [Query("q1", QUESTION, "train")]) for text in texts]
    titles = ("Bremerton\n", "Rotterdam\n")
    assert any(text.startswith(titles) for text in texts)
    assert not any(text.startswith(titles) for text in one.chunking.passages.within(()).texts)


def test_the_file_of_its_context_is_part_of_the_record(tmp_path):
    save_table(tmp_path / "places.csv", [{"document": name, "place": "Bremerton"} for name in PASSAGES])
    fields = {"kind": "fields", "file": str(tmp_path / "places.csv"), "template": "{place}"}
    results = run(tmp_path, fused({**WORDS, "context": fields}, WORDS))
    hashes = json.loads((results / "record.json").read_text("utf-8"))["hashes"]
    assert any(name.endswith("places.csv") for name in hashes)
