"""Tasks in worker processes of bounded memory and time: one that dies or hangs loses only its own task."""

from __future__ import annotations

import math
import multiprocessing
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from types import ModuleType
from typing import Any, Generic, TypeVar

from harness.data.corpus.parsing import ParsingConfig
from harness.data.corpus.worker_process import Task, serve
from harness.values import CorpusError

K = TypeVar("K")

_CANNOT_START = (
    "A worker process that reads PDFs could not start: memory or processes may be short (ulimit -a)."
)
_RAISE_MEMORY = "Raise parsing.memory_mb, or leave the document out."


@dataclass(frozen=True, slots=True)
class LostTask:
    """A task without a result: on which page (0: before the first) and, as the end of a sentence, why."""

    page: int
    reason: str


class ParserWorkers(Generic[K]):
    """Up to ``count`` processes that work through submitted tasks.

    Use it as a context manager: processes end with the block. They are spawned when the first
    task needs them, and one that has died or was ended for a limit is replaced.
    """

    def __init__(self, count: int, limits: ParsingConfig) -> None:
        self._count = count
        self._limits = limits
        self._queue: deque[tuple[K, Task]] = deque()
        self._workers: list[_Worker[K]] = []

    def __enter__(self) -> ParserWorkers[K]:
        return self

    def __exit__(self, *failure: object) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def submit(self, key: K, task: Task, first: bool = False) -> None:
        """Add a task, behind the others or (``first``) before them; also while results are read."""
        if first:
            self._queue.appendleft((key, task))
        else:
            self._queue.append((key, task))

    def results(self) -> Iterator[tuple[K, Any]]:
        """The key of every task with its result, or with LostTask, in the order in which they end."""
        while self._queue or any(worker.busy for worker in self._workers):
            self._hand_out()
            ends = [worker.deadline for worker in self._workers if worker.deadline is not None]
            timeout = max(0.0, min(ends) - time.monotonic()) if ends and min(ends) < math.inf else None
            ready = set(wait([worker.connection for worker in self._workers if worker.talks], timeout))
            for worker in list(self._workers):
                outcome = worker.listen() if worker.connection in ready else worker.expired()
                if worker.dead:
                    self._workers.remove(worker)
                if outcome is not None:
                    yield outcome

    def _hand_out(self) -> None:
        self._workers = [worker for worker in self._workers if worker.talks or worker.alive]
        for worker in self._workers:
            if worker.idle and self._queue:
                worker.take(*self._queue.popleft())
        starting = sum(worker.starting for worker in self._workers)
        while len(self._workers) < self._count and starting < len(self._queue):
            self._workers.append(_Worker(self._limits))
            starting += 1


class _Worker(Generic[K]):
    """One process, as the parent sees it: starting, idle, busy with a task, or dead."""

    def __init__(self, limits: ParsingConfig) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._limits = limits
        self._process = context.Process(target=serve, args=(theirs, limits.memory_mb), daemon=True)
        with _no_main_module():
            self._process.start()
        theirs.close()
        self.starting, self.dead = True, False
        self._memory_mb = limits.memory_mb
        self._task: tuple[K] | None = None
        self._page = 0
        self._task_end = self._page_end = 0.0

    @property
    def busy(self) -> bool:
        """Whether it has a task."""
        return self._task is not None

    @property
    def idle(self) -> bool:
        """Whether it can take a task."""
        return not (self.starting or self.dead or self.busy)

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._process.is_alive()

    @property
    def talks(self) -> bool:
        """Whether a message is to be expected."""
        return self.starting or self.busy

    @property
    def deadline(self) -> float | None:
        """When its page or its task must have ended; None without a task."""
        return min(self._task_end, self._page_end) if self.busy else None

    def take(self, key: K, task: Task) -> None:
        """Begin a task."""
        self._task, self._page = (key,), 0
        self._task_end = self._page_end = math.inf
        with suppress(OSError):  # a worker that has died is noticed when it is listened to
            self.connection.send(task)

    def listen(self) -> tuple[K, Any] | None:
        """Receive one message; return the outcome of the task, if that ends it."""
        try:
            what, value = self.connection.recv()
        except (EOFError, OSError):
            return self._died()
        if what == "ready":
            self.starting, self._memory_mb = False, value
        elif what == "begun":
            # only now, as a new process imports what the task needs before it
            self._page_end = time.monotonic() + self._limits.page_seconds
            self._task_end = time.monotonic() + self._limits.document_seconds
        elif what == "page":
            self._page, self._page_end = value, time.monotonic() + self._limits.page_seconds
        elif what == "result":
            return self._finish(value)
        elif what == "memory":
            self.end()
            return self._lose(f"needed more than {self._memory_mb:,} MB of memory. {_RAISE_MEMORY}")
        else:
            raise RuntimeError(f"A task in a worker process failed:\n{value}")
        return None

    def expired(self) -> tuple[K, Any] | None:
        """End a worker whose time is over; return the outcome of its task."""
        if self.deadline is None or time.monotonic() < self.deadline:
            return None
        self.end()
        if self._task_end <= self._page_end:
            return self._lose(
                f"took longer than {self._limits.document_seconds:g} seconds for the document. "
                "Raise parsing.document_seconds, or leave the document out."
            )
        return self._lose(
            f"took longer than {self._limits.page_seconds:g} seconds. "
            "Raise parsing.page_seconds, or leave the document out."
        )

    def end(self) -> None:
        """Kill the process and wait for its end."""
        self.dead = True
        self._process.kill()
        self._process.join()
        self.connection.close()

    def _died(self) -> tuple[K, Any] | None:
        started = not self.starting
        self._process.join()
        code = self._process.exitcode
        self.end()
        if not started:
            raise CorpusError(_CANNOT_START)
        return self._lose(_cause_of_death(code, self._memory_mb)) if self.busy else None

    def _lose(self, reason: str) -> tuple[K, Any] | None:
        return self._finish(LostTask(self._page, reason))

    def _finish(self, outcome: Any) -> tuple[K, Any] | None:
        assert self._task is not None
        (key,), self._task = self._task, None
        return key, outcome


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Keep a process that starts from running the user's script again, which needs no main guard then."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _cause_of_death(code: int | None, memory_mb: int) -> str:
    """Why a process ended that should not have, as far as its exit code tells."""
    if code is None or code >= 0:
        return f"ended its worker process with exit code {code}. Choose another parser kind."
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    if name == "SIGKILL":
        return (
            "lost its worker process, which was killed (SIGKILL): by someone, or because the machine ran out "
            "of memory. Lower parsing.workers or parsing.memory_mb, or leave the document out."
        )
    return (
        f"crashed ({name}), most likely because it needed more than {memory_mb:,} MB of memory. "
        "Choose another parser kind, raise parsing.memory_mb, or leave the document out."
    )
