"""Files and batches by the package openai: addresses, rounds, limits, and names that others choose."""

import asyncio
import json
from dataclasses import replace

import pytest
from openai.types import Batch

from harness.judge import LlmJudge
from harness.models import CallError, Endpoint, Job, TextForm, outcome, talks, text_of
from harness.models.llm import batch_client
from harness.values import LlmError, Silent
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, completion, error
from tests.judge.helpers import config, judge_all, pairs, send_only
from tests.llm.test_texts import model
from tools.replies.counting import completions

POLL = {"poll": 0.02}
BODIES = [body for _, _, body in completions()]


def words_of(line):
    """Answers a prompt with its question and the number of passages that it shows."""
    text = line["body"]["messages"][-1]["content"]
    return completion(f"{text.splitlines()[1]}+{text.count('<passage')}")


def chain(question, rounds):
    """Asks a question, and then about the answer to it, again and again."""
    text = question
    for _ in range(rounds):
        answer = yield text, ()
        text = "?" if answer is None else text_of(answer)
    return text


def talked(asker, jobs):
    """The answers to the jobs of one model, and the spending."""
    (result,) = talks([(asker, jobs)], reporter=Silent())
    return result


def test_what_takes_several_rounds_takes_a_batch_for_each(ledger):
    script = Batches(words_of)
    with FakeServer(script) as server:
        asker = model(server.url, ledger, TextForm("", "Say {{ query }}"), endpoint={"batch": POLL})
        lengths = {"a": 1, "b": 3, "c": 2}
        jobs = [Job(name, talk=lambda name=name: chain(name, lengths[name])) for name in lengths]
        estimate = asker.estimate(jobs)
        answered, spending = talked(asker, jobs)
        again, free = talked(asker, jobs)
    ends = [outcome(job.talk(), answers) for job, answers in zip(jobs, answered, strict=True)]
    assert ends == ["a+0", "b+0+0+0", "c+0+0"]
    # every talk goes on with the others: three calls in the first round, then those that go on
    assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [3, 2, 1]
    assert (spending.calls, spending.from_ledger, free.calls, free.from_ledger) == (6, 0, 0, 6)
    assert [[one.raw for one in talk] for talk in again] == [[one.raw for one in talk] for talk in answered]
    # "?" is asked once, whoever's turn it is: what a plan cannot know has the same words
    assert estimate.calls == 4


def test_a_call_that_two_talks_come_to_is_sent_once(ledger):
    script = Batches(lambda line: completion("same"))
    with FakeServer(script) as server:
        asker = model(server.url, ledger, TextForm("", "Say {{ query }}"), endpoint={"batch": POLL})
        jobs = [Job(name, talk=lambda name=name: chain(name, 2)) for name in ("a", "b")]
        answered, spending = talked(asker, jobs)
    assert [[text_of(answer) for answer in answers] for answers in answered] == [["same"] * 2] * 2
    assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [2, 1]
    assert (spending.calls, spending.from_ledger) == (3, 1)


def test_the_package_asks_and_each_line_has_the_body_of_a_call(ledger):
    script = Batches()
    with FakeServer(script) as server:
        judge_all(config(server.url, batch={**POLL, "window": "3d"}), ledger, pairs(1))
    assert all(one["headers"]["user-agent"].startswith("AsyncOpenAI/Python ") for one in server.requests)
    made = next(one["body"] for one in server.requests if one["path"] == "/v1/batches")
    assert (made["endpoint"], made["completion_window"]) == ("/v1/chat/completions", "3d")
    (batch,) = script.batches.values()
    (line,) = script.lines_of(batch)
    assert (line["method"], line["url"], line["body"]["model"]) == ("POST", "/v1/chat/completions", "fake")
    assert "extra_body" not in line["body"]


def test_a_path_of_its_own_and_further_fields_go_into_each_line(ledger):
    script = Batches(path="/v4/chat/completions")
    options = {"batch": {**POLL, "path": "/v4/chat/completions"}, "endpoint": {"extra_body": {"top_k": 3}}}
    with FakeServer(script) as server:
        judge_all(config(server.url, **options), ledger, pairs(1))
    (line,) = script.lines_of(*script.batches.values())
    assert (line["url"], line["body"]["top_k"]) == ("/v4/chat/completions", 3)


def test_azure_has_batches_of_a_resource_and_the_deployment_in_each_line(ledger):
    script = Batches(path="/chat/completions", root="/openai/")
    with FakeServer(script) as server:
        azure = {
            "endpoint": server.url.removesuffix("/v1"),
            "api_version": "2024-10-21",
            "deployment": "mine",
        }
        graded, _ = judge_all(config(server.url, batch=POLL, endpoint={"azure": azure}), ledger, pairs(2))
    assert [one.judgment.grade for one in graded] == [2, 2]
    assert {one["path"].split("/openai/")[1].split("?")[1] for one in server.requests} == {
        "api-version=2024-10-21"
    }
    (line, _) = script.lines_of(*script.batches.values())
    assert (line["url"], line["body"]["model"]) == ("/chat/completions", "mine")


@pytest.mark.parametrize("kept", ["metadata", "input_file_id"])
def test_a_batch_whose_name_was_lost_is_recognised_by_tag_or_by_file(kept, ledger):
    """Servers leave one or the other out."""
    script = Batches()
    listed = script._list
    script._list = lambda query: {
        **(page := listed(query)),
        "data": [
            {name: value for name, value in batch.items() if name in ("id", "status", kept)}
            for batch in page["data"]
        ],
    }
    lost = Answer(cut=0)
    lost.heard = True
    script.faults = {"POST batches": [lost]}
    with FakeServer(script) as server:
        graded, _ = judge_all(config(server.url, batch=POLL), ledger, pairs(3))
    assert [one.judgment.grade for one in graded] == [2] * 3
    assert len(script.batches) == 1


def test_a_batch_that_is_not_among_those_looked_through_is_not_made_again(ledger, monkeypatch):
    monkeypatch.setattr(batch_client, "_PAGES", 1)
    script = Batches(looks=10**9)
    with FakeServer(script) as server:
        for count in range(3):
            other = config(server.url, batch=POLL, prompt="pointwise_zh")
            send_only(script, other, ledger, pairs(1, prefix=f"other {count} "))
        lost = Answer(cut=0)
        lost.heard = True
        script.faults = {"POST batches": [lost]}
        newest, script._list = (
            script._list,
            lambda query: {**newest({"after": ["batch_8"]}), "has_more": True},
        )
        with pytest.raises(LlmError, match=r"not known whether.*--forget"):
            judge_all(config(server.url, batch=POLL), ledger, pairs(2))
    assert len(script.batches) == 4
    assert [batch.file_id for batch in ledger.batches.all()][-1] == "file-7"


def test_answers_larger_than_is_read_are_not_paid_for_again(ledger, monkeypatch):
    script = Batches()
    with FakeServer(script) as server, monkeypatch.context() as patch:
        patch.setattr(batch_client, "MOST_BYTES", 900)
        for _ in range(2):
            with pytest.raises(LlmError, match=r"larger than 900 bytes.*max_requests.*--forget"):
                judge_all(config(server.url, batch=POLL), ledger, pairs(3))
        downloads = sum("/content" in request["path"] for request in server.requests)
        patch.undo()
        graded, _ = judge_all(config(server.url, batch=POLL), ledger, pairs(3))
    assert [one.judgment.grade for one in graded] == [2] * 3
    assert (len(script.batches), downloads) == (1, 2)


def test_batches_are_small_enough_that_the_longest_answers_can_be_read(ledger, monkeypatch):
    # 400 tokens of 12 bytes and 2,000 bytes around them: 6,800 a line, of which 20,000 bytes have two
    monkeypatch.setattr("harness.models.llm.batch_packing.MOST_BYTES", 20_000)
    script = Batches()
    with FakeServer(script) as server:
        judge_all(config(server.url, batch=POLL), ledger, pairs(5))
    assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [2, 2, 1]


def test_a_file_of_answers_that_is_gone_is_named(ledger):
    script = Batches()
    script.faults = {"GET files/content": [error(404, "No such File object")]}
    with FakeServer(script) as server:
        with pytest.raises(LlmError, match=r"file-3 with answers of batch batch_2 is not there any more"):
            judge_all(config(server.url, batch=POLL), ledger, pairs(2))
        judge_all(config(server.url, batch=POLL), ledger, pairs(2))
    assert len(script.batches) == 1


@pytest.mark.parametrize("name", ["../chat", "a b", "", 7, "x" * 300, ".."])
def test_a_name_that_would_lead_elsewhere_is_no_name(name, ledger):
    script = Batches()
    made = script._make
    script._make = lambda body: {**made(body), "id": name}
    script._list = lambda query: {"data": [{"id": name, "status": "in_progress"}], "has_more": False}
    with FakeServer(script) as server, pytest.raises(LlmError, match="no id that can be part of an address"):
        judge_all(config(server.url, batch=POLL, breaker_seconds=0.1), ledger, pairs(2))
    assert not any(name in request["path"] for request in server.requests if name and name != 7)


def test_a_completion_that_reports_a_failure_is_no_grade_in_a_batch_either(ledger):
    """The same whitelist as for a call by itself."""
    script = Batches(lambda line: {**completion('{"grade": 3}'), "status": "failed"})
    with FakeServer(script) as server:
        graded, _ = judge_all(
            config(server.url, batch={**POLL, "tries": 1}, max_unscored=1), ledger, pairs(2)
        )
    assert [(one.judgment.grade, one.reason) for one in graded] == [(None, "broken_reply")] * 2


def test_a_line_may_be_anything_and_costs_no_other(ledger):
    def edit(name, data):
        lines = data.splitlines()
        odd = [b"null", b"[1]", b'{"custom_id": 3}', b'{"custom_id": "x"}', b"\xff\xfe", b"{" * 100_000]
        return b"\n".join([*odd, *lines])

    script = Batches(lambda line: completion(json.dumps({"grade": 4})), edit=edit)
    reporter = Silent()
    graded = []
    with FakeServer(script) as server:
        judge = LlmJudge(config(server.url, batch=POLL), ledger)
        judge.grade(list(pairs(3)), graded.append, reporter=reporter)
    assert [one.judgment.grade for one in graded] == [4] * 3
    assert any("6 unreadable lines" in text for text in reporter.warnings)
    assert len(script.batches) == 1


def test_a_batch_that_is_listed_only_later_is_waited_for_and_not_made_twice(ledger, monkeypatch):
    monkeypatch.setattr("harness.models.llm.batch_desk._LISTED_WITHIN", 0.5)
    script = Batches()
    lost = Answer(cut=0)
    lost.heard = True
    listed, hidden = script._list, iter([True])
    script._list = lambda query: {"data": [], "has_more": False} if next(hidden, False) else listed(query)
    script.faults = {"POST batches": [lost]}
    reporter, graded = Silent(), []
    with FakeServer(script) as server:
        judge = LlmJudge(config(server.url, batch=POLL), ledger)
        judge.grade(list(pairs(2)), graded.append, reporter=reporter)
    assert [one.judgment.grade for one in graded] == [2, 2]
    assert len(script.batches) == 1


def test_what_a_failed_batch_has_answered_all_the_same_is_not_paid_for_again(ledger):
    """Azure may fail a batch after it has answered some of it."""
    script = Batches(lambda line: completion('{"grade": 1}') if "passage 0" in str(line) else None)
    ended = script._end

    def end(batch, status):
        ended(batch, status)
        if len(script.batches) == 1:
            batch["status"] = "Failed"

    script._end = end
    made = script._make

    def make(body):
        if script.batches:
            script.reply = lambda line: completion('{"grade": 3}')
        return made(body)

    script._make = make
    with FakeServer(script) as server:
        graded, summary = judge_all(config(server.url, batch=POLL), ledger, pairs(3))
    assert [one.judgment.grade for one in graded] == [1, 3, 3]
    assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [3, 2]
    assert summary.faults == {"batch_cancelled": 2}


def test_a_completion_in_a_line_of_a_batch_is_read_as_that_of_a_call():
    """Every completion of the corpus, those that report a failure too."""
    lines = [
        {"custom_id": f"{at}", "response": {"status_code": 200, "request_id": "r", "body": body}}
        for at, body in enumerate(BODIES)
    ]

    class Fetched(batch_client.BatchClient):
        async def _content(self, file, batch_id, size):
            return "\n".join(map(json.dumps, lines)).encode()

    async def outcomes():
        client = Fetched(Endpoint(model="m", base_url="http://127.0.0.1:9/v1", api_key_env=None, batch=True))
        state = client._state(Batch.construct(id="b", status="completed", output_file_id="f"))
        answers = await client.answers(state, 0)
        await client.aclose()
        return client, answers

    client, answers = asyncio.run(outcomes())
    assert (answers.broken, answers.double) == (0, set())

    def read(body):
        try:
            return replace(client.reply(body, 0.0, ""), request_id="b/r")
        except CallError as fault:
            return str(fault)

    of_calls = [read(body) for body in BODIES]
    of_lines = [answers.outcomes[f"{at}"] for at in range(len(BODIES))]
    assert [str(line) if isinstance(line, CallError) else line for line in of_lines] == of_calls
    assert 0 < sum(isinstance(line, CallError) for line in of_lines) < len(BODIES)
