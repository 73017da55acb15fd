"""Limiter, backoff, breaker, sampling: the numbers, with a clock of our own."""

import heapq
import itertools
import random
import types
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.judge.llm import combine_grades, spread_of
from harness.models import Backoff, retry_after
from harness.models.llm.faults import ErrorBody, classify_status
from harness.models.llm.limits import Breaker, Bucket, RateLimiter
from harness.values import LlmError


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_bucket_lends_and_keeps_the_rate():
    clock = Clock()
    bucket = Bucket(60, clock=clock)
    # One a second and one saved up: 0, 1, 2 seconds to wait.
    assert [bucket.take(1) for _ in range(3)] == [0, 1, 2]
    clock.now = 10
    assert bucket.take(1) == 0, "debt is paid off and no more than one is saved up"
    assert bucket.take(1) == 1


def test_an_estimate_is_corrected():
    clock = Clock()
    bucket = Bucket(6000, clock=clock)
    assert bucket.take(1100) == 10, "100 a second, 100 saved up"
    bucket.take(-1000)
    assert bucket.take(100) == 1


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(1, 40)), min_size=1, max_size=60))
def test_no_window_ever_gets_more_than_its_rate_and_one_burst(steps):
    clock = Clock()
    bucket = Bucket(600, clock=clock)
    sent = []
    for gap, amount in steps:
        clock.now += gap
        sent.append((clock.now + bucket.take(amount), amount))
    sent.sort()
    for first in range(len(sent)):
        for last in range(first, len(sent)):
            total = sum(amount for _, amount in sent[first : last + 1])
            window = sent[last][0] - sent[first][0]
            assert total - sent[first][1] <= 10 * window + 10 + 1e-6


@types.coroutine
def nap(seconds):
    """A sleep that tells ``sent_at`` its length and is over when that says so."""
    yield seconds


def sent_at(limiter, clock, arrivals, holds=(), lateness=(0.0,)):
    """When each caller may send, on a clock of our own; ``lateness`` is by how much a sleeper oversleeps."""
    order, late = itertools.count(), itertools.cycle(lateness)
    events = [(at, next(order), limiter.acquire(tokens, nap)) for at, tokens in arrivals]
    events += [(at, next(order), seconds) for at, seconds in holds]
    heapq.heapify(events)
    sent = []
    while events:
        at, _, event = heapq.heappop(events)
        clock.now = max(clock.now, at)
        if isinstance(event, float):
            limiter.hold(event)
            continue
        try:
            pause = event.send(None)
        except StopIteration:
            sent.append(clock.now)
        else:
            heapq.heappush(events, (clock.now + pause + next(late), next(order), event))
    return sent


moments = st.floats(0, 8)
arrivals = st.lists(st.tuples(moments, st.integers(1, 900)), min_size=1, max_size=80)
holds = st.lists(st.tuples(moments, st.floats(0.01, 3)), max_size=3)


@given(arrivals, holds)
@example([(0.0, 1)] * 60, [(0.5, 3.0)])
def test_no_window_exceeds_the_limits_however_callers_come_and_are_held(callers, pauses):
    # 10 requests a second and 10 saved up; 2,000 tokens a second and 2,000 saved up
    clock = Clock()
    sent = sent_at(RateLimiter(600, 120_000, clock=clock), clock, callers, pauses)
    assert len(sent) == len(callers)
    for first, last in itertools.combinations_with_replacement(range(len(sent)), 2):
        assert last - first + 1 <= 10 + 10 * (sent[last] - sent[first]) + 1e-6
    total = sum(tokens for _, tokens in callers)
    assert total <= 2000 + 2000 * sent[-1] + 1e-6
    for at, seconds in pauses:
        assert not [moment for moment in sent if at + 1e-6 < moment < at + seconds - 1e-6]


@given(arrivals, st.lists(st.floats(0, 2), min_size=1, max_size=20))
def test_late_sleepers_bunch_up_and_are_still_never_early(callers, late):
    clock = Clock()
    sent = sent_at(RateLimiter(600, None, clock=clock), clock, callers, lateness=late)
    for number, moment in enumerate(sent, start=1):
        assert number <= 10 + 10 * moment + 1e-6


def test_a_crowd_uses_the_whole_rate():
    clock = Clock()
    sent = sent_at(RateLimiter(600, None, clock=clock), clock, [(0.0, 1)] * 110)
    assert sent[9] == 0, "the burst goes out at once"
    assert sent[-1] == pytest.approx(10), "and the other 100 at 10 a second"


def test_backoff_grows_and_stays_in_the_deadline():
    rng = random.Random(0)
    backoff = Backoff(first=1, longest=8)
    for tries, highest in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (5000, 8)]:
        pauses = [backoff.pause(tries, None, 100, rng) for _ in range(300)]
        assert 0 <= min(pauses) < 0.2 * highest
        assert 0.8 * highest < max(pauses) <= highest
    asked = [backoff.pause(9, 240.0, 100, rng) for _ in range(300)]
    assert max(asked) <= 1, "beside a pause that was asked for, only a little so that not all come at once"
    assert backoff.pause(9, None, 0, rng) is None


def test_retry_after_in_all_its_forms():
    now = datetime(2025, 1, 1, tzinfo=UTC)
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({"retry-after": "Wed, 01 Jan 2025 00:00:30 GMT"}, now) == 30
    assert retry_after({"retry-after": "Wed, 01 Jan 2020 00:00:30 GMT"}, now) == 0
    for odd in ("soon", "-3", "nan", "inf", ""):
        assert retry_after({"retry-after": odd}) is None
    assert retry_after({}) is None


def test_statuses_that_are_tried_again():
    for status in (408, 409, 425, 429, 500, 502, 503, 504, 529):
        fault = classify_status(status, ErrorBody("m"), {})
        assert (fault.again, fault.fatal) == (True, False), status


def test_the_breaker_opens_at_its_threshold_and_a_grade_resets_it():
    clock = Clock()
    breaker = Breaker(3, 10, clock=clock)
    for _ in range(5):
        breaker.useless("x")
        breaker.useless("x")
        breaker.succeeded()
    breaker.failed("x")
    breaker.failed("x")
    breaker.failed("an outage hits many callers at once")
    clock.now = 9.9
    breaker.failed("x")
    clock.now = 10
    with pytest.raises(LlmError, match="5 times in a row; the last reason: still down"):
        breaker.failed("still down")
    # one that has just begun to fail is not down, however long it was quiet
    clock.now = 1000.0
    quiet = Breaker(2, 10, clock=clock)
    quiet.failed("x")
    quiet.failed("x")


@pytest.mark.parametrize(
    ("threshold", "replies", "times"),
    [
        # it does not wait where it pays or is refused
        (2, ["useless"] * 2, 2),
        (2, ["refused"] * 2, 2),
        # an endpoint that never answered need not refuse so often; else a passage may be at fault
        (30, ["refused"] * 3, 3),
        (30, ["succeeded", *["refused"] * 29], None),
        # replies that are no completion are counted apart
        (3, ["failed", "garbled"] * 2, 4),
        (3, ["refused", "garbled"] * 2, 4),
        (3, ["useless", "garbled"] * 2, 4),
        # two failures and one broken reply do not add up to three
        (3, ["failed", "failed", "garbled"], None),
        (3, ["succeeded", "failed", "failed", "garbled"], None),
        # an endpoint that has answered may break off more often
        (30, ["succeeded", *["garbled"] * 30], 30),
    ],
)
def test_the_breaker_opens_by_what_fails_and_how_often(threshold, replies, times):
    breaker = Breaker(threshold, 1000, clock=Clock())

    def told(reply, *why):
        getattr(breaker, reply)(*why)

    for reply in replies[:-1]:
        told(reply, *([] if reply == "succeeded" else ["x"]))
    if times is None:
        told(replies[-1], "x")
    else:
        with pytest.raises(LlmError, match=f"{times} times in a row; the last reason: the last"):
            told(replies[-1], "the last")


@pytest.mark.parametrize(
    ("grades", "majority", "mean"),
    [([3], 3, 3), ([1, 1, 4], 1, 2), ([4, 0], 0, 2), ([1, 2], 1, 1), ([4, 4, 3], 4, 4), ([2, 3, 3, 2], 2, 2)],
)
def test_samples_are_combined(grades, majority, mean):
    # Ties and halves go down: [1, 2] has the mean 1.5 and becomes 1; [4, 4, 3] has 3.67 and becomes 4.
    assert combine_grades(grades, "majority") == majority
    assert combine_grades(grades, "mean") == mean
    assert (spread_of([]), spread_of([2]), spread_of([0, 4, 1])) == (0, 0, 4)
