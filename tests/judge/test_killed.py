"""Killed at any moment, the judge loses nothing it had recorded; two at once do not ask the same."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from harness.store.ledger import Ledger
from tests.judge.fake_server import Answer, FakeServer, completion

ROOT = Path(__file__).parents[2]
CONCURRENCY = 8


def start(url, path, count):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.judge.killed_judge", url, str(path), str(count)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def slow_grade(request, number):
    return Answer(body=completion('{"grade": 2}'), delay=0.02)


def recorded(path):
    with Ledger(path) as ledger:
        return [entry.passages for entry in ledger.entries() if entry.settled]


def passage_of(request):
    lines = request["body"]["messages"][1]["content"].splitlines()
    return next(line for line in lines if line.startswith("passage "))


def test_sigkill_under_load_loses_and_repeats_nothing_that_was_recorded(tmp_path):
    path, count, rng = tmp_path / "ledger.db", 160, random.Random(1)
    with FakeServer(slow_grade) as server:
        known = set()
        kills = 0
        while True:
            before = server.count
            process = start(server.url, path, count)
            target = before + rng.randrange(25, 40)
            while server.count < target and process.poll() is None:
                time.sleep(0.002)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            output, _ = process.communicate(timeout=240)
            asked = Counter(passage_of(request) for request in server.requests[before:])
            assert not {passage for (passage,) in known} & set(asked), "asked what was already recorded"
            now = recorded(path)
            assert known <= set(now), "a recorded answer is gone"
            assert len(now) == len(set(now)), "recorded twice"
            known = set(now)
            if process.returncode == 0:
                break
        total = Counter(passage_of(request) for request in server.requests)
    assert kills >= 3
    assert output.split()[0] == str(count)
    assert len(known) == len(total) == count
    # The bound: a kill may waste the calls that were on their way, one per concurrent caller.
    assert sum(total.values()) - count <= kills * CONCURRENCY


def test_two_processes_share_a_ledger_and_ask_each_pair_once(tmp_path):
    path, count = tmp_path / "ledger.db", 200
    with FakeServer(slow_grade) as server:
        both = [start(server.url, path, count) for _ in range(2)]
        outputs = [process.communicate(timeout=240)[0].split() for process in both]
        asked = Counter(passage_of(request) for request in server.requests)
    assert [process.returncode for process in both] == [0, 0]
    assert [graded for graded, _ in outputs] == [str(count)] * 2, "both see every judgment"
    assert set(asked.values()) == {1}
    assert sum(int(calls) for _, calls in outputs) == count
    assert all(int(calls) > 0 for _, calls in outputs), "both have worked"


def test_an_interrupt_waits_for_the_calls_on_their_way(tmp_path):
    path = tmp_path / "ledger.db"
    with FakeServer(lambda *_: Answer(body=completion('{"grade": 2}'), delay=0.3)) as server:
        process = start(server.url, path, 400)
        while server.count < 20:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=240)
        assert process.returncode != 0
        assert 20 <= server.count < 400
        assert len(recorded(path)) == server.count, "every call that was sent has been recorded"
