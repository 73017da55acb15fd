"""Requests to a user's service over real HTTP: limits, faults that may pass, and those that do not."""

import threading
import time

import pytest

from harness.models import fill, names_in
from harness.steps import Message, ServiceConfig, send
from harness.values import ConfigError, HarnessError
from tests.judge.fake_server import Answer, FakeServer


def service(url, **more):
    return ServiceConfig(url=url, version="1", request={"q": "{{ query }}"}, **more)


def asked(config, queries=("one",)):
    bodies = [fill(config.request, {"query": query}) for query in queries]
    answers = {}
    messages = [Message(body, config.url, config.method, config.response) for body in bodies]
    send(config, messages, answers.__setitem__)
    return [answers[place] for place in range(len(bodies))]


def echo(request, number):
    return Answer(body={"said": request["body"]["q"], "number": number})


def test_answers_are_in_the_order_of_the_requests_and_are_read_by_jmespath():
    with FakeServer(echo) as server:
        queries = [f"q{i}" for i in range(40)]
        assert asked(service(server.url, response="said", max_concurrency=4), queries) == queries
        assert server.most_in_flight <= 4
        assert asked(service(server.url, response="{a: said}"), ["x"]) == [{"a": "x"}]
        assert asked(service(server.url), []) == []


def test_a_get_request_sends_its_fields_as_the_query():
    with FakeServer(lambda request, number: Answer(body=request["path"])) as server:
        (path,) = asked(service(server.url, method="GET"), ["a b&c"])
    assert path in {"/v1?q=a+b%26c", "/v1?q=a%20b%26c"}


@pytest.mark.parametrize(
    "first",
    [
        Answer(503, {"error": "warming up"}),
        Answer(429, {}, headers={"retry-after": "0.05"}),
        Answer(body={"said": "cut off"}, cut=60),
        pytest.param(Answer(body={"said": "late"}, delay=3), marks=pytest.mark.slow),
    ],
    ids=["503", "429", "cut", "late"],
)
def test_a_fault_that_may_pass_is_tried_again(first):
    with FakeServer(lambda request, number: echo(request, number) if number else first) as server:
        timeout = 1 if first.delay else 600
        assert asked(service(server.url, response="said", timeout=timeout, deadline=1200)) == ["one"]
        # on a busy machine any answer may be late
        assert server.count == 2 or (first.delay and server.count > 2)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer(401, {"error": "who are you"}), "answered 401: who are you. Check headers_env"),
        (Answer(404, b"<h1>Not here</h1>"), "answered 404: Not here. Check headers_env"),
        (
            Answer(302, {}, headers={"location": "http://elsewhere"}),
            "redirects to http://elsewhere, and no redirect is followed",
        ),
        (Answer(body=b"<html>hello"), "is not JSON: .*'<html>hello'"),
        (Answer(body={"other": 1}), r"response \(said\) matches nothing: .*other"),
    ],
)
def test_a_fault_that_will_not_pass_ends_it_immediately(answer, says):
    with FakeServer(lambda request, number: answer) as server:
        with pytest.raises(HarnessError, match=says):
            asked(service(server.url, response="said"))
        assert server.count == 1


def test_what_was_answered_before_a_failure_has_been_handed_on():
    last = threading.Event()

    def script(request, number):
        if request["body"]["q"] == "bad":
            return Answer(400, {"message": "bad"}, after=last)
        return echo(request, number)

    kept = {}

    def keep(place, answer):
        kept[place] = answer
        if len(kept) == 2:
            last.set()

    with FakeServer(script) as server:
        config = service(server.url, response="said")
        bodies = [fill(config.request, {"query": query}) for query in ("a", "bad", "c")]
        with pytest.raises(HarnessError, match="answered 400: bad"):
            send(config, [Message(body, config.url, "POST", "said") for body in bodies], keep)
    assert kept == {0: "a", 2: "c"}


def test_a_secret_header_is_sent_and_never_shown(monkeypatch):
    monkeypatch.setenv("OUR_TOKEN", "sesame-open-0123456789")
    seen = []

    def script(request, number):
        seen.append(request["headers"].get("x-key"))
        return Answer(403, {"message": f"no right for {seen[-1]}"})

    with FakeServer(script) as server:
        config = service(server.url, headers_env={"X-Key": "OUR_TOKEN"})
        with pytest.raises(HarnessError) as error:
            asked(config)
    assert seen == ["sesame-open-0123456789"]
    assert "sesame" not in str(error.value)
    assert "sesame" not in config.model_dump_json()
    monkeypatch.delenv("OUR_TOKEN")
    assert "OUR_TOKEN is not set" in config.problem()
    with pytest.raises(ConfigError, match="OUR_TOKEN is not set"):
        asked(config)


def test_a_template_keeps_the_type_of_a_value_that_is_alone():
    template = {"a": "{{ k }}", "b": ["say {{query}} {{ k }}", {"c": "{{texts}}"}], "d": 5}
    values = {"k": 3, "query": 'hä "x"', "texts": ["one"]}
    assert fill(template, values) == {"a": 3, "b": ['say hä "x" 3', {"c": ["one"]}], "d": 5}
    assert names_in(template) == {"k", "query", "texts"}


@pytest.mark.slow
def test_the_rate_limit_holds_from_one_batch_of_requests_to_the_next():
    with FakeServer(echo) as server:
        config = service(server.url, response="said", requests_per_minute=120)
        begun = time.monotonic()
        for query in "abcd":
            asked(config, [query])
        # two at once, the others half a second apart
        assert time.monotonic() - begun >= 0.9
