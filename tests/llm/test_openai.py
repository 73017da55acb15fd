"""The package openai as client: one try a call, no header or key of its own, limits on what is read."""

import asyncio
import json
import logging
import os
import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from openai.types.chat import ChatCompletion
from packaging.requirements import Requirement

from harness.models import CallError, ChatClient, EmbeddingEndpoint, Endpoint
from harness.models.llm.openai_client import typed
from harness.models.llm.untrusted import MOST_BYTES_OF_CHAT
from tests.external.libraries import pip_or_skip
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, error, grade
from tests.llm.test_untrusted import vectors

# Each package, and the one whose range gives its oldest version.
PINS = {"openai": "openai", "httpx2": "httpx2", "httpcore2": "httpx2"}
KEY = "sk-of-something-else-0123456789"
# What the package reads where nothing else is said.
ENVIRONMENT = {
    "OPENAI_API_KEY": KEY,
    "OPENAI_ADMIN_KEY": KEY,
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_ORG_ID": KEY,
    "OPENAI_PROJECT_ID": KEY,
    "OPENAI_CUSTOM_HEADERS": f"Cookie: {KEY}\nHost: elsewhere\nX-Any: {KEY}\nAuthorization: Bearer {KEY}",
    "OPENAI_LOG": "debug",
    "AZURE_OPENAI_API_KEY": KEY,
    "AZURE_OPENAI_AD_TOKEN": KEY,
    "AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:9",
    "OPENAI_API_VERSION": "1999-01-01",
}


def ask(times=1, **fields):
    """Ask so many times by one client; returns the texts of the replies."""

    async def run():
        client = ChatClient(Endpoint(**{"model": "fake-1", "api_key_env": None, **fields}))
        try:
            messages = [{"role": "user", "content": "?"}]
            return [(await client.ask(messages, None, 0, 60)).text for _ in range(times)]
        finally:
            await client.aclose()

    return asyncio.run(run())


def replied(body):
    """The reply that is read from a body."""

    async def run():
        client = ChatClient(Endpoint(model="m", base_url="http://127.0.0.1:9/v1", api_key_env=None))
        try:
            return client.reply(body, 0.0, "")
        finally:
            await client.aclose()

    return asyncio.run(run())


@pytest.fixture
def environment(monkeypatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("environment")
def test_no_header_is_sent_but_those_of_the_endpoint_whatever_the_environment_names(caplog):
    caplog.set_level(logging.DEBUG)
    with FakeServer(lambda *_: grade(1)) as server:
        ask(base_url=server.url, headers={"X-Route": "eu"})
        azure = {"endpoint": server.url.removesuffix("/v1"), "api_version": "2024-10-21", "deployment": "d"}
        ask(azure=azure, headers={"X-Route": "eu"})
    for request in server.requests:
        assert set(request["headers"]) == {
            *("host", "connection", "accept", "accept-encoding", "content-type", "content-length"),
            *("user-agent", "x-stainless-raw-response", "x-route"),
        }
        assert request["headers"]["host"] == server.url.removeprefix("http://").removesuffix("/v1")
    assert KEY not in str(server.requests)
    assert not [record for record in caplog.records if record.name.split(".")[0] in ("openai", "httpx2")]


def test_a_cookie_of_the_endpoint_is_given_back_to_it():
    with FakeServer(lambda *_: grade(1)) as plain:
        ask(2, base_url=plain.url)
    with FakeServer(lambda *_: Answer(body=grade(1).body, headers={"set-cookie": "node=7"})) as server:
        ask(2, base_url=server.url)
    assert [request["headers"].get("cookie") for request in plain.requests] == [None, None]
    assert [request["headers"].get("cookie") for request in server.requests] == [None, "node=7"]


def test_the_name_of_a_deployment_is_one_part_of_the_address():
    with FakeServer(lambda *_: grade(1)) as server:
        azure = {"endpoint": server.url.removesuffix("v1"), "api_version": "a&b", "deployment": "my gpt/1"}
        ask(azure=azure)
    (request,) = server.requests
    assert request["path"] == "/openai/deployments/my%20gpt%2F1/chat/completions?api-version=a%26b"
    assert request["body"]["model"] == "my gpt/1"


@pytest.mark.parametrize("fault", [error(500), error(429, headers={"retry-after": "0"}), Answer(cut=0)])
def test_a_call_is_tried_once_since_the_ledger_counts_tries(fault):
    with FakeServer(lambda *_: fault) as server, pytest.raises(CallError):
        ask(base_url=server.url)
    assert server.count == 1


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_is_read_no_further_than_the_limit_whatever_its_status(status):
    body = json.dumps("x" * MOST_BYTES_OF_CHAT).encode()
    words = f"the reply is larger than {MOST_BYTES_OF_CHAT:,} bytes"
    with FakeServer(lambda *_: Answer(status, body)) as server, pytest.raises(CallError, match=words):
        ask(base_url=server.url)


@pytest.mark.parametrize(
    ("url", "reason"), [("http://[::1/v1", None), ("http://127.0.0.1:9/v1", "connection")]
)
def test_an_address_where_nothing_is_says_so(url, reason):
    with pytest.raises((CallError, ValueError)) as caught:
        ask(base_url=url)
    assert getattr(caught.value, "reason", None) == reason


def test_calls_go_through_the_proxy_of_the_environment(monkeypatch):
    with FakeServer(lambda *_: grade(1)) as proxy:
        for name in ("NO_PROXY", "no_proxy", "http_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        ask(base_url="http://nowhere.invalid/v1", headers={"X-Route": "eu"})
    (request,) = proxy.requests
    assert request["path"] == "http://nowhere.invalid/v1/chat/completions"
    assert (request["headers"]["host"], request["headers"]["x-route"]) == ("nowhere.invalid", "eu")


def test_a_reply_is_read_as_the_type_of_the_package_and_nothing_in_it_is_changed():
    body = {
        "id": 1,
        "cls": 2,
        "_fields_set": 3,
        "choices": [{"message": {}}],
        "usage": {"prompt_tokens": True},
        "model": None,
    }
    completion = typed(ChatCompletion, body)
    assert isinstance(completion, ChatCompletion)
    assert (completion.id, completion.model, completion.object) == (1, None, None)
    assert completion.model_extra == {"cls": 2, "_fields_set": 3}
    # the package's own reader makes a count of true where the others are counts too
    assert (completion.choices, completion.usage) == (body["choices"], body["usage"])
    whole = {"prompt_tokens": True, "completion_tokens": "19", "total_tokens": 2}
    assert ChatCompletion.construct(usage=whole).usage.completion_tokens == 19
    for other in ([], "x", None, [("id", 1)], 1):
        with pytest.raises(TypeError):
            typed(ChatCompletion, other)


@pytest.mark.parametrize("count", [True, "19", -1, 2.0, [], None])
def test_a_count_of_tokens_is_a_whole_number_or_unknown(count):
    usage = {"prompt_tokens": 7, "completion_tokens": count, "total_tokens": 9}
    reply = replied({**grade(1).body, "usage": usage})
    assert (reply.prompt_tokens, reply.completion_tokens) == (7, None)


@pytest.mark.parametrize(
    "fields",
    [
        {"choices": {}},
        {"choices": ["x"]},
        {"choices": [None]},
        {"choices": [[]]},
        {"choices": [{}]},
        {"choices": [{"message": "x"}]},
        {"choices": [{"message": {"role": "assistant", "content": "4"}}] * 2},
        {"choices": [{"message": {"role": "assistant", "content": "4"}, "logprobs": [1]}]},
        {"usage": [1]},
        {"usage": "x"},
        {"audio": {"status": "failed"}},
        {"service_tier": "failed"},
    ],
)
def test_a_body_of_another_shape_is_no_completion_whatever_the_types_would_take(fields):
    body = grade(1).body | fields
    ChatCompletion.construct(**body)
    with pytest.raises(CallError, match="the answer is not a chat completion") as caught:
        replied(body)
    assert (caught.value.again, caught.value.billed) == (True, True)


def test_vectors_come_by_the_package_as_floats_and_with_the_further_fields():
    def embed(request, number):
        return Answer(body={"data": [{"index": 0, "embedding": [1, 2]}], "model": "m"})

    with FakeServer(embed) as server:
        (row,) = vectors(server)
    assert row.tolist() == [1, 2]
    (request,) = server.requests
    assert request["path"] == "/v1/embeddings"
    assert request["headers"]["user-agent"].startswith("AsyncOpenAI/Python ")
    assert request["body"] == {"model": "m", "input": ["a"], "encoding_format": "float"}


def test_what_vectors_are_kept_under_never_changes():
    # sha256 of ["embeddings", "m", {"truncate": true}, {"x-route": "eu"}, 8]: everybody's paid vectors
    fields = {"extra_body": {"truncate": True}, "headers": {"X-Route": "eu"}, "dimensions": 8}
    assert (
        EmbeddingEndpoint(model="m", **fields).fingerprint
        == "387425c339e752e6be332ae90ce516bb28091ba13f2b23b7435bd42795808155"
    )


ASKING = """
import sys
from pathlib import Path
from harness.judge import LlmJudge
from harness.models import batch_statuses
from harness.store import Ledger
from harness.values.progress import Silent
from tests.judge.helpers import config, pairs

url, path, batch = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "batch"
with Ledger(path) as ledger:
    judge = LlmJudge(config(url, batch={"poll": 0.02} if batch else False), ledger)
    judge.estimate(pairs(2))
    judge.grade(pairs(2), lambda graded: None, reporter=Silent())
    batch_statuses(ledger.batches.all())
print(*sorted({"openai", "httpx2"} & set(sys.modules)))
"""


@pytest.mark.parametrize("how", ["batch", "calls"])
def test_the_package_is_loaded_when_something_is_asked_and_not_before(how, tmp_path):
    def loaded():
        command = [sys.executable, "-c", ASKING, server.url, str(tmp_path / "ledger.db"), how]
        root = Path(__file__).parents[2]
        env = {**os.environ, "PYTHONPATH": str(root)}
        done = subprocess.run(command, cwd=root, env=env, check=True, capture_output=True, text=True)
        return done.stdout.split()

    with FakeServer(Batches(lambda line: grade(1).body)) as server:
        assert loaded() == ["httpx2", "openai"]
        # by now the ledger has every answer
        assert loaded() == []


@pytest.mark.slow
def test_the_oldest_versions_of_the_ranges_do_the_same(tmp_path):
    ranges = {need.name: need.specifier for need in map(Requirement, requires("ndcg-harness"))}
    oldest = {name: re.search(r">=([\d.]+)", str(ranges[name]))[1] for name in ("openai", "httpx2")}
    # httpx2 is released together with its lower half, and pins it
    pins = [f"{name}=={oldest[version]}" for name, version in PINS.items()]
    pip_or_skip("install", "-q", "--no-deps", "--target", tmp_path, *pins)
    root = Path(__file__).parent.parent.parent
    # other versions are tried, and not values
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}", "HARNESS_TEST_EXAMPLES": "5"}
    version = [sys.executable, "-c", "import openai; print(openai.__version__)"]
    shown = subprocess.run(version, cwd=root, env=env, check=True, capture_output=True, text=True).stdout
    assert shown.strip().startswith(oldest["openai"])
    files = ["tests/llm", "tests/search/test_endpoints.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", *files]
    ended = subprocess.run(command, cwd=root, env=env, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-3000:]
