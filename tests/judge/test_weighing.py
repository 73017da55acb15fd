"""Grades weighted by the probabilities of their tokens."""

import math

import pytest

from harness.judge.llm import expected_grade
from harness.values import JudgeError

from .fake_server import Answer, FakeServer, completion
from .helpers import config, judge_all, pairs, script_of


def token(text, share, **alternatives):
    """One token of an answer; alternatives as ``_2=0.3``."""
    others = [
        {"token": text.replace(text.strip(' "'), name.removeprefix("_")), "logprob": math.log(its)}
        for name, its in alternatives.items()
    ]
    return {
        "token": text,
        "logprob": math.log(share),
        "top_logprobs": [{"token": text, "logprob": math.log(share)}, *others],
    }


def around(*tokens):
    """As a JSON answer is cut into tokens."""
    plain = [{"token": text, "logprob": -0.01, "top_logprobs": []} for text in ('{"', "grade", '":')]
    return [*plain, *tokens, {"token": "}", "logprob": -0.01, "top_logprobs": []}]


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        # (3 * 0.6 + 2 * 0.3 + 4 * 0.1) / 1.0
        ([token("3", 0.6, _2=0.3, _4=0.1)], 2.8),
        # a blank in the token belongs to all alternatives
        ([token(" 3", 0.6, _2=0.3, _4=0.1)], 2.8),
        # what is no grade of the scale is left out: (3 * 0.5 + 1 * 0.25) / 0.75: 7 and a word take 0.25
        ([token("3", 0.5, _1=0.25, _7=0.15, _no=0.1)], 7 / 3),
    ],
)
def test_the_mean_of_the_grades_by_their_probabilities(tokens, expected):
    assert expected_grade(3, around(*tokens), 4) == pytest.approx(expected)


@pytest.mark.parametrize(
    "tokens",
    [
        None,
        [],
        around(token("2", 1.0)),
        # a number that holds the digit says something else
        around({"token": "13", "logprob": -0.1, "top_logprobs": []}),
        # most of the probability lies with words
        around(token("3", 0.3, _2=0.1, _yes=0.6)),
    ],
)
def test_without_weights_there_is_no_value(tokens):
    assert expected_grade(3, tokens, 4) is None


def test_marks_in_one_token_with_the_grade_belong_to_all_alternatives():
    tokens = [{"token": '": 3}', "logprob": math.log(0.75)}]
    tokens[0]["top_logprobs"] = [{"token": '": 1}', "logprob": math.log(0.25)}]
    assert expected_grade(3, tokens, 4) == pytest.approx(2.5)


def test_an_aspect_before_the_grade_is_not_taken_for_it():
    aspect = [{"token": '{"trust":', "logprob": -0.01, "top_logprobs": []}, token("3", 0.9, _0=0.1)]
    # 3 * 0.5 + 1 * 0.5, with the field or where the last number alone is the grade
    assert expected_grade(3, [*aspect, *around(token("3", 0.5, _1=0.5))], 4) == pytest.approx(2.0)
    assert expected_grade(3, [*aspect, token(" 3", 0.5, _1=0.5)], 4) == pytest.approx(2.0)


def test_a_digit_in_a_reason_behind_the_grade_is_not_taken_for_it():
    def words(*texts):
        return [{"token": text, "logprob": -0.01, "top_logprobs": []} for text in texts]

    # the reason says 3 twice, once as a field that it quotes
    reason = words(',"', "reason", '":"', "not \\", '"', 'grade\\": ', "3", " but ", "3", '"}')
    tokens = [*around(token("3", 0.6, _2=0.3, _4=0.1))[:-1], *reason]
    # (3 * 0.6 + 2 * 0.3 + 4 * 0.1) / 1.0
    assert expected_grade(3, tokens, 4) == pytest.approx(2.8)
    # thoughts before it may hold the field too
    thoughts = words("<think>", '"grade": ', "1", "</think>")
    assert expected_grade(3, [*thoughts, *tokens], 4) == pytest.approx(2.8)


def answer(grade, **alternatives):
    share = 1 - sum(alternatives.values())
    body = completion(f'{{"grade": {grade}}}')
    body["choices"][0]["logprobs"] = {"content": around(token(str(grade), share, **alternatives))}
    return Answer(body=body)


def weighed(url, **options):
    return config(url, endpoint={"top_logprobs": 5, **options.pop("endpoint", {})}, **options)


def test_a_judge_gives_the_expected_grade_and_both_ways_share_a_ledger(ledger):
    # 3 * 0.4 + 1 * 0.35 + 0 * 0.25 = 1.55, which rounds to 2
    with FakeServer(script_of(answer(3, _1=0.35, _0=0.25), answer(2, _1=0.5))) as server:
        (plain,), _ = judge_all(weighed(server.url), ledger, pairs(1))
        (found,), summary = judge_all(weighed(server.url, combine="expected"), ledger, pairs(1))
        assert (plain.judgment.grade, found.judgment.grade) == (3, 2)
        assert found.samples == (3,)
        assert (server.count, summary.from_ledger) == (1, 1)
        # halves are rounded down, as in the mean
        (half,), _ = judge_all(weighed(server.url, combine="expected"), ledger, pairs(1, prefix="half "))
        assert half.judgment.grade == 1


def test_an_endpoint_that_gives_no_probabilities_grades_nothing(ledger):
    with FakeServer(script_of(Answer(body=completion('{"grade": 3}')))) as server:
        with pytest.raises(JudgeError, match="no_logprobs 2"):
            judge_all(weighed(server.url, combine="expected"), ledger, pairs(2))
        (found,), _ = judge_all(weighed(server.url, combine="expected", max_unscored=1.0), ledger, pairs(1))
    assert (found.judgment.grade, found.reason) == (None, "no_logprobs")
    assert "grade" in found.detail
