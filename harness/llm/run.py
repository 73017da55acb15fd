"""Many calls at once: workers draw jobs from a stream, look into the ledger, ask, and hand on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from harness.llm.calls import Asker, StoppedError
from harness.llm.client import Client
from harness.llm.config import ModelConfig
from harness.llm.form import Form
from harness.llm.records import Ledger, Spending
from harness.llm.reuse import find_settled
from harness.progress import Reporter, Task
from harness.stopping import Stopped, on_stop
from harness.types import Answered, Asked

POLL = 0.2
TELL = 1.0

T = TypeVar("T")
Answers = list[Answered]
HandOn = Callable[[T, Answers], None]


@runtime_checkable
class Describable(Protocol):
    """A progress task that can also show a line of text, such as the money spent."""

    def describe(self, text: str) -> None:
        """Show ``text`` beside the bar."""


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """``calls`` that are made one after the other, whose answers belong together.

    ``about`` is whatever they are for, handed back with the answers; it counts as ``size`` things done.
    """

    about: T
    calls: tuple[Asked, ...]
    size: int = 1


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """What a run needs: whom to ask and how, the jobs, where answers go, and who is told."""

    config: ModelConfig
    form: Form
    ledger: Ledger
    client: Client | None
    jobs: Iterator[Job[T]]
    hand_on: HandOn[T]
    reporter: Reporter
    spending: Spending


def run(work: Work[T], name: str, total: int) -> None:
    """Ask all calls of all jobs; what it spends is counted in ``work.spending`` as it goes.

    ``name`` and ``total`` are shown as the progress.
    """
    started = time.monotonic()
    with work.reporter.task(name, total) as task:
        _finish(_Run(work, task).go())
    work.spending.seconds = time.monotonic() - started


class _Run(Generic[T]):
    """The state of one run."""

    def __init__(self, work: Work[T], task: Task) -> None:
        self._work = work
        self._task = task
        self._spending = work.spending
        self._model = work.config.endpoint.model
        self._done = 0
        self._failure: BaseException | None = None
        self._started = time.monotonic()
        self._being_asked: dict[str, asyncio.Future[Answered]] = {}
        self._our_turn = False
        self._told_of_waiting = False
        self._asker: Asker

    async def go(self) -> None:
        """Let the workers run dry, and let calls that are on their way come home whatever happens."""
        work = self._work
        self._asker = Asker(work.config, work.form, work.client, work.ledger, work.spending)
        telling = asyncio.create_task(self._keep_telling())
        workers = [
            asyncio.create_task(self._draw_jobs()) for _ in range(work.config.endpoint.max_concurrency)
        ]
        try:
            with on_stop(_canceller()):
                await asyncio.wait(workers)
        except (asyncio.CancelledError, Stopped):
            # Interrupted: what is on its way has been paid for, so wait for it and record it.
            self._asker.stopping.set()
            await asyncio.wait(workers)
            raise
        finally:
            telling.cancel()
            if self._our_turn:
                work.ledger.end_turn(self._model)
            await self._asker.close()
        if self._failure is not None:
            raise self._failure

    async def _draw_jobs(self) -> None:
        try:
            while not self._asker.stopping.is_set():
                job = next(self._work.jobs, None)
                if job is None:
                    return
                answers = [self._settled(call) or await self._answer(call) for call in job.calls]
                # less those that this run has asked: _ask takes them off
                self._spending.from_ledger += len(answers)
                self._hand_on(job, answers)
                # A ledger full of answers must not keep the other workers from their replies.
                await asyncio.sleep(0)
        except StoppedError:
            return
        except BaseException as error:
            # The first failure, from which the others follow.
            self._failure = self._failure or error
            self._asker.stopping.set()

    def _settled(self, call: Asked) -> Answered | None:
        work = self._work
        return find_settled(work.ledger, call, work.form, ask_again=work.config.ask_again)

    async def _answer(self, call: Asked) -> Answered:
        """The answer to a call that the ledger lacks; one that another worker is asking is waited for."""
        key = self._work.ledger.key(call)
        asked = self._being_asked.get(key)
        if asked is not None:
            await asyncio.wait([asked])
            if asked.cancelled():
                raise StoppedError("the run is ending")
            return asked.result()
        answer = self._being_asked[key] = asyncio.get_running_loop().create_future()
        try:
            result = await self._ask(call)
            answer.set_result(result)
        finally:
            # without a result, whoever waits for it stops too
            answer.cancel()
            del self._being_asked[key]
        return result

    async def _ask(self, call: Asked) -> Answered:
        while True:
            self._our_turn = self._our_turn or self._work.ledger.take_turn(self._model)
            # Another run may have settled the call since it was looked up.
            result = self._settled(call)
            if result is not None:
                return result
            if self._our_turn:
                break
            self._tell_of_waiting()
            await self._asker.wait(POLL)
        answer = await self._asker.ask(call)
        self._spending.from_ledger -= 1
        return answer

    def _tell_of_waiting(self) -> None:
        if not self._told_of_waiting:
            self._told_of_waiting = True
            self._work.reporter.note(
                f"Another run is asking {self._model} with this ledger. This one uses its answers and waits "
                "for its turn, so that nothing is paid twice."
            )

    def _hand_on(self, job: Job[T], answers: Answers) -> None:
        self._done += job.size
        self._task.advance(job.size)
        self._work.hand_on(job.about, answers)
        self._tell()

    def _tell(self) -> None:
        if isinstance(self._task, Describable):
            self._task.describe(self._progress())

    def _progress(self) -> str:
        rate = self._done / max(1e-9, time.monotonic() - self._started)
        told = [f"{rate:.1f}/s", *self._spending.progress()]
        if self._told_of_waiting and not self._our_turn:
            told.append("waits for another run")
        if self._asker.paused_for > 0:
            told.append(f"waits {self._asker.paused_for:.0f} s, as the endpoint asks")
        return ", ".join(told)

    async def _keep_telling(self) -> None:
        """Show that something happens even where nothing is answered, as while an endpoint is down."""
        while True:
            await asyncio.sleep(TELL)
            self._tell()


def _canceller() -> Callable[[], None]:
    """What a signal's handler calls to cancel the task that runs now."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        # by way of the loop, which may be asleep
        loop.call_soon_threadsafe(task.cancel)

    return cancel


def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also from within a running event loop such as a notebook's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    failure: list[BaseException] = []

    def target() -> None:
        try:
            asyncio.run(work)
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
