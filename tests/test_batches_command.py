"""`harness bench` with a judge that asks in batches, and `harness judge batches`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.store import CacheLayout, Ledger
from tests.command import exit_code, printed, refused, table
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, completion, error
from tests.test_judge_command import KEY, place, right

__all__ = ["place"]
ROOT = Path(__file__).parents[1]


def reply(line):
    return right(line).body


@pytest.fixture
def batched(place):
    """Writes c.yaml for a judge that asks in batches at an address."""

    def write(url, batch="{poll: 0.05}"):
        return place(url, model=f", batch: {batch}")

    return write


def judgments(tmp_path):
    return [
        (row["query_id"], row["start"], row["grade"])
        for row in table(next(tmp_path.glob("results/*/judgments.csv")))
    ]


def test_a_benchmark_by_batches_has_the_judgments_of_one_by_single_calls_at_half_the_price(
    batched, place, tmp_path, capsys
):
    script = Batches(reply, looks=3)
    with FakeServer(script) as server:
        config = batched(server.url)
        # retrieves, so that the pool is known
        output = printed(capsys, "bench", config, "--dry-run")
        assert "0.5 per million tokens read, 0.5 written, in batches" in output
        likely = float(re.search(r"price likely (\d+\.\d+)", output)[1])
        assert not script.batches
        assert exit_code("bench", config) == 0
        by_batch = judgments(tmp_path)
        assert len(script.batches) == 1
        assert not script.direct
        cost = json.loads(next(tmp_path.glob("results/*/record.json")).read_text())["cost"]
        assert cost["cost"] == pytest.approx(cost["calls"] * (100 + 10) / 1e6 / 2)
        capsys.readouterr()
        # the same ledger serves single calls
        assert exit_code("bench", place(server.url)) == 0
        assert not script.direct
    assert judgments(tmp_path) == by_batch
    assert {grade for *_, grade in by_batch} >= {"0", "4"}
    (tmp_path / ".cache/harness/judgments.sqlite").unlink()
    with FakeServer(lambda request, number: Answer(body=reply(request))) as server:
        single = place(server.url)
        output = printed(capsys, "bench", single, "--dry-run")
        assert float(re.search(r"price likely (\d+\.\d+)", output)[1]) == pytest.approx(2 * likely, abs=2e-4)
        assert exit_code("bench", single) == 0
    assert judgments(tmp_path) == by_batch


def test_batches_are_listed_cancelled_and_taken_in(batched, tmp_path, capsys):
    script = Batches(reply, looks=10**9)
    script.faults = {"GET batches": [error(401, "wrong key")]}
    with FakeServer(script) as server:
        config = batched(server.url)
        # the first look ends the run, and the batch goes on
        assert exit_code("bench", config) != 0
        output = capsys.readouterr()
        assert "at the endpoint (batch_2). The same command collects the answers" in " ".join(
            (output.out + output.err).split()
        )
        (name,) = script.batches
        shown = printed(capsys, "judge", "batches")
        assert re.search(rf"1 +{name} +fake-1 +0 min +(\d+) +0 +0 +0\.\d{{4}} +in_progress", shown)
        assert "1: wait, or run the command that sent it" in shown
        assert "on their way in batches" in printed(capsys, "validate", config)
        assert "judge batches` lists them" in refused(capsys, "judge", "batches", "--only", "nonsense")
        assert "cancelling" in printed(capsys, "judge", "batches", "--cancel")
        script.looks = 1
        assert exit_code("bench", config) == 0
        output = capsys.readouterr()
        assert "was cancelled" in " ".join((output.out + output.err).split())
        assert "No batch is on its way" in printed(capsys, "judge", "batches")
    assert KEY not in output.out + output.err


def test_a_batch_that_is_gone_can_be_forgotten_and_is_asked_again(batched, tmp_path, capsys):
    script = Batches(reply, looks=2)
    script.faults = {"GET batches": [error(401, "wrong key")]}
    with FakeServer(script) as server:
        config = batched(server.url)
        assert exit_code("bench", config) != 0
        script.batches.clear()
        output = refused(capsys, "bench", config)
        assert "does not know batch batch_2" in output
        assert "harness judge batches --forget" in output
        assert exit_code("judge", "batches") == 1
        assert "does not know" in " ".join(capsys.readouterr().out.split())
        assert exit_code("judge", "batches", "--forget", "batch_2") == 0
        assert exit_code("bench", config) == 0
    with Ledger(CacheLayout(tmp_path / ".cache/harness").ledger) as ledger:
        assert ledger.batches.all() == []


def test_an_endpoint_without_batches_is_named_with_what_to_do(batched, capsys):
    with FakeServer(lambda request, number: error(404, "Not Found")) as server:
        output = refused(capsys, "bench", batched(server.url, "true"))
        assert (
            f"{server.url} offers no batches (it says: not_found: Not Found." in output
            or "offers no" in output
        )
        assert "Remove `batch` from the endpoint" in output


def test_the_check_of_a_judge_asks_call_by_call(batched, capsys):
    def script(request, number):
        assert request["path"].endswith("chat/completions")
        return Answer(body=completion('{"grade": 2}'))

    with FakeServer(script) as server:
        exit_code("judge", "check", batched(server.url))
        assert server.count > 100


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_benchmark_that_is_stopped_leaves_its_batch_and_the_next_one_collects_it(by, batched, capsys):
    script = Batches(reply, looks=10**9)
    with FakeServer(script) as server:
        config = batched(server.url)
        process = subprocess.Popen(
            [sys.executable, "-m", "harness", "bench", str(config)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        deadline = time.monotonic() + 900
        while sum(script.seen.values()) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(by)
        output = " ".join(process.communicate(timeout=900)[0].split())
        assert process.returncode != 0
        assert ("go on at the endpoint (batch_2). The same command collects" in output) == (
            by != signal.SIGKILL
        )
        assert "Traceback" not in output
        assert "batch_2" in printed(capsys, "judge", "batches")
        script.looks = 1
        assert exit_code("bench", config) == 0
    assert len(script.batches) == 1
    assert not script.direct


def test_a_plan_waits_for_no_batch(place, capsys):
    """Its answers are missing, though no call is to be made."""
    script = Batches(lambda line: completion("It holds 100 cars."), looks=10**9)
    script.faults = {"GET batches": [error(401, "wrong key")]}
    with FakeServer(script) as server:
        config = place(server.url, judge="labels")
        endpoint = (
            f"{{model: fake-1, base_url: '{server.url}', api_key_env: FAKE_KEY, batch: {{poll: 0.05}}}}"
        )
        with config.open("a", encoding="utf-8") as file:
            file.write(
                f"answer: {{kind: llm, top_n: 1, endpoint: {endpoint}}}\nanswer_measures: [token_f1]\n"
            )
        # the first look ends the run, and the batch goes on
        assert exit_code("bench", config) != 0
        assert len(script.batches) == 1
        capsys.readouterr()
        before = server.count
        for command in (("validate", config), ("bench", config, "--dry-run")):
            assert "on their way in batches; nothing more to pay" in printed(capsys, *command)
        assert server.count == before
        script.looks = 1
        assert exit_code("bench", config) == 0
    assert len(script.batches) == 1


def test_voters_on_answers_have_their_batches_answered_side_by_side(place, capsys):
    script = Batches(lambda line: completion('{"verdict": 1}'))
    together = []
    look = script._look

    def watched(batch):
        together.append(len(script.batches))
        return look(batch)

    script._look = watched
    with FakeServer(script) as server:
        config = place(server.url, judge="labels")
        voters = ", ".join(
            f"{{endpoint: {{model: {name}, base_url: '{server.url}', api_key_env: FAKE_KEY, "
            "batch: {poll: 0.05}}}"
            for name in "abc"
        )
        with config.open("a", encoding="utf-8") as file:
            file.write("answer: {kind: extractive, top_n: 1}\nanswer_measures:\n")
            file.write(f"  - {{kind: aspect_critic, aspect: coherence, panel: [{voters}]}}\n")
        assert exit_code("bench", config) == 0
    # all three were sent before any was looked at
    assert together[0] == 3 == len(script.batches)
