"""Another limit of length buys only what it can change."""

import pytest

from tests.judge.fake_server import FakeServer, error, grade, says
from tests.judge.helpers import config, judge_all, pairs

PRICES = {"fake": {"input": 10.0, "output": 100.0}}


def judged(ledger, limit, answer, **options):
    """Judge one pair under a limit; returns the graded pair and how often the endpoint was asked."""
    with FakeServer(lambda *_: answer) as server:
        settings = config(
            server.url, max_unscored=1, answers_per_call=1, endpoint={"max_tokens": limit}, **options
        )
        (only,), _ = judge_all(settings, ledger, pairs(1))
    return only, server.count


ENDED = {
    "a grade": (says('{"grade": 3}', usage=(100, 10)), 3),
    "a grade of unknown length": (says('{"grade": 3}', usage=None), 3),
    "a grade by a server that says no reason": (says('{"grade": 3}', finish=None, usage=(100, 10)), 3),
    "no grade": (says("It is quite relevant."), None),
    "a refusal": (says(None, refusal="no"), None),
    "a filter": (says("", finish="content_filter"), None),
}


@pytest.mark.parametrize(("answer", "expected"), ENDED.values(), ids=ENDED.keys())
def test_a_higher_limit_does_not_buy_again_what_ended_by_itself(answer, expected, ledger):
    judged(ledger, 400, answer)
    only, asked = judged(ledger, 2000, grade(1))
    assert (only.judgment.grade, asked) == (expected, 0)


CUT_OFF = {
    "cut off": says('{"grade": 3}', finish="length", usage=(100, 400)),
    "cut off, which nobody says": says('{"grade', finish=None, usage=(100, 400)),
    "of unknown end": says('{"grade": 3}', finish=None, usage=None),
    "too long a prompt": error(400, "maximum context length is 8", "context_length_exceeded"),
}


@pytest.mark.parametrize("answer", CUT_OFF.values(), ids=CUT_OFF.keys())
def test_a_higher_limit_buys_again_what_was_cut_off(answer, ledger):
    judged(ledger, 400, answer)
    only, asked = judged(ledger, 2000, grade(1))
    assert (only.judgment.grade, asked) == (1, 1)


def test_a_lower_limit_keeps_what_fits_into_it(ledger):
    judged(ledger, 400, says('{"grade": 3}', usage=(100, 40)))
    assert judged(ledger, 40, grade(1))[1] == 0
    assert judged(ledger, 39, grade(1))[1] == 1


def test_a_pair_has_cost_all_its_tries_under_all_limits(ledger):
    judged(ledger, 400, says("", finish="length", usage=(100, 400)), prices=PRICES)
    only, _ = judged(ledger, 2000, says('{"grade": 3}', usage=(100, 900)), prices=PRICES)
    # 2 x 100 tokens in at 10 per million, 400 + 900 out at 100 per million
    assert only.cost == pytest.approx(0.002 + 0.13)
    # the judgment names the answer it rests on, not the call that was saved
    again, asked = judged(ledger, 3000, grade(0), prices=PRICES)
    assert (again.judgment.grade, asked, again.cost) == (3, 0, only.cost)
    assert again.judgment.source == only.judgment.source


def test_asking_again_goes_past_an_answer_without_a_grade_under_any_limit(ledger):
    judged(ledger, 400, says("no"))
    only, asked = judged(ledger, 2000, grade(1), ask_again=True)
    assert (only.judgment.grade, asked) == (1, 1)
    assert judged(ledger, 400, grade(0))[0].judgment.grade == 1, "a grade goes before none"


def test_other_parameters_are_not_mistaken_for_the_limit(ledger):
    judged(ledger, 400, grade(3))
    with FakeServer(lambda *_: grade(1)) as server:
        settings = config(server.url, endpoint={"max_tokens": 2000, "temperature": 0.5})
        (only,), _ = judge_all(settings, ledger, pairs(1))
    assert (only.judgment.grade, server.count) == (1, 1)
