"""Tasks in worker processes: what one of them costs when it dies, hangs or eats memory."""

import os
import re
import signal
import time
from functools import partial

import pytest

from harness.data.corpus.parsing import ParsingConfig
from harness.data.corpus.workers import LostTask, ParserWorkers
from harness.values.errors import CorpusError


def double(number, on_page):
    return 2 * number


def die(how, on_page):
    on_page(3)
    os.kill(os.getpid(), how)


def hang(on_page):
    on_page(2)
    while True:
        time.sleep(0.01)


def turn_pages(on_page):
    for page in range(1_000_000_000):
        on_page(page)
        time.sleep(0.001)


def eat(on_page):
    on_page(1)
    return len(b"x" * 2_000_000_000)


def fail(on_page):
    raise KeyError("a fault of ours")


def run(tasks, count=1, **limits):
    with ParserWorkers(count, ParsingConfig(**limits)) as workers:
        for key, task in tasks.items():
            workers.submit(key, task)
        return dict(workers.results())


@pytest.mark.parametrize("count", [1, 3])
def test_every_task_has_its_result(count):
    assert run({n: partial(double, n) for n in range(7)}, count) == {n: 2 * n for n in range(7)}


def test_tasks_can_be_added_while_results_are_read_and_put_first():
    ended = []
    with ParserWorkers(1, ParsingConfig()) as workers:
        workers.submit("a", partial(double, 1))
        workers.submit("b", partial(double, 2))
        for key, result in workers.results():
            ended.append((key, result))
            if key == "a":
                workers.submit("c", partial(double, 3), first=True)
    assert ended == [("a", 2), ("c", 6), ("b", 4)]


@pytest.mark.parametrize(
    ("count", "how", "message"),
    [
        (1, signal.SIGKILL, r"killed \(SIGKILL\).*Lower parsing\.workers"),
        (1, signal.SIGABRT, r"crashed \(SIGABRT\).*more than 2,048 MB.*parsing\.memory_mb"),
        (2, signal.SIGSEGV, r"crashed \(SIGSEGV\)"),
    ],
)
def test_a_worker_that_dies_loses_its_own_task_alone(count, how, message):
    outcomes = run({"dies": partial(die, how), **{n: partial(double, n) for n in range(3)}}, count)
    lost = outcomes.pop("dies")
    assert outcomes == {0: 0, 1: 2, 2: 4}
    assert (type(lost), lost.page) == (LostTask, 3)
    assert re.search(message, lost.reason)


def test_memory_has_a_limit():
    outcomes = run({"eats": eat, "goes on": partial(double, 1)}, memory_mb=200)
    lost = outcomes["eats"]
    assert lost == LostTask(1, lost.reason)
    assert "needed more than 200 MB of memory. Raise parsing.memory_mb" in lost.reason
    assert outcomes["goes on"] == 2


def test_a_page_has_a_time_limit():
    lost = run({"hangs": hang}, page_seconds=0.3)["hangs"]
    assert "took longer than 0.3 seconds. Raise parsing.page_seconds" in lost.reason


def test_a_document_has_a_time_limit_whatever_its_number_of_pages():
    lost = run({"endless": turn_pages}, page_seconds=60, document_seconds=0.3)["endless"]
    assert "longer than 0.3 seconds for the document. Raise parsing.document_seconds" in lost.reason


def test_a_fault_in_a_task_is_reported_with_its_trace():
    with pytest.raises(RuntimeError, match=r"(?s)in fail.*a fault of ours"):
        run({"fails": fail})


def test_processes_end_with_the_block():
    with ParserWorkers(2, ParsingConfig()) as workers:
        workers.submit("a", hang)
        workers.submit("b", hang)
        workers._hand_out()
        processes = [worker._process for worker in workers._workers]
        assert len(processes) == 2
    assert not any(process.is_alive() for process in processes)


def test_a_worker_that_cannot_start_says_what_to_do(monkeypatch):
    from harness.data.corpus import workers as module

    monkeypatch.setattr(module, "serve", partial(double, 1))  # takes one argument, not two: it dies at once
    with pytest.raises(CorpusError, match=r"could not start.*memory or processes may be short"):
        run({"a": partial(double, 1)})
