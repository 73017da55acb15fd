"""Tasks in worker processes: what one of them costs when it dies, hangs or eats memory."""

import multiprocessing
import os
import re
import signal
import time
from functools import partial

import pytest

from harness.data.corpus.workers import LostTask, ParsingConfig, run_in_workers
from harness.values.errors import CorpusError


def double(number, on_page):
    return 2 * number


fine = partial(double, 1)


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
    found = {}
    jobs = {key: lambda worker, task=task: worker.run(task) for key, task in tasks.items()}
    run_in_workers(jobs, count, ParsingConfig(**limits), found.__setitem__)
    return found


@pytest.mark.parametrize("count", [1, 3])
def test_every_task_has_its_result(count):
    assert run({n: partial(double, n) for n in range(7)}, count) == {n: 2 * n for n in range(7)}


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


@pytest.mark.parametrize(
    ("task", "limits", "message"),
    [
        (eat, {"memory_mb": 200}, "needed more than 200 MB of memory. Raise parsing.memory_mb"),
        (hang, {"page_seconds": 0.3}, "took longer than 0.3 seconds. Raise parsing.page_seconds"),
        (
            turn_pages,
            {"page_seconds": 60, "document_seconds": 0.3},
            "longer than 0.3 seconds for the document. Raise parsing.document_seconds",
        ),
    ],
)
def test_memory_a_page_and_a_document_have_limits(task, limits, message):
    outcomes = run({"lost": task, "goes on": fine}, **limits)
    assert message in outcomes["lost"].reason
    assert outcomes["goes on"] == 2


def test_a_fault_in_a_task_is_reported_with_its_trace():
    with pytest.raises(RuntimeError, match=r"(?s)in fail.*a fault of ours"):
        run({"fails": fail})


def test_processes_end_where_an_outcome_is_refused():
    def refuse(key, outcome):
        raise CorpusError("bad")

    before = set(multiprocessing.active_children())
    jobs = {key: lambda worker, task=task: worker.run(task) for key, task in (("a", hang), ("b", fine))}
    with pytest.raises(CorpusError, match="bad"):
        run_in_workers(jobs, 2, ParsingConfig(), refuse)
    assert set(multiprocessing.active_children()) == before


def test_a_worker_that_cannot_start_says_what_to_do(monkeypatch):
    from harness.data.corpus import workers as module

    monkeypatch.setattr(module, "serve", partial(double, 1))  # takes one argument, not two: it dies at once
    with pytest.raises(CorpusError, match=r"could not start.*memory or processes may be short"):
        run({"a": partial(double, 1)})
