"""Steps behind HTTP in a search: asked once, kept under the version stated, checked before they count."""

import json
from types import SimpleNamespace

import pytest

from harness.models import CallError
from harness.running import Running, Session, load_config, make_plan, run_bench, run_step
from harness.steps import RERANKERS, RETRIEVERS, REWRITERS, PairScores
from harness.values import HarnessError, LlmError, Silent, ask
from tests.custom.services import Search
from tests.judge.fake_server import Answer
from tests.search.test_steps import QUERIES, passages

EndpointRerankerConfig = RERANKERS["endpoint"].config
ServedScorer = RERANKERS["endpoint"].make
HttpRetrieverConfig = RETRIEVERS["http"].config
PythonConfig = RETRIEVERS["python"].config
HttpRewriterConfig = REWRITERS["http"].config


def with_index(server, **more):
    return HttpRetrieverConfig(
        url=f"{server.root}/search",
        request={"name": "{{ collection }}", "q": "{{ query }}", "k": "{{ k }}"},
        response="hits",
        index={
            "url": f"{server.root}/index",
            "request": {"name": "{{ collection }}", "docs": "{{ passages }}"},
            "batch_size": 2,
        },
        **{"version": "1", "top_k": 3, **more},
    )


def in_one(server, **more):
    return HttpRetrieverConfig(
        url=f"{server.root}/many",
        request={"ids": "{{ ids }}", "texts": "{{ texts }}", "qs": "{{ queries }}", "k": "{{ k }}"},
        **{"version": "1", "top_k": 3, **more},
    )


@pytest.mark.parametrize("make", [with_index, in_one])
def test_a_service_ranks_as_the_same_function_does_and_is_asked_once(tools, make):
    own = PythonConfig(call="tests.search.own:shared_words", version="1", top_k=3)
    expected = tools.search("retrieve", own, passages(), QUERIES).rankings
    with Search() as server:
        config = make(server)
        assert tools.search("retrieve", config, passages(), QUERIES).rankings == expected
        paths = server.paths()
        # five chunks in twos; equal questions are asked once
        assert paths == (["/index"] * 3 + ["/search"] * 2 if config.index else ["/many"])
        assert tools.search("retrieve", config, passages(), QUERIES).rankings == expected
        assert server.paths() == paths
        tools.search("retrieve", make(server, version="2"), passages(), QUERIES)
        assert len(server.paths()) == 2 * len(paths)


def test_answers_outlast_a_failure(tools):
    down = True

    def fault(request, number):
        bad = down and request["path"] == "/search" and "pump" in request["body"]["q"]
        return Answer(400, {"message": "down"}) if bad else None

    with Search(fault) as server:
        config = with_index(server, max_concurrency=1)
        with pytest.raises(HarnessError, match="answered 400: down"):
            tools.search("retrieve", config, passages(), QUERIES)
        down = False
        tools.search("retrieve", config, passages(), QUERIES)
        asked = [r["body"]["q"] for r in server.requests if r["path"] == "/search"]
    assert len(asked) == 3
    assert len(set(asked)) == 2


@pytest.mark.parametrize(
    ("hits", "says"),
    [
        ([{"id": "nobody"}], "'nobody' for .*not the id of a passage"),
        ([[0, 0.1], [1, 0.9]], "scores that rise.*for distances, return the negative"),
        ([[0, None]], "returned None for .*not a score"),
        ([[0, 10**400]], "returned 1000.*not a score"),
        ({"a": 1}, "not a list of hits"),
    ],
)
def test_an_answer_that_breaks_the_contract_is_named_and_not_kept(tools, hits, says):
    with Search(lambda request, number: Answer(body={"hits": hits}) if number > 2 else None) as server:
        config = with_index(server)
        for _ in range(2):
            with pytest.raises(HarnessError, match=says):
                tools.search("retrieve", config, passages(), QUERIES[:1])
        assert server.paths().count("/search") == 2


def scorer(server, **more):
    endpoint = {
        "model": "ours",
        "base_url": f"{server.root}/scores",
        "path": "",
        "version": "1",
        "request": {"q": "{{ query }}", "docs": "{{ passages }}"},
        "response": "results",
    }
    return ServedScorer(EndpointRerankerConfig(endpoint=endpoint | more))


def scores(tmp_path, server, pairs, **more):
    with Session.at(tmp_path / "cache", Silent()) as session:
        lists = run_step(ask(PairScores(scorer(server, **more).config, pairs)), Running(session))
        return [score for (score,) in lists]


def test_a_service_scores_pairs_by_query_and_what_is_no_score_is_asked_for_twice(tmp_path):
    with Search() as server:
        pairs = [("a", "x"), ("b", "xx"), ("a", "xxx"), ("a", "xxxx"), ("b", "x" * 5)]
        assert scores(tmp_path, server, pairs, documents_per_request=2) == [1, 2, 3, 4, 5]
        assert [(r["body"]["q"], len(r["body"]["docs"])) for r in server.requests].count(("a", 1)) == 1
        assert set(server.paths()) == {"/scores"}
    with Search(lambda request, number: Answer(body={"results": [1.0]})) as server:
        with pytest.raises(LlmError, match="1 scores for 2 texts"):
            scores(tmp_path, server, [("a", "x"), ("a", "y")], version="2")
        assert server.count == 2


def read(results):
    """The scores that are read of a reply for two passages."""
    (request,) = scorer(SimpleNamespace(root="http://127.0.0.1:9")).served.requests([("a", "x"), ("a", "y")])
    return [float(row[0]) for row in request.read({"results": results})[0]]


@pytest.mark.parametrize(
    "results", [[2.5, 1], [[1, 1], [0, 2.5]], [{"index": 1, "score": 1}, {"index": 0, "score": 2.5}]]
)
def test_scores_come_in_order_or_with_their_index(results):
    assert read(results) == [2.5, 1]


@pytest.mark.parametrize(
    ("results", "says"),
    [
        ([1.0, "high"], "a score that holds no finite number"),
        ([1.0, 1e39], "no finite number"),
        ([1.0, 10**400], "no finite number"),
        ([{"index": 0, "score": 1}, {"index": 0, "score": 2}], "index does not say"),
        ([{"index": 0, "score": 1}, {"index": 7, "score": 2}], "index does not say"),
        ({"a": 1}, "without a list of scores"),
        (None, r"response \(results\) matches nothing"),
    ],
)
def test_scores_that_break_the_contract_are_named(results, says):
    with pytest.raises(CallError, match=says):
        read(results)


def test_only_what_is_sent_to_a_service_and_its_version_decide_its_scores():
    with Search() as server:
        assert scorer(server).fingerprint == scorer(server, price=1, timeout=5).fingerprint
        changes = [{"version": "2"}, {"response": "@"}, {"method": "PUT"}, {"path": "/x"}]
        dumped = scorer(server).config.model_dump(mode="json")
        assert EndpointRerankerConfig.model_validate(dumped) == scorer(server).config
        assert len({scorer(server, **change).fingerprint for change in [{}, *changes]}) == 5


def rewriter(server):
    return HttpRewriterConfig(
        url=f"{server.root}/rewrite", version="1", request={"q": "{{ query }}"}, response="text"
    )


def test_a_service_rewrites_each_question_once(tools):
    with Search() as server:
        config = rewriter(server)
        texts = [query.text for query in tools.rewritten(config, QUERIES)]
        assert texts == [f"{query.text} please" for query in QUERIES]
        assert [query.text for query in tools.rewritten(config, QUERIES)] == texts
        assert server.count == 2
        broken = config.model_copy(update={"response": "@", "version": "2"})
        with pytest.raises(HarnessError, match=r"returned \{.*, which is not text"):
            tools.rewritten(broken, QUERIES)


def test_a_plan_and_a_dry_run_send_nothing_and_a_bench_asks_once(write_config, monkeypatch):
    monkeypatch.setenv("SEARCH_TOKEN", "open-sesame-0123456789")
    with Search() as server:
        secret = {"headers_env": {"Authorization": "SEARCH_TOKEN"}}
        route = with_index(server, rewrite=rewriter(server), **secret).model_dump(mode="json")
        path = write_config(
            chunk="{kind: recursive, chunk_size: 90}",
            rerank=scorer(server).config.model_dump_json(),
            retrieve=json.dumps({"kind": "minmax", "top_k": 3, "routes": [{"kind": "bm25"}, route]}),
            more="measures: [ndcg_exp@3]",
            cache="own-cache",
        )
        config = load_config(path)
        plan = make_plan(config, Silent())
        dry = make_plan(config, Silent(), search=True)
        assert server.requests == []
        urls = {f"{server.root}/{name}" for name in ("search", "rewrite")}
        assert plan.services.keys() == dry.services.keys() == urls
        results, _ = run_bench(config, Silent())
        count = server.count
        assert set(server.paths()) == {"/index", "/rewrite", "/search", "/scores"}
        assert "open-sesame" not in str(results.record)
        assert all(r["headers"].get("authorization") for r in server.requests if r["path"] == "/search")
        run_bench(config, Silent())
        assert make_plan(config, Silent()).services == make_plan(config, Silent(), search=True).services == {}
        assert server.count == count
    monkeypatch.delenv("SEARCH_TOKEN")
    cold = config.model_copy(update={"cache": path.parent / "another"})
    reporter = Silent()
    make_plan(cold, reporter)
    assert sum("SEARCH_TOKEN is not set" in text for text in reporter.warnings) == 1
