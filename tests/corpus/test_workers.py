"""Tasks in worker processes: what one of them costs when it dies, hangs or eats memory."""

import multiprocessing
import os
import re
import signal
import time
from functools import partial

import pytest

from harness.data import ParsingConfig
from harness.data.corpus.workers import LostTask, run_in_workers
from harness.values import CorpusError


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


def test_every_task_has_its_result():
    assert run({n: partial(double, n) for n in range(7)}, 3) == {n: 2 * n for n in range(7)}


def test_a_worker_that_dies_loses_its_own_task_alone():
    messages = {
        signal.SIGKILL: r"killed \(SIGKILL\).*Lower parsing\.workers",
        signal.SIGABRT: r"crashed \(SIGABRT\).*more than 2,048 MB.*parsing\.memory_mb",
        signal.SIGSEGV: r"crashed \(SIGSEGV\)",
    }
    dying = {f"dies by {how}": partial(die, how) for how in messages}
    outcomes = run(dying | {n: partial(double, n) for n in range(3)}, 2)
    assert [outcomes[n] for n in range(3)] == [0, 2, 4]
    for how, message in messages.items():
        lost = outcomes[f"dies by {how}"]
        assert (type(lost), lost.page) == (LostTask, 3)
        assert re.search(message, lost.reason)


def test_memory_a_page_and_a_document_have_limits():
    tasks = {"eats": eat, "hangs": hang, "has no end": turn_pages, "goes on": fine}
    outcomes = run(tasks, memory_mb=200, page_seconds=0.3, document_seconds=0.6)
    assert outcomes.pop("goes on") == 2
    for key, message in (
        ("eats", "needed more than 200 MB of memory. Raise parsing.memory_mb"),
        ("hangs", "took longer than 0.3 seconds. Raise parsing.page_seconds"),
        ("has no end", "longer than 0.6 seconds. Raise parsing.document_seconds"),
    ):
        assert message in outcomes[key].reason


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
