"""Embeddings and rerankers behind HTTP: over real connections, with faults, each number paid for once."""

import hashlib
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from harness.models import Backoff, CallError, ServedPairs, UntrustedJsonError, read_json
from harness.running import Running, Session, run_step
from harness.steps import RERANKERS, RETRIEVERS, ExactConfig, PairScores
from harness.values import ConfigError, LlmError, Silent, StoreError, ask
from tests.judge.fake_server import Answer, FakeServer, error
from tests.search.helpers import tools_at
from tests.search.test_steps import QUERIES, passages

EndpointRerankerConfig = RERANKERS["endpoint"].config
ChromaConfig = RETRIEVERS["chroma"].config
ConcatenatedConfig = RETRIEVERS["concatenated"].config
FaissConfig = RETRIEVERS["faiss"].config

WIDTH = 24
ALL = {*passages().texts, *(query.text for query in QUERIES)}
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Real pauses would only make the tests slow, and three tries show as much as a minute of them."""

    class Impatient(Backoff):
        def pause(self, tries, asked, left, rng):
            return super().pause(tries, asked, left, rng) if tries < 3 else None

    monkeypatch.setattr("harness.models.llm.sender.Backoff", lambda: Impatient(first=0.01, longest=0.02))


def vector(text):
    """Where a text's words fall among so many: texts that share words are near."""
    out = np.full(WIDTH, 0.01)
    for word in text.lower().strip(".?").replace("?", "").split():
        out[int(hashlib.sha256(word.encode()).hexdigest(), 16) % WIDTH] += 1
    return out.tolist()


def embeddings(texts):
    """The body that answers a request for texts."""
    data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
    used = sum(len(text.split()) for text in texts)
    return {"data": data, "model": "served-1", "usage": {"prompt_tokens": used, "total_tokens": used}}


def embed(request, number):
    return Answer(body=embeddings(request["body"]["input"]))


def endpoint(url, **options):
    return {"model": "fake-embed", "base_url": url, "api_key_env": None, "timeout": 100, **options}


def exact(url, **options):
    return ExactConfig(endpoint=endpoint(url, **options), top_k=3)


def search(tmp_path, config, **options):
    own = tools_at(tmp_path, **options)
    return own.search("retrieve", config, passages(), QUERIES).rankings, own.session


def texts_asked(server):
    return [text for request in server.requests for text in request["body"]["input"]]


@pytest.mark.parametrize("kind", [ChromaConfig, ExactConfig, FaissConfig, ConcatenatedConfig])
def test_every_store_of_vectors_may_have_them_from_an_endpoint(kind, tmp_path):
    if kind is FaissConfig:
        pytest.importorskip("faiss")
    with FakeServer(embed) as server:
        rankings, _ = search(tmp_path, kind(endpoint=endpoint(server.url), top_k=3))
    assert rankings[1].chunk_ids[0] == passages().ids[2]
    assert rankings[0].chunk_ids == rankings[2].chunk_ids
    (first, *_) = server.requests
    assert first["path"] == "/v1/embeddings"
    assert first["body"]["encoding_format"] == "float"
    assert first["body"]["model"] == "fake-embed"


def test_every_text_is_sent_once_in_requests_of_so_many_and_never_again(tmp_path):
    with FakeServer(embed) as server:
        first, context = search(tmp_path, exact(server.url, texts_per_request=2, price=1e6))
        assert sorted(texts_asked(server)) == sorted(ALL)
        assert max(len(request["body"]["input"]) for request in server.requests) == 2
        count = server.count
        again, second = search(tmp_path, exact(server.url, texts_per_request=3, price=1e6))
        # another depth is another ranking, of the same vectors
        search(tmp_path, exact(server.url).model_copy(update={"top_k": 2}))
        assert server.count == count
    assert again == first
    spent = context.notes.bills.served["fake-embed"]
    words = sum(len(text.split()) for text in texts_asked(server))
    assert (spent.calls, spent.prompt_tokens, spent.cost) == (4, words, pytest.approx(words))
    assert spent.from_ledger == 0
    assert spent.served_models == {"served-1"}
    assert second.notes.bills.served == {} or second.notes.bills.served["fake-embed"].calls == 0


def test_equal_texts_of_another_model_dimension_or_field_are_other_vectors(tmp_path):
    with FakeServer(embed) as server:
        own = tools_at(tmp_path)
        for options in ({}, {"model": "other"}, {"dimensions": WIDTH}, {"extra_body": {"truncate": True}}):
            own.vectors(["one"], exact(server.url, **options).embed)
        # what decides no number is none of the key
        own.vectors(["one"], exact(server.url, price=3, max_concurrency=1, requests_per_minute=1000).embed)
        bodies = [request["body"] for request in server.requests]
    assert [(one.get("dimensions"), one.get("truncate")) for one in bodies[1:]] == [
        (None, None),
        (WIDTH, None),
        (None, True),
    ]


@pytest.mark.parametrize("fault", [error(500), Answer(body=embeddings(["word"] * 5), cut=300)])
def test_a_fault_that_passes_is_outlasted(fault, tmp_path):
    with FakeServer(lambda request, number: fault if number == 0 else embed(request, number)) as server:
        rankings, context = search(tmp_path, exact(server.url))
        # passages and queries are asked for together
        assert server.count == 2
    assert rankings[1].chunk_ids[0] == passages().ids[2]
    assert sum(context.notes.bills.served["fake-embed"].faults.values()) == 1


def put(value):
    def change(body):
        body["data"][0]["embedding"][3] = value

    return change


def cut_first(body):
    del body["data"][0]["embedding"][-1]


def all_zeros(body):
    body["data"][0]["embedding"] = [0.0] * WIDTH


UNUSABLE = {
    "too few": (lambda body: body["data"].pop(), r"4 vectors for 5 texts"),
    "too many": (lambda body: body["data"].append(body["data"][0]), r"6 vectors for 5 texts"),
    "not a number": (put(float("nan")), "no finite number"),
    "too large": (put(10**400), "no finite number"),
    "null": (put(None), "no finite number"),
    "a word": (put("0.5"), "no finite number"),
    "one shorter": (cut_first, "vectors of 23, 24 numbers"),
    "zeros": (all_zeros, "zeros"),
    "an index twice": (lambda body: body["data"][0].update(index=1), "index does not say"),
    "no index": (lambda body: body["data"][0].pop("index"), "index does not say"),
    "no data": (lambda body: body.pop("data"), "without a list"),
}


def read(served, items, body):
    """What is read of a reply to the only request for these items."""
    (request,) = served.requests(items)
    return request.read(read_json(json.dumps(body)))


@pytest.mark.parametrize(("change", "message"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_answer_that_is_not_whole_is_refused(change, message):
    body = embeddings(passages().texts)
    change(body)
    with pytest.raises((CallError, UntrustedJsonError), match=message):
        read(exact(NOWHERE).embed.make(), passages().texts, body)


def test_vectors_come_in_any_order_and_in_the_dimension_that_is_asked_for():
    texts = passages().texts
    body = embeddings(texts)
    turned = {**body, "data": body["data"][::-1]}
    plain, other = (read(exact(NOWHERE).embed.make(), texts, one)[0] for one in (body, turned))
    np.testing.assert_array_equal(other, plain)
    with pytest.raises(CallError, match="24 numbers where 12 are expected"):
        read(exact(NOWHERE, dimensions=12).embed.make(), texts, body)


def test_an_answer_that_is_not_whole_is_never_a_vector(tmp_path):
    with FakeServer(lambda request, number: Answer(body=embeddings(request["body"]["input"][1:]))) as server:
        with pytest.raises(LlmError, match=r"fake-embed: .*6 vectors for 7 texts.*base_url.*is kept"):
            search(tmp_path, exact(server.url))
        # two are paid for, no more
        assert server.count == 2
        session = Session.at(tmp_path / "cache", Silent())
    with FakeServer(embed) as server:
        rankings, _ = search(tmp_path, exact(server.url))
        assert sorted(texts_asked(server)) == sorted(ALL)
    assert rankings[1].chunk_ids[0] == passages().ids[2]
    assert session.notes.bills.served == {}


@pytest.mark.parametrize("when", ["within a run", "in a later run"])
def test_a_model_that_changes_its_dimension_is_reported(when, tmp_path):
    def shrinks(request, number):
        body = embeddings(request["body"]["input"])
        for item in body["data"]:
            item["embedding"] = item["embedding"][: WIDTH if number == 0 else WIDTH - 1]
        return Answer(body=body)

    with FakeServer(shrinks) as server:
        config = exact(server.url, max_concurrency=1, texts_per_request=5)
        if when == "in a later run":
            tools_at(tmp_path).vectors(list(passages().texts), config.embed)
        with pytest.raises(LlmError, match="vectors of 23 numbers where 24 are expected"):
            search(tmp_path, config)


REFUSED = {
    "a key that is not let in": (error(401, "bad key"), "api_key_env"),
    "a model that is not there": (error(404, "no such model"), "Check endpoint.base_url and endpoint.model"),
    "a text that is too long": (error(400, "maximum context length is 512"), "Make chunks shorter"),
    "a field it does not know": (error(400, "unknown field"), "correct the section endpoint"),
    "no credit": (error(402, "pay first"), "Top up"),
}


@pytest.mark.parametrize(("fault", "message"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_ends_the_run_at_once_and_says_what_to_do(fault, message, tmp_path):
    with FakeServer(lambda request, number: fault) as server:
        with pytest.raises(LlmError, match=f"fake-embed: .*{message}.*Everything paid for is kept"):
            search(tmp_path, exact(server.url))
        assert server.count == 1


def test_what_was_paid_before_a_failure_is_kept(tmp_path):
    down = error(500)
    with FakeServer(lambda request, number: down if number >= 2 else embed(request, number)) as server:
        config = exact(server.url, texts_per_request=1, max_concurrency=1)
        with pytest.raises(LlmError, match="last of 3 tries"):
            search(tmp_path, config)
        bought = texts_asked(server)[:2]
    with FakeServer(embed) as server:
        search(tmp_path, exact(server.url, texts_per_request=1))
        assert not set(bought) & set(texts_asked(server))
        assert len(texts_asked(server)) == 5 + 2 - 2


def test_limits_of_money_and_requests_end_the_run_and_the_next_one_goes_on(tmp_path):
    with FakeServer(embed) as server:
        few = {"texts_per_request": 1, "max_concurrency": 1}
        with pytest.raises(LlmError, match=r"fake-embed stopped at max_calls \(3\) after 3 calls"):
            search(tmp_path, exact(server.url, max_calls=3, **few))
        assert server.count == 3
        with pytest.raises(LlmError, match=r"max_cost \(20\) after \d calls and \d+\."):
            search(tmp_path, exact(server.url, max_cost=20, price=1e6, **few))
        assert 3 < server.count < 7
        search(tmp_path, exact(server.url, **few))
        assert sorted(texts_asked(server)) == sorted(ALL)
        # a limit is one of the whole run
        own, config = tools_at(tmp_path), exact(server.url, max_calls=1)
        own.vectors(["one"], config.embed)
        with pytest.raises(LlmError, match="after 1 call"):
            own.vectors(["two"], config.embed)


def test_two_runs_at_once_buy_nothing_twice(tmp_path):
    with FakeServer(embed) as server, ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda _: search(tmp_path, exact(server.url, texts_per_request=1))[0], range(3))
        first, *others = found
        assert others == [first, first]
        assert sorted(texts_asked(server)) == sorted(ALL)


KILLED = """
import sys
from pathlib import Path
from tests.search.test_endpoints import exact, search
search(Path(sys.argv[1]), exact(sys.argv[2], texts_per_request=1, max_concurrency=1))
"""


def test_a_run_that_is_killed_pays_nothing_twice(tmp_path):
    reached, never = threading.Event(), threading.Event()

    def script(request, number):
        answer = embed(request, number)
        if number == 3:
            reached.set()
            answer.after = never
        return answer

    with FakeServer(script) as server:
        words = [sys.executable, "-c", KILLED, str(tmp_path), server.url]
        with subprocess.Popen(words, cwd=Path(__file__).parent.parent.parent) as process:
            assert reached.wait(900)
            process.kill()
            process.wait(900)
        bought = texts_asked(server)[:3]
        never.set()
    with FakeServer(embed) as server:
        search(tmp_path, exact(server.url, texts_per_request=1))
        assert not set(bought) & set(texts_asked(server))
        assert len(texts_asked(server)) == 4


def test_a_cache_that_cannot_keep_what_is_paid_for_buys_nothing(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "paid").write_text("in the way")
    with FakeServer(embed) as server:
        with pytest.raises((StoreError, OSError)):
            tools_at(tmp_path).vectors(["one"], exact(server.url).embed)
        assert server.count == 0


def test_a_key_is_read_from_the_environment_sent_and_never_shown(tmp_path, monkeypatch):
    key = "sk-very-secret-0123456789"
    monkeypatch.setenv("MY_KEY", key)
    with FakeServer(lambda request, number: error(401, f"who is {key}?")) as server:
        with pytest.raises(LlmError) as caught:
            search(tmp_path, exact(server.url, api_key_env="MY_KEY"))
        assert server.requests[0]["headers"]["authorization"] == f"Bearer {key}"
    assert key not in str(caught.value)
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(ConfigError, match="environment variable MY_KEY is not set"):
        search(tmp_path, exact(NOWHERE, api_key_env="MY_KEY"))


PAIRS = [(q.text, text) for q in QUERIES for text in passages().texts]


def relevance(query, document):
    shared = set(query.lower().strip("?").split()) & set(document.lower().strip(".").split())
    return len(shared) - len(document) / 1000


def rerank_script(request, number):
    body = request["body"]
    if "texts" in body:
        scores = [relevance(body["query"], text) for text in body["texts"]]
        ranked = sorted(range(len(scores)), key=lambda i: -scores[i])
        return Answer(body=[{"index": i, "score": scores[i]} for i in ranked])
    scores = [relevance(body["query"], text) for text in body["documents"]]
    ranked = sorted(range(len(scores)), key=lambda i: -scores[i])[: body["top_n"]]
    return Answer(body={"results": [{"index": i, "relevance_score": scores[i]} for i in ranked], "id": "x"})


def reranker(url, **options):
    return EndpointRerankerConfig(
        endpoint={"model": "fake-rerank", "base_url": url, "timeout": 100, **options}
    )


def scores_of(tmp_path, config, **options):
    session = Session.at(tmp_path / "cache", Silent(), **options)
    lists = [(query.text, *passages().texts) for query in QUERIES]
    return [
        score for own in run_step(ask(PairScores(config, lists)), Running(session)) for score in own
    ], session


@pytest.mark.parametrize("form", ["cohere", "tei"])
def test_a_reranker_scores_every_pair_once_in_the_form_that_is_asked_for(form, tmp_path):
    with FakeServer(rerank_script) as server:
        config = reranker(server.url, form=form, documents_per_request=2, price_per_request=0.5)
        scores, context = scores_of(tmp_path, config)
        again, _ = scores_of(tmp_path, config)
    assert scores == pytest.approx([relevance(*pair) for pair in PAIRS], abs=1e-6)
    assert again == scores
    # two distinct questions, five chunks, two a request
    assert server.count == 2 * 3
    assert context.notes.bills.served["fake-rerank"].cost == pytest.approx(3.0)
    assert {request["path"] for request in server.requests} == {"/v1/rerank"}
    for request in server.requests:
        body = request["body"]
        if form == "cohere":
            assert body["top_n"] == len(body["documents"])
            assert body["model"] == "fake-rerank"
        else:
            assert body.keys() == {"query", "texts"}


def test_a_score_that_is_none_is_never_zero():
    served, good = ServedPairs(reranker(NOWHERE).endpoint), {"index": 0, "relevance_score": 1}
    for bad in ({}, {"relevance_score": float("nan")}, {"relevance_score": None}):
        with pytest.raises((CallError, UntrustedJsonError), match="no finite number"):
            read(served, PAIRS[:2], {"results": [good, {"index": 1, **bad}]})
