"""Endpoints: what is sent, to whom, and that the key is seen nowhere else."""

import base64
import logging
import traceback

import pytest

from harness.judge import LlmJudge
from harness.models import ChatClient, Endpoint
from harness.models.llm.http_client import Secret
from harness.values import ConfigError, HarnessError, LlmError, Silent
from tests.judge.fake_server import Answer, FakeServer, completion, error, grade, says
from tests.judge.helpers import config, judge_all, judged, pairs, script_of

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("MY_JUDGE_KEY", KEY)
    return {"api_key_env": "MY_JUDGE_KEY"}


MODERN = {
    "top_p": 0.9,
    "reasoning_effort": "low",
    "top_logprobs": 5,
    "extra_body": {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20},
    "headers": {"X-Route": "eu"},
}


def test_the_request_holds_what_was_configured(key, ledger, monkeypatch):
    monkeypatch.setenv("GATEWAY_SECRET", KEY[::-1])
    secret = {"headers_env": {"X-Gateway-Key": "GATEWAY_SECRET"}}
    endpoint = {**key, **MODERN, **secret, "temperature": 0.2, "seed": 5}
    *_, server = judged(script_of(grade(1)), ledger, 1, endpoint=endpoint)
    (request,) = server.requests
    body, headers = request["body"], request["headers"]
    assert request["path"] == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["x-route"], headers["x-gateway-key"]) == ("eu", KEY[::-1])
    assert (body["top_p"], body["reasoning_effort"]) == (0.9, "low")
    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)
    assert (body["chat_template_kwargs"], body["top_k"]) == ({"enable_thinking": False}, 20)
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("fake", 0.2, 5, 400)
    assert body["response_format"]["type"] == "json_schema"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_parameters_set_to_null_are_not_sent(ledger):
    plain = {"temperature": None, "seed": None, "structured": "none", "max_completion_tokens": 900}
    *_, server = judged(script_of(grade(1)), ledger, 1, endpoint=plain)
    body = server.requests[0]["body"]
    assert set(body) == {"model", "messages", "max_completion_tokens"}
    assert body["max_completion_tokens"] == 900


CHANGES = [
    *({"endpoint": {name: value}} for name, value in MODERN.items()),
    *({"endpoint": one} for one in ({"model": "other"}, {"temperature": 0.5}, {"seed": 7})),
    {"endpoint": {"structured": "none"}},
    {"prompt": "umbrela"},
]
CHANGES_NOTHING = [
    {"max_completion_tokens": 400},
    {"headers": {"HTTP-Referer": "https://example.org", "X-Title": "bench"}},
    {"extra_body": {"user": "me", "service_tier": "flex"}},
    {"extra_body": {}, "headers": {}},
    {"longest_pause": 10, "timeout": 50},
]


def test_what_can_change_an_answer_and_nothing_else_is_asked_again(ledger):
    asked = []
    with FakeServer(script_of(grade(1))) as server:
        for options in ({}, *CHANGES, *({"endpoint": one} for one in CHANGES_NOTHING), CHANGES[0]):
            before = server.count
            judge_all(config(server.url, **options), ledger, pairs(1))
            asked.append(server.count - before)
    assert asked == [1, *[1] * len(CHANGES), *[0] * len(CHANGES_NOTHING), 0]


def test_azure(key, ledger):
    with FakeServer(script_of(grade(1))) as server:
        azure = {
            "endpoint": server.url.removesuffix("/v1"),
            "api_version": "2024-10-21",
            "deployment": "my-gpt",
        }
        judge_all(config(server.url, endpoint={**key, "azure": azure}), ledger, pairs(1))
    (request,) = server.requests
    assert request["path"] == "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    assert request["headers"]["api-key"] == KEY


def test_the_environment_neither_redirects_the_judge_nor_gives_a_key_that_is_not_named(monkeypatch, ledger):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    *_, server = judged(script_of(grade(1)), ledger, 1)
    assert server.count == 1
    assert KEY not in str(server.requests), "the key of another service is not sent to a local endpoint"


LEAKS = {
    "401 that repeats the key": error(401, f"Incorrect API key provided: {KEY}"),
    "400 that repeats the key": error(400, f"Bearer {KEY} may not"),
    "500 that repeats the key": error(500, f"config: {KEY}"),
    "body that is not JSON": Answer(body=f"<{KEY}>".encode()),
    "answer that repeats the key": says(f"Your key is {KEY}"),
    "refusal that repeats the key": says(None, refusal=f"{KEY} is not allowed"),
    "cut": Answer(cut=0),
    "model that is the key": Answer(body=completion('{"grade": 1}', model=f"m-{KEY}")),
    "id of the request": Answer(body=completion('{"grade": 1}'), headers={"x-request-id": f"r {KEY}"}),
    "id of the completion": Answer(body=completion('{"grade": 1}', id=KEY), headers={"x-request-id": ""}),
    "reason to finish": Answer(body=completion('{"grade": 1}', finish=KEY)),
    "code of an error": error(418, "no", code=KEY),
    "tokens": Answer(body={**completion('{"grade": 1}'), "usage": {"prompt_tokens": KEY}}),
    "choices that are none": Answer(body={**completion("x"), "choices": KEY}),
    "content that is a list": Answer(body=completion([{"text": KEY}])),
    "half of the key": error(401, f"wrong: {KEY[:16]}..."),
    "the key in capitals": error(401, f"wrong: {KEY.upper()}"),
    "the key in base64": error(401, f"wrong: Basic {base64.b64encode(KEY.encode()).decode()}"),
    "the key in quotes": error(400, {"headers": [f"Bearer {KEY}"]}),
    "a number for a model": Answer(body=completion('{"grade": 1}', model={"key": KEY})),
}


# a secret may be the key or the value of a header
AS_KEY = {"api_key_env": "MY_JUDGE_KEY"}
AS_HEADER = {"headers_env": {"X-Gateway-Key": "MY_JUDGE_KEY"}}


@pytest.mark.usefixtures("three_tries", "key")
@pytest.mark.parametrize(
    ("answer", "secret"),
    [*((answer, AS_KEY) for answer in LEAKS.values()), (LEAKS["answer that repeats the key"], AS_HEADER)],
    ids=[*LEAKS, "answer that repeats a header"],
)
def test_the_key_is_in_no_log_record_error_or_ledger(answer, secret, ledger, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    texts = []
    with FakeServer(script_of(answer)) as server:
        settings = config(server.url, endpoint=secret)
        judge = LlmJudge(settings, ledger)
        try:
            judge.grade(pairs(2), lambda graded: texts.append(repr(graded)), reporter=Silent())
        except HarnessError as problem:
            texts.append("".join(traceback.format_exception(problem)))
        assert KEY in str(server.requests[0]["headers"])
    texts += [repr(judge.fingerprint), repr(settings), settings.model_dump_json(), repr(judge), caplog.text]
    texts += list(ledger.export_lines())
    assert len(texts) > 5
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    texts.append(files.decode("latin-1"))
    for form in (KEY, KEY[:12], base64.b64encode(KEY.encode()).decode()[:12]):
        assert not [text for text in texts if form.lower() in text.lower()]


def test_a_key_is_cut_out_in_every_form_and_other_text_stays():
    secret = Secret("sk-abc/def'ghi\"jkl&mno")
    assert secret.cut("the key sk-abc/def'ghi\"jkl&mno, twice: sk-abc/def'ghi\"jkl&mno") == (
        "the key [key], twice: [key]"
    )
    forms = ["sk-abc%2Fdef%27ghi%22jkl%26mno", "sk-abc/def&#x27;ghi&quot;jkl&amp;mno", "bc/def'ghi\"jkl&"]
    for form in forms:
        assert secret.cut(f"<{form}>") == "<[key]>"
    assert secret.cut("a mask such as sk-abc/***mno stays") == "a mask such as sk-abc/***mno stays"
    assert secret.cut(None) == ""
    assert secret.cut(5, 10) == "5"
    assert "abc" not in repr(secret)


@pytest.mark.parametrize("placeholder", ["EMPTY", "1", "x", "no-key"])
def test_a_placeholder_is_no_secret_and_changes_no_answer(placeholder):
    """Servers of one's own take any key; cutting the 1 out of an answer would change its grade."""
    answer = '{"grade": 1, "why": "x EMPTY no-key"}'
    assert Secret(placeholder).cut(answer) == answer


@pytest.mark.parametrize(("prompt", "completed"), [("many", -1), (10**30, 1)])
def test_tokens_that_cannot_be_are_unknown(prompt, completed, ledger):
    usage = {"prompt_tokens": prompt, "completion_tokens": completed}
    body = {**completion('{"grade": 1}'), "usage": usage}
    (graded,), summary, _ = judged(script_of(Answer(body=body)), ledger, 1)
    assert graded.judgment.grade == 1
    assert (summary.prompt_tokens, summary.completion_tokens) in {(0, 0), (0, 1)}


def message_of(**fields):
    """The choices of a completion whose message has other fields."""
    message = {"role": "assistant", "content": '{"grade": 0}', **fields}
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}


@pytest.mark.usefixtures("three_tries")
@pytest.mark.parametrize(
    "instead",
    [
        *(
            {"choices": choices}
            for choices in ("x", {"a": 1}, 7, [None], [{}], [{"message": "text"}], ["a", "b"])
        ),
        {"errors": ["overloaded"]},
        {"status": "error"},
        {"success": False},
        {"object": "error"},
        {"error": {"code": 502, "message": "overloaded"}},
        {"code": 500},
        {"base_resp": {"status_code": 1004, "status_msg": "login fail"}},
        {"object": "response"},
        message_of(role="user"),
        message_of(role=None),
        message_of(tool_calls=[{"id": "1", "type": "function", "function": {"name": "grade"}}]),
        message_of(function_call={"name": "grade", "arguments": "{}"}),
        message_of(error="overloaded"),
        message_of(content=[{"type": "image_url", "text": '{"grade": 0}'}]),
    ],
    ids=str,
)
def test_replies_that_are_no_answer_of_the_protocol_end_the_run(instead, ledger):
    with FakeServer(script_of(Answer(body={**completion('{"grade": 0}'), **instead}))) as server:
        with pytest.raises(LlmError, match=r"2 times in a row.*broken_reply"):
            judge_all(config(server.url, max_unscored=1), ledger, pairs(1))
        assert server.count == 2


def test_a_refusal_that_is_false_and_half_a_character_do_no_harm(ledger):
    body = completion('{"grade": 3}', refusal=False) | {"model": "fake\ud800"}
    (graded,), *_ = judged(script_of(Answer(body=body)), ledger, 1)
    assert graded.judgment.grade == 3


BAD_SECRETS = [None, "", "  ", "sk-secret\nx", "sk-sécret", "sk-secret\x07", "sk-secret two"]


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        *(({"api_key_env": "MY_KEY"}, value) for value in BAD_SECRETS),
        # a header may have blanks
        *(({"api_key_env": None, "headers_env": {"X-Key": "MY_KEY"}}, value) for value in BAD_SECRETS[:-1]),
    ],
)
def test_a_missing_or_malformed_secret_names_the_variable_and_is_not_shown(fields, value, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(ConfigError, match="MY_KEY") as caught:
        ChatClient(Endpoint(model="m", **fields))
    assert "cret" not in str(caught.value)
