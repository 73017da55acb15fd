"""Killed at any moment, a run of batches is picked up by the next one, and nothing is asked or paid twice."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.judge import LlmJudge, PanelConfig, PanelJudge
from harness.models.llm.batch_client import BatchClient
from harness.store import Ledger
from harness.values import LlmError, Silent
from tests.judge.batch_server import Batches
from tests.judge.fake_server import Answer, FakeServer, completion
from tests.judge.helpers import config, judge_all, pairs, send_only

PRICES = {"fake": {"input": 1.0, "output": 10.0}}
ROOT = Path(__file__).parents[2]
COUNT = 70


def start(url, path):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.judge.killed_batches", url, str(path), str(COUNT)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


class Stalling(Batches):
    """Does not answer the ``at``-th request of a kind; what it asks for is done before or after the silence.

    ``reached`` is set when that request has come.
    """

    def __init__(self, what, at, *, heard, **options):
        super().__init__(**options)
        self.what, self.at, self.heard = what, at, heard
        self.reached, self._never = threading.Event(), threading.Event()

    def _answer(self, name, parts, request, url):
        if name == self.what and not self.reached.is_set():
            self.at -= 1
            if self.at == 0:
                if self.heard:
                    super()._answer(name, parts, request, url)
                self.reached.set()
                return Answer(after=self._never)
        return super()._answer(name, parts, request, url)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("what", "at", "heard"),
    [
        pytest.param("POST files", 1, True, marks=SLOW),
        pytest.param("POST files", 1, False, marks=SLOW),
        pytest.param("POST files", 2, True, marks=SLOW),
        pytest.param("POST files", 2, False, marks=SLOW),
        # the one in which money can be lost: a batch is made, and its answer may be lost
        ("POST batches", 1, True),
        pytest.param("POST batches", 1, False, marks=SLOW),
        pytest.param("POST batches", 3, True, marks=SLOW),
        pytest.param("POST batches", 3, False, marks=SLOW),
        pytest.param("GET batches", 2, True, marks=SLOW),
        ("GET files/content", 2, True),
    ],
)
def test_a_killed_run_is_picked_up_and_pays_nothing_twice(what, at, heard, tmp_path):
    script, path = Stalling(what, at, heard=heard, looks=2), tmp_path / "ledger.db"
    with FakeServer(script) as server:
        first = start(server.url, path)
        assert script.reached.wait(900)
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=900)
        output, _ = start(server.url, path).communicate(timeout=900)
    assert output.split()[-3] == str(COUNT)
    assert len(script.asked) == len(set(script.asked)) == COUNT, "asked twice"
    with Ledger(path) as ledger:
        passages = [entry.passages for entry in ledger.entries()]
        assert len(passages) == len(set(passages)) == COUNT, "recorded twice"
        assert ledger.batches.all() == []


def test_killed_while_answers_are_recorded_it_records_none_twice(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    with FakeServer(Batches()) as server:
        options = config(server.url, batch={"poll": 0.02})
        with Ledger(path) as ledger, monkeypatch.context() as patch:
            patch.setattr("harness.models.llm.batch_desk._RECORDED_TOGETHER", 2)
            record, count = ledger.record, iter(range(100))

            def dies(key, answered):
                if next(count) == 4:
                    raise MemoryError("killed")
                return record(key, answered)

            patch.setattr(ledger, "record", dies)
            with pytest.raises(MemoryError):
                judge_all(options, ledger, pairs(10))
        with Ledger(path) as ledger:
            assert len(list(ledger.entries())) == 4
            graded, summary = judge_all(options, ledger, pairs(10))
            assert len(list(ledger.entries())) == 10
    assert [one.judgment.grade for one in graded] == [2] * 10
    assert len(server.script.batches) == 1
    assert summary.from_ledger == 4


@pytest.mark.slow
def test_an_interrupt_leaves_the_batches_running_and_says_how_to_go_on(tmp_path):
    script, path = Batches(looks=10**9), tmp_path / "ledger.db"
    with FakeServer(script) as server:
        process = start(server.url, path)
        deadline = time.monotonic() + 900
        while sum(script.seen.values()) < 6:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=900)
        assert process.returncode != 0
        assert "70 calls go on at the endpoint (batch_2, batch_4, batch_6)" in printed
        assert "The same command collects the answers" in printed
        assert "--cancel" in printed
        assert {batch["status"] for batch in script.batches.values()} == {"in_progress"}
        script.looks = 1
        output, _ = start(server.url, path).communicate(timeout=900)
    assert output.split()[-3] == str(COUNT)
    assert len(script.batches) == 3


def test_the_time_of_a_batch_is_that_of_its_request_and_not_of_the_upload(ledger, monkeypatch):
    ages = []
    upload, create = BatchClient.upload, BatchClient.create

    async def slow(self, tag, content):
        await asyncio.sleep(2.5)
        return await upload(self, tag, content)

    async def noting(self, tag, file_id):
        (sent,) = ledger.batches.all()
        ages.append((datetime.now(UTC) - datetime.fromisoformat(sent.made_at)).total_seconds())
        return await create(self, tag, file_id)

    monkeypatch.setattr(BatchClient, "upload", slow)
    monkeypatch.setattr(BatchClient, "create", noting)
    with FakeServer(Batches()) as server:
        judge_all(config(server.url, batch={"poll": 0.02}), ledger, pairs(2))
    # a run that is killed now is followed by one that looks for the batch for half a minute from here;
    # whole seconds are kept
    assert len(ages) == 1
    assert ages[0] < 2


def test_what_is_on_its_way_is_not_asked_by_itself(ledger):
    script = Batches(looks=2)
    with FakeServer(script) as server:
        send_only(script, config(server.url, batch=True), ledger, pairs(4))
        assert len(script.batches) == 1
        estimate = LlmJudge(config(server.url), ledger).estimate(pairs(6))
        assert (estimate.calls, estimate.in_batches) == (2, 4)
        assert "4 on their way in batches" in str(estimate)
        with pytest.raises(LlmError, match=r"4 calls of fake are on their way in batches.*--cancel"):
            judge_all(config(server.url), ledger, pairs(4))
        assert not script.direct
        # by now it has ended: its answers are taken in, and the rest is asked
        graded, summary = judge_all(config(server.url, prices=PRICES), ledger, pairs(6))
    assert [one.judgment.grade for one in graded] == [2] * 4 + [1] * 2
    assert len(script.direct) == 2
    # four at half the price
    assert summary.cost == pytest.approx((4 / 2 + 2) * (100 * 1 + 10 * 10) / 1e6)


def test_batches_of_other_prompts_are_left_alone_and_those_of_other_addresses_collected_there(ledger):
    script, elsewhere = Batches(), Batches()
    with FakeServer(script) as server, FakeServer(elsewhere) as other:
        send_only(script, config(server.url, batch=True), ledger, pairs(3))
        graded, _ = judge_all(
            config(server.url, batch={"poll": 0.02}, prompt="pointwise_zh"), ledger, pairs(3)
        )
        assert len(graded) == 3
        assert len(ledger.batches.all()) == 1
        graded, _ = judge_all(config(other.url, batch={"poll": 0.02}), ledger, pairs(3))
    assert [one.judgment.grade for one in graded] == [2] * 3
    assert len(script.batches) == 2
    assert not elsewhere.batches
    assert ledger.batches.all() == []


def test_calls_that_a_run_does_not_need_any_more_are_taken_in_all_the_same(ledger):
    script = Batches(looks=2)
    with FakeServer(script) as server:
        send_only(script, config(server.url, batch=True), ledger, pairs(6))
        _, summary = judge_all(config(server.url, batch={"poll": 0.02}), ledger, pairs(8))
    assert [batch["request_counts"]["total"] for batch in script.batches.values()] == [6, 2]
    assert len(list(ledger.entries())) == 8
    assert summary.calls == 8


def test_members_of_a_panel_have_their_batches_answered_side_by_side(ledger):
    script = Batches(lambda line: completion(f'{{"grade": {1 if line["body"]["model"] == "a" else 3}}}'))
    together = []
    look = script._look

    def seen(batch):
        together.append(len(script.batches))
        return look(batch)

    script._look = seen
    with FakeServer(script) as server:
        members = [config(server.url, batch={"poll": 0.02}, endpoint={"model": name}) for name in "ab"]
        graded = []
        PanelJudge(PanelConfig(members=members), ledger).grade(
            list(pairs(3)), graded.append, reporter=Silent(), total=3
        )
    assert [one.samples for one in graded] == [(1, 3)] * 3
    assert together[0] == 2, "both were sent before either was looked at"
    assert len(script.batches) == 2


# The tables of the record of batches as version 1 made them.
SCHEMA_1 = """
CREATE TABLE batches (number INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, endpoint TEXT NOT NULL,
  file_id TEXT NOT NULL, batch_id TEXT NOT NULL, made_at TEXT NOT NULL, size INTEGER NOT NULL);
CREATE TABLE calls (batch INTEGER NOT NULL, key TEXT NOT NULL, call TEXT NOT NULL, unusable INTEGER NOT NULL,
  failed INTEGER NOT NULL, PRIMARY KEY (batch, key)) WITHOUT ROWID;
CREATE INDEX calls_by_key ON calls (key);
PRAGMA user_version = 1;
"""


@pytest.mark.parametrize("named", [True, False])
def test_a_batch_that_an_earlier_version_sent_is_collected(named, ledger):
    script = Batches(looks=2)
    with FakeServer(script) as server:
        send_only(script, config(server.url, batch=True), ledger, pairs(3))
        (sent,), calls = ledger.batches.all(), ledger.batches._rows("SELECT * FROM calls")
        ledger.batches.path.unlink()
        old = sqlite3.connect(ledger.batches.path)
        old.executescript(SCHEMA_1)
        endpoint = {name: value for name, value in sent.endpoint.items() if name != "batch"}
        batch_id = sent.batch_id if named else ""
        row = (1, sent.model, json.dumps(endpoint), sent.file_id, batch_id, sent.made_at, sent.size)
        old.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        old.executemany("INSERT INTO calls VALUES (?, ?, ?, ?, ?)", calls)
        old.commit()
        old.close()
        graded, _ = judge_all(config(server.url, batch={"poll": 0.02}), ledger, pairs(3))
    assert [one.judgment.grade for one in graded] == [2] * 3
    assert len(script.batches) == 1
    assert ledger.batches.all() == []
