"""`harness bench` with a judge that asks in batches, and `harness judge batches`."""

import json
import re

import pytest

from harness.store import CacheLayout
from harness.store.ledger import Ledger
from tests.command import exit_code, printed, refused, table
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, completion, error
from tests.test_judge_command import KEY, place, right

__all__ = ["place"]


def reply(line):
    return right(line).body


@pytest.fixture
def batched(place):
    """Writes c.yaml for a judge that asks in batches at an address."""

    def write(url, batch="{poll: 0.05}"):
        path = place(url)
        text = path.read_text().replace("judge: llm,", f"judge: llm, batch: {batch},")
        path.write_text(text)
        return path

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
        assert "in batches (0.5 of the usual price)" in output
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
        assert "continue at the endpoint" in " ".join((output.out + output.err).split())
        (name,) = script.batches
        shown = printed(capsys, "judge", "batches")
        assert name in shown
        assert "in_progress" in shown
        assert "in progress in batches" in printed(capsys, "validate", config)
        assert "judge batches` lists them" in refused(capsys, "judge", "batches", "--only", "nonsense")
        assert "cancelling" in printed(capsys, "judge", "batches", "--cancel")
        script.looks = 1
        assert exit_code("bench", config) == 0
        output = capsys.readouterr()
        assert "was cancelled" in " ".join((output.out + output.err).split())
        assert "No batch is in progress" in printed(capsys, "judge", "batches")
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
        assert "Remove `batch` from the configuration" in output


def test_the_check_of_a_judge_asks_call_by_call(batched, capsys):
    def script(request, number):
        assert request["path"].endswith("chat/completions")
        return Answer(body=completion('{"grade": 2}'))

    with FakeServer(script) as server:
        exit_code("judge", "check", batched(server.url))
        assert server.count > 100
