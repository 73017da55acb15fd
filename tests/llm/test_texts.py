"""Prompts that are answered in words: through the same ledger, limits and dry run as a judge's."""

import pytest

from harness.models import Model, ModelConfig, TextForm, answers, text_of
from harness.store import Ledger
from harness.values import Silent
from tests.judge.fake_server import FakeServer, grade, says
from tests.judge.helpers import config as judge_config
from tests.judge.helpers import judge_all, pairs, script_of

REWRITE = TextForm("You rewrite questions.", "Rewrite: {{ query }}")
ANSWER = TextForm("", "{{ passages }}\n\nAnswer: {{ query }}")
PRICES = {"fake": {"input": 10.0, "output": 100.0}}


def model(url, ledger, form=REWRITE, **options):
    endpoint = {"model": "fake", "base_url": url, "api_key_env": None, "timeout": 120, "deadline": 300}
    return Model(ModelConfig(endpoint=endpoint | options.pop("endpoint", {}), **options), form, ledger)


def shouted(request, number):
    """Answers a prompt with its first fenced line in capitals."""
    return says(request["body"]["messages"][-1]["content"].splitlines()[1].upper(), usage=(100, 10))


def test_answers_come_in_the_order_of_the_calls_and_are_bought_once(ledger):
    questions = [f"question {n}" for n in range(30)]
    with FakeServer(shouted) as server:
        rewriter = model(server.url, ledger, prices=PRICES)
        calls = [rewriter.call(question) for question in questions]
        found, spending = answers(rewriter, calls, reporter=Silent())
        again, free = answers(rewriter, calls, reporter=Silent())
    assert [text_of(one) for one in found] == [question.upper() for question in questions]
    assert [one.raw for one in again] == [one.raw for one in found]
    assert server.count == 30
    # 100 tokens in at 10 per million and 10 out at 100 per million
    assert spending.cost == pytest.approx(30 * 0.002)
    assert (spending.calls, free.calls, free.from_ledger, free.cost) == (30, 0, 30, 0)


def test_a_text_is_a_settled_row_without_grades_and_goes_through_an_export(ledger, tmp_path):
    with FakeServer(script_of(says("A better question?"))) as server:
        rewriter = model(server.url, ledger)
        answers(rewriter, [rewriter.call("q")], reporter=Silent())
    (row,) = ledger.entries()
    assert (row.settled, row.grades, row.reason, row.raw) == (True, None, "", "A better question?")
    assert row.usable
    with Ledger(tmp_path / "other.db") as other:
        assert other.import_lines(ledger.export_lines()).added == 1
        elsewhere = model("http://127.0.0.1:9/v1", other)
        found, _ = answers(elsewhere, [elsewhere.call("q")], reporter=Silent())
    assert text_of(found[0]) == "A better question?"


UNUSABLE = {
    "nothing": (says(""), "empty_answer"),
    "thoughts alone": (says("<think>hm</think>"), "empty_answer"),
    "cut off": (says("Half an", finish="length"), "truncated"),
    "a refusal": (says(None, refusal="no"), "refusal"),
}


@pytest.mark.parametrize(("answer", "reason"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_cannot_be_used_has_a_reason_and_no_text(answer, reason, ledger):
    with FakeServer(script_of(answer)) as server:
        rewriter = model(server.url, ledger)
        call = rewriter.call("q")
        found, _ = answers(rewriter, [call], reporter=Silent())
        first = server.count
        answers(rewriter, [call], reporter=Silent())
    assert (found[0].reason, found[0].usable, text_of(found[0])) == (reason, False, None)
    assert server.count == first, "a settled failure is not bought again"


def test_thoughts_are_kept_and_left_out_of_the_text(ledger):
    with FakeServer(script_of(says("<think>What is meant?</think>\nA better question?"))) as server:
        rewriter = model(server.url, ledger)
        (found,), _ = answers(rewriter, [rewriter.call("q")], reporter=Silent())
    assert text_of(found) == "A better question?"
    assert "What is meant?" in found.raw


def test_a_judge_and_others_share_a_ledger_and_leave_each_other_alone(ledger):
    (pair,) = pairs(1)
    with FakeServer(script_of(grade(3), says("a text"))) as server:
        (judged,), _ = judge_all(judge_config(server.url), ledger, [pair])
        answerer = model(server.url, ledger, ANSWER)
        call = answerer.call(pair.query.text, [pair.passage.text])
        (found,), _ = answers(answerer, [call], reporter=Silent())
        again, _ = judge_all(judge_config(server.url), ledger, [pair])
    assert (judged.judgment.grade, text_of(found)) == (3, "a text")
    assert again[0].judgment == judged.judgment
    assert server.count == 2
    body = server.requests[1]["body"]
    assert "response_format" not in body
    assert [one["role"] for one in body["messages"]] == ["user"], "an empty system part is no message"


@pytest.mark.parametrize(("change", "anew"), [({"structured": "none"}, 0), ({"seed": 3}, 1)])
def test_only_what_can_change_a_text_is_part_of_its_key(change, anew, ledger):
    """``structured`` asks for the form of a grade; a text has none."""
    with FakeServer(script_of(says("yes"))) as server:
        for endpoint in ({}, change):
            one = model(server.url, ledger, endpoint=endpoint)
            answers(one, [one.call("q")], reporter=Silent())
    assert server.count == 1 + anew
