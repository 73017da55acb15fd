"""The run as a whole: streaming, order of samples, lists, limits of money and rate, costs."""

import asyncio
import json

import pytest

from harness.judge import LlmJudge
from harness.values import LlmError, Silent
from tests.judge.fake_server import Answer, FakeServer, completion, error, grade, says
from tests.judge.helpers import config, judge_all, judged, pairs, script_of

PRICES = {"fake": {"input": 10.0, "output": 100.0}}
# 100 tokens in at 10 per million and 10 out at 100 per million
PRICE_OF_A_CALL = 0.002


def test_judgments_carry_span_source_judge_and_prompt(ledger):
    graded, summary, _ = judged(lambda request, number: grade(number % 5), ledger, 5)
    judgment = graded[2].judgment
    assert (judgment.query_id, judgment.doc_id, judgment.start, judgment.end) == ("q2", "d", 200, 209)
    assert judgment.judge == "fake (pointwise v1)"
    assert judgment.source.startswith("ledger:")
    assert (len(judgment.prompt_sha), summary.served_models) == (64, {"fake-1-2025"})
    assert sorted(g.judgment.grade for g in graded) == [0, 1, 2, 3, 4]


def test_a_second_run_asks_nothing_and_grades_the_same(ledger):
    with FakeServer(lambda request, number: grade(number % 5)) as server:
        first, _ = judge_all(config(server.url), ledger, pairs(30))
        second, summary = judge_all(config(server.url), ledger, pairs(30))
    assert server.count == 30
    assert [g.judgment for g in first] == [g.judgment for g in second]
    assert (summary.calls, summary.from_ledger) == (0, 30)


def test_the_same_text_in_two_places_is_paid_for_once(ledger):
    (one,) = pairs(1)
    twin = type(one)(one.query, type(one.passage)("e:0", "e", 0, 9, one.passage.text))
    with FakeServer(lambda request, number: Answer(body=completion('{"grade": 3}'), delay=0.05)) as server:
        graded, summary = judge_all(config(server.url), ledger, [one, twin])
    assert [g.judgment.grade for g in graded] == [3, 3]
    assert server.count == 1 == summary.calls
    assert (summary.pairs, summary.from_ledger) == (2, 1)


def test_samples_differ_in_seed_and_are_combined(ledger):
    answers = {0: 4, 1: 1, 2: 1}

    def script(request, number):
        return grade(answers[request["body"]["seed"]])

    with FakeServer(script) as server:
        settings = {"samples": 3, "endpoint": {"temperature": 0.7}}
        (majority,), summary = judge_all(config(server.url, **settings), ledger, pairs(1))
        (mean,), _ = judge_all(config(server.url, combine="mean", **settings), ledger, pairs(1))
    assert (majority.judgment.grade, majority.samples, majority.spread) == (1, (4, 1, 1), 3)
    assert mean.judgment.grade == 2
    assert (server.count, summary.disagreeing) == (3, 1)


def test_half_the_samples_are_not_enough(ledger):
    def script(request, number):
        return grade(4) if request["body"]["seed"] == 0 else says(None, refusal="no")

    given = {"samples": 2, "max_unscored": 1.0, "endpoint": {"temperature": 1}}
    (only,), *_ = judged(script, ledger, 1, **given)
    assert (only.judgment.grade, only.reason) == (None, "refusal")


def numbers_shown(request):
    lines = request["body"]["messages"][1]["content"].splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("passage ")]


def test_a_list_is_shuffled_again_for_each_sample_and_put_back(ledger):
    shown = []

    def script(request, number):
        shown.append(numbers_shown(request))
        rows = [{"passage": at, "grade": passage % 5} for at, passage in enumerate(shown[-1], start=1)]
        return says(json.dumps({"grades": rows}))

    graded, _, _ = judged(script, ledger, 8, per_query=8, prompt="listwise", samples=5)
    assert [g.judgment.grade for g in graded] == [n % 5 for n in range(8)]
    assert {g.spread for g in graded} == {0}
    assert len({tuple(order) for order in shown}) == 5
    assert all(sorted(order) == list(range(8)) for order in shown)


def test_long_lists_are_split_and_queries_never_mixed(ledger):
    sizes = []

    def script(request, number):
        count = len(numbers_shown(request))
        sizes.append(count)
        return says(json.dumps({"grades": [{"passage": n + 1, "grade": 0} for n in range(count)]}))

    judged(script, ledger, 26, per_query=13, prompt="listwise")
    assert sorted(sizes) == [3, 3, 10, 10]


def test_max_calls_stops_cleanly_and_the_next_run_goes_on(ledger):
    with FakeServer(lambda request, number: grade(1)) as server:
        with pytest.raises(LlmError, match="max_calls"):
            judge_all(config(server.url, max_calls=12), ledger, pairs(30))
        assert server.count == 12 == len(list(ledger.entries()))
        graded, _ = judge_all(config(server.url), ledger, pairs(30))
    assert (len(graded), server.count) == (30, 30)


def test_max_cost_is_never_exceeded_though_calls_run_side_by_side(ledger):
    with FakeServer(lambda request, number: grade(1)) as server, pytest.raises(LlmError, match="max_cost"):
        # A call may cost up to about 0.045 (400 tokens out), and costs 0.002.
        judge_all(config(server.url, max_cost=0.1, prices=PRICES), ledger, pairs(200))
    spent = sum(entry.price for entry in ledger.entries())
    assert 0.05 < spent <= 0.1


def test_max_cost_counts_calls_that_were_not_waited_for(ledger):
    slow, times = Answer(body=completion("{}"), delay=600), {"timeout": 0.3, "deadline": 60}
    with FakeServer(script_of(slow)) as server, pytest.raises(LlmError, match="max_cost"):
        judge_all(config(server.url, max_cost=0.1, prices=PRICES, endpoint=times), ledger, pairs(50))
    # two at up to about 0.045 each
    assert server.count <= 2


def test_a_dry_run_asks_nothing_and_its_price_is_an_upper_bound(ledger):
    with FakeServer(lambda request, number: grade(1)) as server:
        judge = LlmJudge(config(server.url, prices=PRICES), ledger)
        before = judge.estimate(pairs(20))
        assert server.count == 0
        _, summary = judge_all(judge.config, ledger, pairs(20))
        after = judge.estimate(pairs(25))
    assert (before.items, before.calls, before.already_answered) == (20, 20, 0)
    assert summary.cost == pytest.approx(20 * PRICE_OF_A_CALL)
    assert before.price >= summary.cost
    assert (after.items, after.calls, after.already_answered) == (25, 5, 20)


def test_an_unknown_price_is_unknown_not_free(ledger):
    assert LlmJudge(config("http://127.0.0.1:9/v1"), ledger).estimate(pairs(2)).price is None
    (only,), summary, _ = judged(script_of(grade(1)), ledger, 1)
    assert (summary.cost, only.cost) == (None, None)
    # nor is the price known of an answer that does not say its length
    silent = script_of(says('{"grade": 1}', usage=None))
    _, summary, _ = judged(silent, ledger, 1, prices=PRICES, prompt="umbrela")
    assert (summary.calls > 0, summary.cost) == (True, None)


def test_the_cost_of_a_pair_holds_all_its_tries(ledger):
    (only,), summary, _ = judged(script_of(error(500), says("eh"), grade(1)), ledger, 1, prices=PRICES)
    assert only.cost == pytest.approx(2 * PRICE_OF_A_CALL) == summary.cost


def test_a_running_event_loop_is_no_obstacle(ledger):
    async def notebook(url):
        return judge_all(config(url), ledger, pairs(3))

    with FakeServer(script_of(grade(1))) as server:
        graded, _ = asyncio.run(notebook(server.url))
    assert len(graded) == 3


def test_a_failing_sink_ends_the_run_but_keeps_the_answers(ledger):
    def sink(graded):
        raise OSError("disk full")

    with FakeServer(script_of(grade(1))) as server, pytest.raises(OSError, match="disk full"):
        LlmJudge(config(server.url), ledger).grade(pairs(100), sink, reporter=Silent())
    assert server.count == len(list(ledger.entries())) < 100
