"""Tasks in worker processes of bounded memory and time: one that dies or hangs loses only its own task.

The limits, and those on the share of suspect text, are in `ParsingConfig`.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock
from types import ModuleType
from typing import Any, TypeVar

from pydantic import Field

from harness.data.corpus.parsers.pdf_file import OnPage
from harness.values import CorpusError, StageConfig, lift_memory_limit, limit_memory


class ParsingConfig(StageConfig):
    """Limits on reading. A document beyond a limit is a bad one (`on_bad_document`).

    PDFs are read in worker processes, so that a hostile or damaged one costs nothing but itself.
    """

    workers: int | None = Field(
        None, ge=1, le=1024, description="PDFs read at the same time; by default one per CPU."
    )
    memory_mb: int = Field(
        2048,
        ge=64,
        le=1_000_000,
        description="Memory a worker process may take beyond its start, in MB; kept on Linux.",
    )
    page_seconds: float = Field(120, gt=0, le=86_400, description="The longest a page may take.")
    document_seconds: float = Field(3600, gt=0, le=604_800, description="The longest a document may take.")
    second_reading: bool = Field(
        True,
        description="Compare the text of every PDF with a second reading: pypdf with pypdfium2, other "
        "parsers with the content streams.",
    )
    max_suspect_pages: float = Field(
        0.5,
        ge=0,
        le=1,
        description="A document with a larger share of suspect pages is bad: pages without text though "
        "something is drawn on them, with far less text than the second reading finds, or with damaged "
        "content.",
    )
    max_suspect_characters: float = Field(
        0.05,
        ge=0,
        le=1,
        description="A document with a larger share of suspect characters is bad: undecodable, control and "
        "private-use characters.",
    )


K = TypeVar("K")
Task = Callable[[OnPage], Any]
"""A picklable call; it reports every page it begins, from which the time of that page counts."""

_MB = 1_000_000
_CANNOT_START = "A worker process could not start: memory or processes may be short (ulimit -a)."


@dataclass(frozen=True, slots=True)
class LostTask:
    """A task without a result: on which page (0: before the first) and, as the end of a sentence, why."""

    page: int
    reason: str


def run_in_workers(
    jobs: Mapping[K, Callable[[Worker], Any]],
    count: int,
    limits: ParsingConfig,
    record: Callable[[K, Any], None],
) -> None:
    """Do every job with one of ``count`` workers; ``record`` gets its outcome as soon as it has ended.

    Jobs begin in their order. Processes are spawned when the first task needs them, and end with the call.
    """
    idle: SimpleQueue[Worker] = SimpleQueue()
    workers = [Worker(limits) for _ in range(count)]
    for worker in workers:
        idle.put(worker)

    def do(job: Callable[[Worker], Any]) -> Any:
        worker = idle.get()
        try:
            return job(worker)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(count) as threads:
        try:
            ended = {threads.submit(do, job): key for key, job in jobs.items()}
            for future in as_completed(ended):
                record(ended[future], future.result())
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.end()


class Worker:
    """A process that does one task after the other, as its thread sees it.

    It is spawned when there is a task, and again after it has died or was ended for a limit.
    """

    _starting = Lock()

    def __init__(self, limits: ParsingConfig) -> None:
        self._limits = limits
        self._memory_mb = limits.memory_mb
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Any = None
        self._ended = False

    def run(self, task: Task) -> Any:
        """The result of a task, or LostTask; raises CorpusError where no process can be started."""
        ready = self._process is not None
        if not ready:
            self._start()
        with suppress(OSError):  # a process that has died is noticed when it is listened to
            self._connection.send(task)
        page, page_end, task_end = 0, math.inf, math.inf
        while True:
            try:
                end = min(page_end, task_end)
                if not self._connection.poll(None if end == math.inf else max(0.0, end - time.monotonic())):
                    self._stop()
                    key = "document_seconds" if task_end <= page_end else "page_seconds"
                    allowed = getattr(self._limits, key)
                    most = f"{allowed:g} {'second' if allowed == 1 else 'seconds'}"
                    reason = f"took longer than {most}. Raise parsing.{key}, or leave the document out."
                    return LostTask(page, reason)
                what, value = self._connection.recv()
            except (EOFError, OSError):
                code = self._stop(kill=False)
                if not ready:
                    raise CorpusError(_CANNOT_START) from None
                return LostTask(page, _cause_of_death(code, self._memory_mb))
            if what == "ready":
                ready, self._memory_mb = True, value
            elif what == "begun":
                # only now, as a new process imports what the task needs before it
                page_end = time.monotonic() + self._limits.page_seconds
                task_end = time.monotonic() + self._limits.document_seconds
            elif what == "page":
                page, page_end = value, time.monotonic() + self._limits.page_seconds
            elif what == "result":
                return value
            elif what == "memory":
                self._stop()
                more = f"needed more than {self._memory_mb:,} MB of memory"
                return LostTask(page, f"{more}. Raise parsing.memory_mb, or leave the document out.")
            elif what == "missing":
                raise ModuleNotFoundError(value[0], name=value[1])
            else:
                raise RuntimeError(f"A task in a worker process failed:\n{value}")

    def end(self) -> None:
        """Kill the process, from another thread; no other one is started."""
        with self._starting:
            self._ended = True
            if self._process is not None:
                self._process.kill()
                self._process.join()

    def _start(self) -> None:
        # one at a time: while it starts, the process has no main module
        with self._starting:
            if self._ended:
                raise CorpusError("reading was stopped")
            context = multiprocessing.get_context("spawn")
            self._connection, worker_end = context.Pipe()
            process = context.Process(target=serve, args=(worker_end, self._limits.memory_mb), daemon=True)
            with _no_main_module():
                process.start()
            worker_end.close()
            self._process = process

    def _stop(self, kill: bool = True) -> int | None:
        """End the process; its exit code, which is its own where it has died and is not killed."""
        with self._starting:
            process, self._process = self._process, None
            assert process is not None
            if kill:
                process.kill()
            process.join()
            self._connection.close()
            return process.exitcode


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


def serve(connection: Connection, memory_mb: int) -> None:
    """The loop of a worker: receive a task, send its result, until the parent closes the connection."""
    # Ctrl-C goes to the whole group; the parent ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    allowed = limit_memory(memory_mb * _MB)
    _silence()
    connection.send(("ready", (allowed or memory_mb * _MB) // _MB))
    while True:
        try:
            task: Task = connection.recv()
        except (EOFError, OSError):
            return
        try:
            connection.send(("begun", None))
            connection.send(("result", task(lambda page: connection.send(("page", page)))))
        except MemoryError:
            # This process is full; the next task gets a new one.
            lift_memory_limit()
            connection.send(("memory", None))
            return
        except ModuleNotFoundError as error:
            connection.send(("missing", (str(error), error.name)))
            return
        except BaseException:
            connection.send(("fault", traceback.format_exc()))
            return


def _silence() -> None:
    """Keep the output of a crashing library off the terminal."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
