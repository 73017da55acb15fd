"""Outages and pauses of minutes, on virtual time, over real HTTP."""

import gzip
import json

import pytest

from harness.models import Backoff
from harness.values import LlmError
from tests.judge.fake_server import Answer, FakeServer, completion, error, grade
from tests.judge.helpers import config, pairs
from tests.judge.virtual import VirtualLoop, judge_on

PRICES = {"fake": {"input": 10.0, "output": 100.0}}


@pytest.fixture(autouse=True)
def quick_backoff(monkeypatch):
    """The pauses of a real run, in place of those of the other tests of this room."""
    monkeypatch.setattr("harness.models.llm.sender.Backoff", Backoff)


@pytest.fixture
def loop():
    return VirtualLoop()


@pytest.fixture
def judge(loop, ledger, monkeypatch):
    """Grades ``count`` pairs on virtual time by a server; what they got, and the summary."""

    def judge(script, count, reporter=None, **options):
        with FakeServer(script) as server:
            judge.server = server
            chosen = settings(server.url, **options)
            return judge_on(loop, chosen, ledger, pairs(count), monkeypatch, reporter=reporter)

    return judge


def settings(url, *, concurrency=16, **options):
    """The times of the defaults."""
    endpoint = {"timeout": 60, "deadline": 180, "max_concurrency": concurrency, **options.pop("endpoint", {})}
    return config(url, endpoint=endpoint, **options)


DOWN = {
    "503": error(503, "upstream is down"),
    "connections cut": Answer(cut=0),
    "429 that says no time": error(429, "slow down"),
}


@pytest.mark.parametrize(
    "begin", [pytest.param(0, marks=pytest.mark.slow), 10], ids=["from the start", "in the middle"]
)
@pytest.mark.parametrize("down", DOWN.values(), ids=DOWN.keys())
def test_an_outage_of_25_seconds_is_survived(down, begin, loop, judge):
    def script(request, number):
        return down if begin <= loop.now < begin + 25 else grade(2)

    limit = {"requests_per_minute": 600}
    graded, summary = judge(script, 120, endpoint=limit)
    assert [one.judgment.grade for one in graded] == [2] * 120
    assert loop.now > 25
    assert sum(summary.faults.values()) >= 30, "so often that a breaker without patience would have opened"


@pytest.mark.parametrize(
    ("options", "least", "most"),
    [({"concurrency": 4}, 150, 300), ({"breaker_seconds": 20}, 20, 60)],
    ids=["after the deadline", "earlier where that is wanted"],
)
def test_an_endpoint_that_stays_down_ends_the_run(options, least, most, loop, judge):
    with pytest.raises(LlmError, match="upstream is down"):
        judge(lambda *_: error(503, "upstream is down"), 1000, **options)
    assert least <= loop.now < most


@pytest.mark.parametrize("status", [429, 503])
def test_a_pause_longer_than_the_deadline_is_obeyed(status, loop, judge):
    seen = []
    busy = error(status, "come back later", headers={"retry-after": "240"})

    def script(request, number):
        seen.append(loop.now)
        return busy if loop.now < 240 else grade(3)

    graded, summary = judge(script, 40)
    assert [one.judgment.grade for one in graded] == [3] * 40
    assert not [at for at in seen if 0 < at < 240], "nobody asks during the pause"
    assert 240 <= loop.now < 250
    assert summary.unscored_count == 0


def test_a_pause_beyond_the_longest_is_named(loop, judge):
    busy = error(429, "daily quota used up", headers={"retry-after": "3600"})
    with pytest.raises(LlmError, match=r"asks to wait 3600 s \(Retry-After\)") as caught:
        judge(lambda *_: busy, 40)
    assert judge.server.count <= 16
    assert "daily quota used up" in str(caught.value)
    assert "endpoint.longest_pause allows 600 s" in str(caught.value)
    assert loop.now < 10


def test_pauses_without_an_answer_in_between_add_up(loop, judge):
    busy = error(429, "busy", headers={"retry-after": "100"})
    with pytest.raises(LlmError, match="700 s in total without an answer in between"):
        judge(lambda *_: busy, 40, concurrency=1)
    assert 600 <= loop.now < 700


def test_an_endpoint_that_pauses_again_and_again_but_answers_is_not_given_up(loop, judge):
    answered = []

    def script(request, number):
        if number % 2:
            answered.append(loop.now)
            return grade(1)
        return error(429, headers={"retry-after": "200"})

    graded, _ = judge(script, 10, concurrency=1)
    assert [one.judgment.grade for one in graded] == [1] * 10
    assert loop.now >= 2000


UNSEEN = {
    "cut in the body": Answer(body=completion('{"grade": 4}'), cut=260),
    "cut before the head": Answer(body=completion("{}"), cut=0),
    "not JSON": Answer(body=b'{"id": "x", "choices": [{"mess'),
    "504": error(504, "gateway timeout"),
}


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN.keys())
def test_max_cost_counts_answers_that_did_not_arrive_whole(unseen, judge):
    # a call costs at most about 0.045 (400 tokens out), and 0.002 when it is seen
    ends = "no usable answer 2 times" if unseen is UNSEEN["not JSON"] else "max_cost"
    with pytest.raises(LlmError, match=ends):
        judge(lambda *_: unseen, 50, max_cost=0.2, prices=PRICES)
    assert judge.server.count <= 4


@pytest.mark.parametrize("prices", [PRICES, {}])
def test_calls_that_may_be_billed_are_reported_and_without_a_price_unknown(prices, judge):
    def script(request, number):
        return UNSEEN["cut in the body"] if number == 0 else grade(1)

    _, summary = judge(script, 1, concurrency=1, prices=prices)
    assert summary.unseen_calls == 1
    if prices:
        assert summary.cost == pytest.approx(0.002), "what was seen"
        assert 0.04 < summary.unseen_cost < 0.05
    else:
        assert (summary.cost, summary.unseen_cost) == (None, None)


def test_a_request_that_was_never_sent_costs_nothing(loop, ledger, monkeypatch):
    with FakeServer(lambda *_: grade(1)) as server:
        url = server.url
    with pytest.raises(LlmError, match="no answer from the endpoint"):
        judge_on(loop, settings(url, max_cost=0.05, prices=PRICES), ledger, pairs(50), monkeypatch)


COMPRESSED = Answer(
    body=gzip.compress(json.dumps(completion('{"grade": 1}')).encode()),
    headers={"Content-Encoding": "gzip"},
)


@pytest.mark.parametrize("answer", [Answer(body=b"<html>welcome</html>"), COMPRESSED])
def test_an_endpoint_that_answers_garbage_is_stopped_after_two_replies(answer, judge):
    with pytest.raises(LlmError, match="no usable answer 2 times in a row"):
        judge(lambda *_: answer, 50, concurrency=1)
    assert judge.server.count == 2


def test_one_busy_reply_and_one_broken_reply_do_not_end_a_run(judge):
    first = [error(503), Answer(body=b"<html>welcome</html>")]
    judge(lambda request, number: first[number] if number < 2 else grade(1), 5, concurrency=1)
    assert judge.server.count == 7


def test_the_rate_limit_is_used_to_nine_tenths_and_never_exceeded(loop, judge):
    times, rate = [], 20

    def script(request, number):
        times.append(loop.now)
        return grade(1)

    judge(script, 160, concurrency=32, endpoint={"requests_per_minute": 60 * rate})
    # a burst of one second's calls, and then each in its turn
    assert all(number <= rate + rate * at + 1 for number, at in enumerate(times, start=1))
    assert 160 / loop.now >= 0.9 * rate
