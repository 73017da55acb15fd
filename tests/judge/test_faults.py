"""Every fault of an endpoint, over a real socket: retried where it helps, otherwise None with a reason."""

import json

import pytest

from harness.values import JudgeError, LlmError
from tests.judge.fake_server import Answer, FakeServer, completion, error, grade, says
from tests.judge.helpers import config, judge_all, judged, pairs, script_of

# one of each way to fail; LASTING has the others, each with its reason
REPEATED = {
    "502 with HTML": Answer(502, b"<html>Bad gateway</html>", {"content-type": "text/html"}),
    "503 with retry-after": error(503, headers={"retry-after": "0"}),
    "cut in the body": Answer(body=completion('{"grade": 4}'), cut=260),
    "truncated body": Answer(body=b'{"id": "x", "choices": [{"mess'),
    "not a completion": Answer(body=["surprise"]),
    "text instead of JSON": Answer(body=b"hello", headers={"content-type": "text/plain"}),
    "failure passed on as a success": Answer(body={"error": {"message": "overloaded", "code": 503}}),
    "null choices": Answer(body={**completion(""), "choices": None}),
    "null answer": says(None),
    "whole at the limit, as Mistral says it": says('{"grade": 4}', finish="model_length"),
    "no grade": says("It is quite relevant."),
}


@pytest.mark.parametrize("fault", REPEATED.values(), ids=REPEATED.keys())
def test_a_passing_fault_is_repeated_and_leaves_no_trace_in_the_grade(fault, ledger):
    graded, summary, server = judged(script_of(fault, grade(3)), ledger, 1)
    assert [g.judgment.grade for g in graded] == [3]
    assert server.count == 2 == summary.calls
    assert summary.unscored_count == 0


LASTING = {
    "500": (error(500), "http_500"),
    "cut": (Answer(cut=0), "cut_off"),
    "429": (error(429), "rate_limited"),
    "whole at the limit": (says('{"grade": 4}', finish="length"), "truncated"),
    "nothing at the limit": (says("", finish="length"), "truncated"),
    "thought without an end": (says('<think>Is it {"grade": 4}?'), "unfinished_thought"),
    "interrupted": (says('{"grade": 4}', finish="error"), "interrupted"),
    "filtered by another name": (says('{"grade": 4}', finish="sensitive"), "content_filter"),
    "refusal": (says(None, refusal="I cannot help with that."), "refusal"),
    "content filter": (says("", finish="content_filter"), "content_filter"),
    "filtered prompt": (error(400, "blocked", "content_filter"), "content_filter"),
    "flagged": (error(403, "Your input was flagged by moderation"), "content_filter"),
    "too large a body": (error(413, "request entity too large"), "too_long"),
    "too long": (
        error(400, "This model's maximum context length is 8", "context_length_exceeded"),
        "too_long",
    ),
    "odd status": (error(418, "teapot"), "http_418"),
    "empty choices": (Answer(body={**completion(""), "choices": []}), "empty_choices"),
    "out of scale": (says('{"grade": 5}'), "out_of_scale"),
}


# what asking again would not change
FINAL = {"refusal", "content filter", "filtered by another name", "filtered prompt", "flagged"}
FINAL |= {"too large a body", "too long", "odd status"}


@pytest.mark.usefixtures("three_tries")
@pytest.mark.parametrize("name", LASTING)
def test_a_lasting_fault_is_none_with_its_reason_never_a_grade(name, ledger):
    fault, reason = LASTING[name]
    (only,), summary, server = judged(script_of(fault), ledger, 1, max_unscored=1.0)
    assert (only.judgment.grade, only.reason, summary.unscored) == (None, reason, {reason: 1})
    assert (server.count == 1) == (name in FINAL)


def test_a_lasting_fault_ends_with_the_deadline(ledger):
    settings = {"max_unscored": 1.0, "endpoint": {"deadline": 0.5, "timeout": 0.5}}
    (only,), _, _ = judged(script_of(error(500)), ledger, 1, **settings)
    # the last try has what is left of the deadline, which a busy machine may need for itself
    assert only.judgment.grade is None
    assert only.reason in {"http_500", "timeout"}


def test_an_answer_that_ended_by_itself_is_scored_however_the_server_says_so(ledger):
    ends = ["stop", "STOP", "end_turn", "eos", None]
    graded, _, server = judged(lambda _, number: says('{"grade": 3}', finish=ends[number]), ledger, len(ends))
    assert ([one.judgment.grade for one in graded], server.count) == ([3] * 5, 5)


def test_unusable_answers_are_paid_for_only_so_often(ledger):
    *_, server = judged(script_of(says("no")), ledger, 1, max_unscored=1.0, answers_per_call=3)
    assert server.count == 3


def test_no_answer_is_paid_for_that_the_deadline_would_cut_off(ledger):
    late = Answer(body=completion("no"), delay=0.3)
    settings = {"max_unscored": 1.0, "answers_per_call": 10, "endpoint": {"timeout": 0.5, "deadline": 0.5}}
    (only,), _, server = judged(script_of(late), ledger, 1, **settings)
    assert only.judgment.grade is None
    assert server.count <= 2


def test_a_settled_failure_is_not_paid_for_again_unless_asked(ledger):
    with FakeServer(script_of(says(None, refusal="no"), grade(2))) as server:
        first = config(server.url, max_unscored=1.0)
        judge_all(first, ledger, pairs(1))
        (again,), _ = judge_all(first, ledger, pairs(1))
        assert (again.judgment.grade, again.reason, server.count) == (None, "refusal", 1)
        (anew,), _ = judge_all(config(server.url, ask_again=True), ledger, pairs(1))
    assert (anew.judgment.grade, server.count) == (2, 2)


def test_an_outage_is_not_settled_so_the_next_run_asks_again(ledger):
    with FakeServer(script_of(error(418), grade(2))) as server:
        judge_all(config(server.url, max_unscored=1.0), ledger, pairs(1))
        (again,), _ = judge_all(config(server.url), ledger, pairs(1))
    assert again.judgment.grade == 2


@pytest.mark.parametrize(
    "slow", [Answer(body=completion("{}"), delay=600), Answer(body=completion("{}"), drip=2.0)]
)
def test_a_slow_answer_is_cut_off_and_repeated(slow, ledger):
    with FakeServer(script_of(slow, grade(4))) as server:
        settings = config(server.url, endpoint={"timeout": 0.5, "deadline": 300})
        (only,), _ = judge_all(settings, ledger, pairs(1))
    assert only.judgment.grade == 4
    assert server.count >= 2


FATAL = {
    "wrong key": (error(401, "Incorrect API key"), "api_key_env"),
    "forbidden": (error(403), "api_key_env"),
    "no such model": (error(404, "no such model"), "endpoint.model"),
    "no credit": (error(429, "You exceeded your quota", "insufficient_quota"), "Top up"),
    "no credit, in words": (error(400, "Your credit balance is too low"), "Top up"),
    "paid in full, and spent": (error(402), "Top up"),
    "no structured output": (error(400, "response_format is not supported"), "endpoint.structured"),
}


@pytest.mark.parametrize(("fault", "advice"), FATAL.values(), ids=FATAL.keys())
def test_a_fault_of_the_configuration_ends_the_run_with_advice(fault, advice, ledger):
    with FakeServer(script_of(fault)) as server, pytest.raises(LlmError, match=advice):
        judge_all(config(server.url), ledger, pairs(50))
    assert server.count <= 4


# What an endpoint says of a parameter that every call sends, and what the user is to change.
UNWANTED = {
    "OpenAI": (
        {
            "message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "param": "max_tokens",
            "code": "unsupported_parameter",
        },
        ["Use 'max_completion_tokens' instead.", "Use endpoint.max_completion_tokens instead of"],
    ),
    "no field for the parameter": (
        {"message": "`seed` is not allowed", "code": 400},
        ["`seed` is not allowed", "Change endpoint.seed; null omits it."],
    ),
    "through a gateway": (
        {"message": "error", "metadata": {"raw": "top_p and temperature may not both be set"}},
        ["top_p and temperature may not both be set", "Change endpoint.top_p"],
    ),
    "a list": (
        [{"loc": ["body", "max_tokens"], "msg": "ensure this value is less than or equal to 256"}],
        ["less than or equal to 256", "Change endpoint.max_tokens."],
    ),
}


@pytest.mark.parametrize(
    ("name", "status"), [*((name, 400) for name in UNWANTED), ("OpenAI", 200), ("a list", 422)]
)
def test_a_parameter_that_no_call_may_send_ends_the_run_in_the_words_of_the_endpoint(name, status, ledger):
    body, message = UNWANTED[name]
    wrapped = {"detail": body} if isinstance(body, list) else {"error": body}
    if status == 200:
        # a gateway passes the refusal on as a success, with the status in the body
        wrapped = {"error": {**body, "code": 400}}
    with FakeServer(script_of(Answer(status, wrapped))) as server, pytest.raises(LlmError) as caught:
        judge_all(config(server.url), ledger, pairs(50))
    assert all(words in str(caught.value) for words in message), str(caught.value)
    assert server.count <= 4


def test_an_endpoint_that_only_refuses_is_not_asked_about_every_passage(ledger):
    refused = Answer(400, {"error": "the moon is in the wrong house"})
    with FakeServer(script_of(refused)) as server, pytest.raises(LlmError) as caught:
        judge_all(config(server.url, max_unscored=1.0), ledger, pairs(500))
    assert "http_400: the moon is in the wrong house" in str(caught.value)
    assert server.count <= 3 + 4


def answering(answer, *numbers):
    """A script that gives the answer to some passages, and a grade to the others."""

    def script(request, number):
        text = request["body"]["messages"][1]["content"]
        return answer if any(f"passage {n}\n" in text for n in numbers) else grade(1)

    return script


def test_one_refused_passage_among_others_is_listed_in_the_words_of_the_endpoint(ledger):
    script = answering(Answer(400, {"message": "I do not read passage 7"}), 7)
    with FakeServer(script) as server, pytest.raises(JudgeError) as caught:
        judge_all(config(server.url, max_unscored=0.0), ledger, pairs(20))
    assert "query q7, d:700-709: http_400 (I do not read passage 7)" in str(caught.value)
    assert server.count == 20


def test_passages_that_stay_refused_do_not_end_the_next_run(ledger):
    with FakeServer(answering(Answer(400, {"message": "not this one"}), *range(5, 10))) as server:
        settings = config(server.url, max_unscored=1.0)
        first, second = (judge_all(settings, ledger, pairs(20))[1] for _ in range(2))
    # the second run asks only what is refused, which is not the beginning of a useless run
    assert (first.calls, second.calls) == (20, 5)
    assert first.unscored == second.unscored == {"http_400": 5}


def test_answers_that_are_cut_off_come_with_what_to_do(ledger):
    with pytest.raises(JudgeError, match=r"raise endpoint\.max_tokens"):
        judged(script_of(says("Well, the", finish="length")), ledger, 1)


def test_too_many_unscored_fail_the_run_with_the_list(ledger):
    with FakeServer(script_of(says("no"))) as server, pytest.raises(JudgeError) as caught:
        judge_all(config(server.url, breaker=1000), ledger, pairs(100), total=100)
    assert "no_grade" in str(caught.value)
    assert "query q" in str(caught.value)
    assert server.count < 20, "it stops as soon as 2 % cannot be met"


def test_two_percent_unscored_may_pass(ledger):
    script = answering(says(None, refusal="no"), 7)
    _, summary, _ = judged(script, ledger, 50, total=50)
    assert summary.unscored == {"refusal": 1}
    with pytest.raises(JudgeError, match="max_unscored"):
        judged(script, ledger, 49, total=49)


def test_the_breaker_stops_paying_for_useless_answers(ledger):
    stopped = pytest.raises(LlmError, match="10 times in a row")
    with FakeServer(script_of(says("no"))) as server, stopped:
        judge_all(config(server.url, breaker=10, max_unscored=1.0), ledger, pairs(1000))
    assert 10 <= server.count <= 14


def test_a_wrong_list_is_repeated_whole(ledger):
    wrong, right = (
        says(json.dumps({"grades": [{"passage": n, "grade": n} for n in order]}))
        for order in ((1, 2, 9), (3, 1, 2))
    )
    graded, _, server = judged(script_of(wrong, right), ledger, 3, per_query=3, prompt="listwise")
    assert sorted(g.judgment.grade for g in graded) == [1, 2, 3]
    assert server.count == 2


def test_equal_scores_are_refused_where_distinct_ones_are_asked(ledger):
    answers = script_of(says('{"scores": [4, 4, 0]}'), says('{"scores": [4, 3, 0]}'))
    graded, _, server = judged(answers, ledger, 3, per_query=3, prompt="seed_list", pool={"unit": "chunk"})
    assert [g.judgment.grade for g in graded] == [4, 3, 0]
    assert server.count == 2
