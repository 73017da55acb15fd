"""A reply with status 200 whose fields report a failure is neither a vector nor a score."""

import pytest

from harness.models import EmbeddingEndpoint, RerankEndpoint, ServedEncoder, ServedPairs, Spending, fetch
from harness.values import LlmError
from tests.judge.fake_server import Answer, FakeServer

PAIRS = [("q", "a"), ("q", "b")]


def embeddings(**fields):
    items = [{"object": "embedding", "index": at, "embedding": [1.0, at]} for at in range(2)]
    return {"object": "list", "model": "m", "data": items, "usage": {"total_tokens": 3}, **fields}


def results(**fields):
    items = [{"index": at, "relevance_score": 0.5, "document": {"text": "x"}} for at in range(2)]
    return {"id": "1", "results": items, "meta": {"billed_units": {"search_units": 1}}, **fields}


def vectors_of(body):
    """What comes of two texts where an endpoint answers with ``body``; and how often it was asked."""
    with FakeServer(lambda *_: Answer(body=body)) as server:
        return fetched(
            ServedEncoder(EmbeddingEndpoint(model="m", base_url=server.url, api_key_env=None)), server
        )


def scores_of(body, **form):
    with FakeServer(lambda *_: Answer(body=body)) as server:
        return fetched(ServedPairs(RerankEndpoint(model="m", base_url=server.url, **form)), server, PAIRS)


def fetched(served, server, items=("a", "b")):
    rows = []
    try:
        fetch(served.endpoint, served.requests(items), lambda _, found, __: rows.extend(found), Spending())
    except LlmError as error:
        return str(error), server.count
    return [row.tolist() for row in rows], server.count


FAILURES = {
    "a code": {"code": 500},
    "the status of MiniMax": {"base_resp": {"status_code": 1004, "status_msg": "bad key"}},
    "a status in words": {"status": "failed"},
    "no success": {"success": False},
    "an error": {"error": {"message": "overloaded", "code": 503}},
    "errors": {"errors": ["overloaded"]},
    "a failure in Chinese": {"msg": "失败"},
    "another kind": {"object": "error"},
}


@pytest.mark.parametrize("fields", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize(("ask", "body"), [(vectors_of, embeddings), (scores_of, results)])
def test_a_status_of_failure_beside_numbers_is_no_answer(fields, ask, body):
    words, count = ask(body(**fields))
    assert isinstance(words, str)
    assert "a reply that was not made, since its" in words
    # like a broken reply it may be on the bill, and is paid for twice at most
    assert count == 2
    assert "overloaded" in words or "overloaded" not in str(fields)


SUCCESS = {
    "codes of success": {"code": 0, "msg": "success", "success": True, "status": "ok"},
    "MiniMax": {"base_resp": {"status_code": 0, "status_msg": "success"}},
    "nulls": {"error": None, "errors": [], "warnings": ["model is deprecated"], "object": None},
    "Cohere": {"response_type": "embeddings_floats", "meta": {"api_version": {"version": "2"}}},
    "facts": {"created": 1, "provider": "x", "request_id": "failed-over-7", "truncate": "END"},
}


@pytest.mark.parametrize("fields", SUCCESS.values(), ids=SUCCESS)
def test_what_servers_add_to_an_answer_is_no_failure(fields):
    assert vectors_of(embeddings(**fields)) == ([[1.0, 0.0], [1.0, 1.0]], 1)
    assert scores_of(results(**fields)) == ([[0.5], [0.5]], 1)


@pytest.mark.parametrize("field", [{"error": "too long"}, {"status": "failed"}, {"object": "error"}])
def test_one_item_that_failed_fails_the_reply(field):
    body = embeddings()
    body["data"][1] |= field
    assert "of one of its items" in vectors_of(body)[0]
    body = results()
    body["results"][1] |= field
    assert "of one of its items" in scores_of(body)[0]
    listed = [{"index": 0, "score": 0.5}, {"index": 1, "score": 0.5, **field}]
    assert "of one of its items" in scores_of(listed, form="tei")[0]


def test_fields_of_documents_and_of_forms_of_the_users_own_say_nothing():
    body = results()
    body["results"][0]["document"] = {"text": "x", "status": "failed", "error": "of the document"}
    assert scores_of(body) == ([[0.5], [0.5]], 1)
    form = {"request": {"q": "{{ query }}", "p": "{{ passages }}"}, "response": "scores", "version": "1"}
    assert scores_of({"status": "ranked", "scores": [1, 2]}, **form) == ([[1.0], [2.0]], 1)


def test_vectors_of_azure_come_from_the_deployment_with_its_key(monkeypatch):
    monkeypatch.setenv("AZURE_KEY", "azure-key-0123456789")
    with FakeServer(lambda *_: Answer(body=embeddings())) as server:
        azure = {
            "endpoint": server.url.removesuffix("/v1"),
            "api_version": "2024-10-21",
            "deployment": "my embed",
        }
        endpoint = EmbeddingEndpoint(model="m", azure=azure, api_key_env="AZURE_KEY", dimensions=2)
        assert fetched(ServedEncoder(endpoint), server) == ([[1.0, 0.0], [1.0, 1.0]], 1)
    (request,) = server.requests
    assert request["path"] == "/openai/deployments/my%20embed/embeddings?api-version=2024-10-21"
    assert request["headers"]["api-key"] == "azure-key-0123456789"
    assert "authorization" not in request["headers"]
    assert (request["body"]["model"], request["body"]["dimensions"]) == ("my embed", 2)
    # one model gives the same numbers wherever it is served
    assert endpoint.fingerprint == EmbeddingEndpoint(model="m", dimensions=2).fingerprint
    assert endpoint.address == azure["endpoint"]
