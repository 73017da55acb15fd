"""Killed at any moment, the judge loses nothing it had recorded; two at once do not ask the same."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from harness.store import Ledger
from tests.judge.fake_server import Answer, FakeServer, completion

ROOT = Path(__file__).parents[2]
CONCURRENCY = 8


def start(url, path, count, *, wrapped_in=()):
    return subprocess.Popen(
        [*wrapped_in, sys.executable, "-m", "tests.judge.killed_judge", url, str(path), str(count)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


GRADE = completion('{"grade": 2}')


def recorded(path):
    with Ledger(path) as ledger:
        return [entry.passages for entry in ledger.entries() if entry.settled]


def passage_of(request):
    lines = request["body"]["messages"][1]["content"].splitlines()
    return next(line for line in lines if line.startswith("passage "))


def wait_for_requests(server, count, process):
    """Wait until the server has been asked ``count`` times; a process that ends before is a failure."""
    deadline = time.monotonic() + 900
    while server.count < count:
        assert process.poll() is None, "it ended before it was to be disturbed"
        assert time.monotonic() < deadline
        time.sleep(0.002)


class Brake:
    """Answers until a number of requests have come, and then no more, so that nobody outruns a test."""

    def __init__(self):
        self.until = float("inf")
        self._never = threading.Event()

    def __call__(self, request, number):
        return Answer(body=GRADE, delay=0.02, after=None if number < self.until else self._never)


@pytest.mark.slow
def test_sigkill_under_load_loses_and_repeats_nothing_that_was_recorded(tmp_path):
    path, count, kills, rng, brake = tmp_path / "ledger.db", 200, 4, random.Random(1), Brake()
    with FakeServer(brake) as server:
        known = set()
        for kill in range(kills + 1):
            before = server.count
            target = before + rng.randrange(25, 40)
            brake.until = target if kill < kills else float("inf")
            process = start(server.url, path, count)
            if kill < kills:
                wait_for_requests(server, target, process)
                time.sleep(rng.uniform(0, 0.03))
                process.send_signal(signal.SIGKILL)
            output, _ = process.communicate(timeout=900)
            asked = Counter(passage_of(request) for request in server.requests[before:])
            assert not {passage for (passage,) in known} & set(asked), "asked what was already recorded"
            now = recorded(path)
            assert known <= set(now), "a recorded answer is gone"
            assert len(now) == len(set(now)), "recorded twice"
            known = set(now)
        total = Counter(passage_of(request) for request in server.requests)
    assert process.returncode == 0
    assert output.split()[0] == str(count)
    assert len(known) == len(total) == count
    # The bound: a kill may waste the calls that were on their way, one per concurrent caller.
    assert sum(total.values()) - count <= kills * CONCURRENCY


# A process of its own kind of container: its process ids mean nothing outside, its host name is the same.
CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]


def container(processes_before):
    """Run in a namespace of process ids where so many processes have been before."""
    script = f'for n in $(seq {processes_before}); do /bin/true; done; "$@"'
    return [*CONTAINER, "sh", "-c", script, "sh"]


def containers_work():
    try:
        return (
            subprocess.run([*CONTAINER, "true"], check=False, capture_output=True, timeout=900).returncode
            == 0
        )
    except OSError:
        return False


@pytest.mark.parametrize(
    "contained",
    [False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["processes", "containers"],
)
def test_two_runs_share_a_ledger_and_ask_each_pair_once(contained, tmp_path):
    if contained and not containers_work():
        pytest.skip("unshare cannot make a namespace of process ids here")
    path, count, second_waits = tmp_path / "ledger.db", 200, threading.Event()

    with FakeServer(lambda *_: Answer(body=GRADE, delay=0.02, after=second_waits)) as server:
        first = start(server.url, path, count, wrapped_in=container(3) if contained else ())
        wait_for_requests(server, 1, first)
        second = start(server.url, path, count, wrapped_in=container(40) if contained else ())
        note = second.stdout.readline()
        second_waits.set()
        outputs = [process.communicate(timeout=900)[0].split()[-3:] for process in (first, second)]
        asked = Counter(passage_of(request) for request in server.requests)
    assert "waits for its turn" in note
    assert [process.returncode for process in (first, second)] == [0, 0]
    assert [graded for graded, _, _ in outputs] == [str(count)] * 2, "both see every judgment"
    assert set(asked.values()) == {1}
    assert sum(int(calls) for _, calls, _ in outputs) == count
    assert all(int(calls) + int(known) == count for _, calls, known in outputs)


@pytest.mark.slow
def test_a_waiting_run_goes_on_at_once_when_the_other_is_killed(tmp_path):
    path, count, brake = tmp_path / "ledger.db", 100, Brake()
    with FakeServer(brake) as server:
        brake.until = 40
        first = start(server.url, path, count)
        wait_for_requests(server, 40, first)
        second = start(server.url, path, count)
        assert "waits for its turn" in second.stdout.readline()
        before = server.count
        known = recorded(path)
        brake.until = float("inf")
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=900)
        output, _ = second.communicate(timeout=900)
        asked = Counter(passage_of(request) for request in server.requests[before:])
    assert output.split()[-3] == str(count)
    assert not {passage for (passage,) in known} & set(asked), "asked what was already recorded"
    assert set(asked.values()) == {1}
    assert server.count <= count + CONCURRENCY


def test_an_interrupt_waits_for_the_calls_on_their_way(tmp_path):
    path = tmp_path / "ledger.db"
    with FakeServer(lambda *_: Answer(body=GRADE, delay=0.3)) as server:
        process = start(server.url, path, 4000)
        wait_for_requests(server, 20, process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=900)
        assert process.returncode != 0
        assert 20 <= server.count < 4000
        assert len(recorded(path)) == server.count, "every call that was sent has been recorded"
