"""Several forms and models asked at the same time: one batch for each endpoint and round, limits shared."""

import pytest

from harness.models import Job, Model, Spending, TextForm, jobs_of, talks, text_of
from harness.values import LlmError, Silent
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, completion
from tests.judge.helpers import config
from tests.llm.test_batch_protocol import POLL, chain

SAY, CALL = TextForm("", "Say {{ query }}"), TextForm("", "Call {{ query }}")


def echo(line):
    """Answers with the first word of the prompt and the question."""
    lines = line["body"]["messages"][-1]["content"].splitlines()
    return completion(f"{lines[0].split()[0]} {lines[1]}")


def texts(results):
    return [[[text_of(answer) for answer in talk] for talk in answered] for answered, _ in results]


def test_forms_and_rounds_share_batches_by_endpoint(ledger):
    script = Batches(echo, looks=2)
    with FakeServer(script) as server:
        say, call, other = (
            Model(config(server.url, batch=POLL, endpoint={"model": name}), form, ledger)
            for name, form in (("fake", SAY), ("fake", CALL), ("other", SAY))
        )
        requests = [
            (say, list(jobs_of([say.call("a"), say.call("b")]))),
            (call, [Job("c", talk=lambda: chain("c", 3))]),
            (other, [Job("d", talk=lambda: chain("d", 2))]),
            # equal calls are one, whoever asks
            (say, list(jobs_of([say.call("a")]))),
        ]
        results = talks(requests, reporter=Silent())
        again = talks(requests, reporter=Silent())
    assert texts(results) == [
        [["Say a"], ["Say b"]],
        [["Call c", "Call Call c", "Call Call Call c"]],
        [["Say d", "Say Say d"]],
        [["Say a"]],
    ]
    assert texts(again) == texts(results)
    counts = [
        (script.lines_of(batch)[0]["body"]["model"], batch["request_counts"]["total"])
        for batch in script.batches.values()
    ]
    assert sorted(counts) == [("fake", 1), ("fake", 1), ("fake", 3), ("other", 1), ("other", 1)]
    assert [(spent.calls, spent.from_ledger) for _, spent in results] == [(2, 0), (3, 0), (2, 0), (0, 1)]
    assert [spent.calls for _, spent in again] == [0] * 4


@pytest.mark.parametrize("batch", [POLL, False], ids=["batches", "calls"])
def test_a_limit_that_forms_share_holds_for_all_of_them(batch, ledger):
    script, asked = Batches(echo), []

    def by_calls(request, number):
        asked.append(request)
        return Answer(body=echo(request))

    with FakeServer(script if batch else by_calls) as server:
        before = Spending()
        limited = config(server.url, batch=batch, max_calls=3)
        say, call = (Model(limited, form, ledger, before=before) for form in (SAY, CALL))
        requests = [(model, list(jobs_of([model.call("a"), model.call("b")]))) for model in (say, call)]
        with pytest.raises(LlmError, match="max_calls"):
            talks(requests, reporter=Silent())
    assert len(script.asked if batch else asked) == 3
    assert len(list(ledger.entries())) == 3


def test_calls_are_made_while_batches_are_on_their_way(ledger):
    script = Batches(echo)
    made = []
    direct, script._answer = script._answer, lambda name, *more: made.append(name) or direct(name, *more)
    with FakeServer(script) as server:
        models = [
            Model(config(server.url, batch=batch, endpoint={"model": name}), SAY, ledger)
            for name, batch in (("now", False), ("later", POLL))
        ]
        results = talks([(model, jobs_of([model.call("a")])) for model in models], reporter=Silent())
    assert made.index("POST batches") < made.index("POST chat/completions") < made.index("GET batches")
    assert texts(results)[1] == [["Say a"]]
