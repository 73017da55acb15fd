"""Measures of answers by batches: what can be asked now is one batch per endpoint, and is paid for once."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.store import CacheLayout, Ledger
from tests.answering.test_score_answers import answers, score, values
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, completion
from tests.judge.test_killed_batches import Stalling

__all__ = ["answers"]
ROOT = Path(__file__).parents[2]


def reply(line):
    """A judge that takes an answer for one statement, which a text supports if it holds the same words."""
    system, user = (message["content"] for message in line["body"]["messages"])
    if "apart into statements" in system:
        answer = user.split("<answer", 1)[1].split("\n")[1]
        return completion(json.dumps({"statements": [answer]}))
    if "<statements" in user:
        texts, statements = user.split("<statements")
        lines = re.findall(r"^\d+\. (.*)$", statements, re.MULTILINE)
        verdicts = [{"number": n, "verdict": int(line in texts)} for n, line in enumerate(lines, 1)]
        return completion(json.dumps({"verdicts": verdicts}))
    return completion('{"grade": 1}' if '"grade"' in user else '{"verdict": 1}')


def by_calls(request, number):
    return Answer(body=reply(request))


def configured(url, kinds, *, batch, cache="cache"):
    """Writes c.yaml for measures of these kinds by one model, and an aspect that two are asked about."""
    endpoint = {"base_url": url, "api_key_env": None, "batch": {"poll": 0.02} if batch else False}
    models = [{"endpoint": {"model": name, **endpoint}} for name in ("fake", "b")]
    more = {"answer_correctness": {"similarity_weight": 0}}
    measures = [{"kind": kind, **more.get(kind, {})} for kind in kinds]
    aspect = {"kind": "aspect_critic", "name": "short", "aspect": "Short.", "panel": models}
    config = {"answer_measures": [*measures, aspect], "answer_judge": models[0], "cache": cache}
    Path("c.yaml").write_text(json.dumps(config))
    return "c.yaml"


KINDS = ("faithfulness", "answer_correctness", "noise_sensitivity", "context_relevance")


def models_of(script):
    """The model of each batch that was made, in their order."""
    lines = map(script.lines_of, script.batches.values())
    return [{line["body"]["model"] for line in batch} for batch in lines]


@pytest.mark.usefixtures("answers")
def test_a_round_of_all_measures_is_one_batch_for_each_endpoint():
    script = Batches(reply, looks=2)
    together = []
    look = script._look

    def seen(batch):
        together.append(len(script.batches))
        return look(batch)

    script._look = seen
    with FakeServer(script) as server:
        assert score(configured(server.url, KINDS, batch=True)) == 0
        # statements, grades and the aspect; verdicts on statements; which of those that are wrong contradict
        assert models_of(script) == [{"fake"}, {"b"}, {"fake"}, {"fake"}]
        assert together[0] == 2, "both were sent before either was looked at"
        # statements of two answers and a golden one that differs, two grades of three contexts, and an
        # aspect of two answers
        assert len(script.lines_of(script.batches["batch_2"])) == 3 + 2 * 3 + 2
        assert len(script.asked) == len(set(script.asked))
        uploads = sum(request["path"] == "/v1/files" for request in server.requests)
        assert uploads == 4
        assert score("c.yaml") == 0
        assert len(script.batches) == 4, "all answers are in the ledger"


@pytest.mark.usefixtures("answers")
def test_batches_and_calls_give_the_same_scores():
    scores = []
    for batch, script in ((True, Batches(reply)), (False, by_calls)):
        with FakeServer(script) as server:
            assert score(configured(server.url, KINDS, batch=batch, cache=f"cache {batch}")) == 0
            scores.append({name: (row["value"], row["details"]) for name, row in values().items()})
    assert scores[0] == scores[1]
    assert {value for value, _ in scores[0].values()} >= {"0.0", "0.5", "1.0"}


def killed(script, config):
    """Score the answers by a process that is killed when the script has stalled."""
    words = ("score-answers", "answers.jsonl", "--config", config, "--quiet")
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert script.reached.wait(900)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=900)


@pytest.mark.parametrize("at", [("GET batches", 1), ("POST batches", 1), ("GET files/content", 1)], ids=str)
@pytest.mark.usefixtures("answers")
def test_killed_before_a_batch_is_collected_each_run_reads_what_it_can_and_nothing_is_paid_twice(at):
    script = Stalling(*at, heard=True, reply=reply)
    with FakeServer(script) as server:
        killed(script, configured(server.url, KINDS, batch=True))
        first = len(script.asked)
        # a run that does without most measures collects what it needs, and leaves the rest on record
        assert score(configured(server.url, KINDS[:1], batch=True)) == 0
        with Ledger(CacheLayout(Path("cache")).ledger) as ledger:
            (left,) = ledger.batches.all()
            keys = {sent.key for sent in ledger.batches.calls(left.number)}
            # two grades of each of three contexts
            assert len(keys) == left.size == 3 * 2
            assert not any(ledger.find(key) for key in keys)
        assert first >= 3 + 2 * 3 + 2, "one batch has all"
        assert score(configured(server.url, KINDS, batch=True)) == 0
        assert len(script.asked) == len(set(script.asked))
    with Ledger(CacheLayout(Path("cache")).ledger) as ledger:
        assert not ledger.batches.all()
        entries = [ledger.key(entry) for entry in ledger.entries()]
        assert sorted(entries) == sorted(script.asked), "each is recorded once"
