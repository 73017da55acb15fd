"""What an endpoint may not do: redirect, answer ambiguously, nest without end, or answer with a bomb."""

import asyncio
import gzip
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models import (
    CallError,
    EmbeddingEndpoint,
    ServedEncoder,
    Spending,
    UntrustedJsonError,
    fetch,
    read_json,
)
from harness.models.llm import http_client
from harness.models.llm.untrusted import DEEPEST
from harness.values import HarnessError, LlmError
from tests.custom.test_sending import asked, service
from tests.judge.fake_server import Answer, FakeServer, completion, grade

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(values)
def test_plain_json_is_read(value):
    assert read_json(json.dumps(value)) == read_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 2}', "the field 'a' twice"),
        ('[{"b": {"c": 1, "c": 1}}]', "the field 'c' twice"),
        ("[" * (DEEPEST + 2) + "]" * (DEEPEST + 2), "levels deep"),
        ("[" * 100_000, "levels deep"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "levels deep"),
        ("<html>", "it is not JSON"),
        ("[NaN]", "NaN, no finite number"),
        ("[-Infinity]", "no finite number"),
        ("[1e999]", "no finite number"),
        ("[1" + "0" * 400 + ".0]", "no finite number"),
        ("[1" + "0" * 250 + "e99]", "no finite number"),
        ("[1" + "0" * 5000 + "]", "it is not JSON"),
    ],
)
def test_what_could_mean_two_things_or_never_end_is_refused(text, why):
    for content in (text, text.encode()):
        with pytest.raises(UntrustedJsonError, match=why):
            read_json(content)


def test_the_limits_are_exact():
    assert read_json("[" * DEEPEST + "]" * DEEPEST)
    with pytest.raises(UntrustedJsonError, match="larger than 4 bytes"):
        read_json("[1,2]", most_bytes=4)


@pytest.mark.parametrize("status", [301, 307])
def test_no_redirect_is_followed(status):
    def moved(*_):
        return Answer(status, {}, headers={"location": f"{target.url}/chat/completions"})

    with FakeServer(lambda *_: grade(4)) as target, FakeServer(moved) as server:
        calls = ((ask, LlmError), (vectors, LlmError), (lambda at: asked(service(at.url)), HarnessError))
        for call, kind in calls:
            with pytest.raises(kind, match=f"redirects to {target.url}.*give this address"):
                call(server)
        assert (target.count, server.count) == (0, 3)


def test_a_compressed_reply_is_refused_before_it_is_unpacked_and_paid_for_twice_at_most():
    bomb = Answer(body=gzip.compress(b"0" * 50_000_000), headers={"content-encoding": "gzip"})
    said = r"compressed \(gzip\).*heed the header Accept-Encoding: identity"
    with FakeServer(lambda *_: bomb) as server:
        with pytest.raises(HarnessError, match=said):
            asked(service(server.url))
        assert server.requests[0]["headers"]["accept-encoding"] == "identity"
        assert server.count == 1
        with pytest.raises(LlmError, match=r"broken_reply: the reply is compressed \(gzip\)"):
            vectors(server)
        assert server.count == 1 + 2


def vectors(server):
    """One request to an endpoint for vectors."""
    model = ServedEncoder(EmbeddingEndpoint(model="m", base_url=server.url, api_key_env=None))
    rows = []
    fetch(model.endpoint, model.requests(["a"]), lambda _, found, __: rows.extend(found), Spending())
    return rows


def ask(server):
    """One call of a chat endpoint, without a run around it."""
    import asyncio

    from harness.models import ChatClient, Endpoint

    async def run():
        client = ChatClient(Endpoint(model="fake-1", base_url=server.url, api_key_env=None))
        try:
            return await client.ask([{"role": "user", "content": "?"}], None, 0, 20)
        finally:
            await client.aclose()

    return asyncio.run(run())


TWICE = json.dumps(completion('{"grade": 4}')).replace(
    '"finish_reason": "stop"', '"finish_reason": "length", "finish_reason": "stop"'
)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({**completion('{"grade": 0}'), "error": {"message": "overloaded", "code": 503}}, "overloaded"),
        (TWICE.encode(), "the field 'finish_reason' twice"),
    ],
)
def test_an_envelope_that_is_not_plainly_an_answer_is_a_failure(body, why):
    with FakeServer(lambda *_: Answer(body=body)) as server, pytest.raises(LlmError, match=why):
        ask(server)


def test_a_long_reply_is_read_by_the_end_of_its_exchange_and_beside_the_loop(monkeypatch):
    monkeypatch.setattr(http_client, "_LONG", 1)
    reading = threading.Event()

    def slow(content):
        reading.wait(10)
        return content

    monkeypatch.setattr(http_client, "read_json", slow)
    connection = http_client.Connection.__new__(http_client.Connection)
    turns = []

    async def ask():
        async def others():
            while True:
                turns.append(None)
                await asyncio.sleep(0.01)

        beside = asyncio.create_task(others())
        try:
            with pytest.raises(CallError, match="timeout: its 3 bytes could not be read in time") as caught:
                await connection.json(b"[1]", lambda value: value, http_client.due(0.1))
        finally:
            reading.set()
            beside.cancel()
        return caught.value

    fault = asyncio.run(ask())
    assert (fault.again, fault.billed) == (True, True)
    assert len(turns) > 1
