"""Many calls at once: workers draw jobs from a stream, look into the ledger, ask, and hand on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from harness.errors import LlmError
from harness.llm.asking_run import AskingRun, Given, HandOn
from harness.llm.batches.run import BatchRun, take_in_ended
from harness.llm.calls import Asker
from harness.llm.interrupt import StoppedError, Workers
from harness.llm.model import Job, Model
from harness.llm.records import Spending
from harness.progress import Describable, Reporter
from harness.types import Answered, Asked

POLL = 0.2
SHOW_EVERY = 1.0

T = TypeVar("T")


def ask(
    model: Model,
    jobs: Iterable[Job[T]],
    hand_on: HandOn[T],
    *,
    reporter: Reporter,
    spending: Spending,
    name: str = "asking",
    total: int = 0,
) -> None:
    """Ask all calls of all jobs, each job handed on as soon as it is answered (in no set order).

    Jobs are read as they are needed, so a generator of any length takes constant memory. ``spending`` counts
    as it goes; ``name`` and ``total`` (the number of things done) are for the progress bar. Raises
    BudgetError, EndpointDownError or LlmError where the run cannot go on, and whatever ``hand_on`` raises;
    all answers are then in the ledger, and the next run goes on from there.
    """
    started = time.monotonic()
    with reporter.task(name, total) as task:
        given = Given(model, iter(jobs), hand_on, reporter, spending, task)
        run_to_end(BatchRun(given).go() if model.config.batch else _Run(given).go())
    spending.seconds = time.monotonic() - started


def send_batches(model: Model, jobs: Iterable[Job[T]], *, reporter: Reporter) -> None:
    """Send what the ledger lacks in batches and do not wait; ``ask`` takes the answers in. Raises as it does.

    For several models that are asked the same, whose batches can then be answered side by side.
    """
    with reporter.task("sending", 0) as task:
        given = Given(model, iter(jobs), lambda about, answers: None, reporter, Spending(), task)
        run_to_end(BatchRun(given, wait=False).go())


def answers(
    model: Model, calls: Sequence[Asked], *, reporter: Reporter, name: str = "asking"
) -> tuple[list[Answered], Spending]:
    """Ask calls and return their answers in the same order, and what they took; errors as ``ask``."""
    found: dict[int, Answered] = {}
    spending = Spending()

    def keep(place: int, answers: list[Answered]) -> None:
        (found[place],) = answers

    jobs = (Job(place, (call,)) for place, call in enumerate(calls))
    ask(model, jobs, keep, reporter=reporter, spending=spending, name=name, total=len(calls))
    return [found[place] for place in range(len(calls))], spending


class _Run(AskingRun[T]):
    """A run that asks one call after the other, several at once."""

    def __init__(self, given: Given[T]) -> None:
        super().__init__(given)
        self._done = 0
        self._started = time.monotonic()
        self._being_asked: dict[str, asyncio.Future[Answered]] = {}
        self._in_batches: asyncio.Task[frozenset[str]] | None = None
        self._workers = Workers()
        self._asker: Asker

    async def go(self) -> None:
        """Work until there is no job left; whatever happens, wait for the calls that are on their way."""
        self._asker = Asker(self._model, self._spending, self._workers)
        showing = asyncio.create_task(self._keep_showing())
        try:
            await self._workers.run(self._model.config.endpoint.max_concurrency, self._jobs, self._do)
        finally:
            showing.cancel()
            self.end_turn()
            await self._asker.close()

    async def _do(self, job: Job[T]) -> None:
        answers = [self._model.find(call) or await self._answer(call) for call in job.calls]
        # less those that this run has asked: _ask takes them off
        self._spending.from_ledger += len(answers)
        self._done += job.size
        self.hand_on(job, answers)
        self._show()
        # A ledger full of answers must not keep the other workers from their replies.
        await asyncio.sleep(0)

    async def _answer(self, call: Asked) -> Answered:
        """The answer to a call that the ledger lacks; one that another worker is asking is waited for."""
        key = self._model.ledger.key(call)
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
            ours = self.takes_turn()
            # Another run may have settled the call since it was looked up.
            result = self._model.find(call)
            if result is not None:
                return result
            if ours:
                break
            self.note_waiting()
            await self._workers.wait(POLL)
        result = await self._from_batch(call)
        if result is not None:
            return result
        answer = await self._asker.ask(call)
        self._spending.from_ledger -= 1
        return answer

    async def _from_batch(self, call: Asked) -> Answered | None:
        """The answer that a batch of an earlier run has brought; LlmError where it is still on its way."""
        if self._in_batches is None:
            self._in_batches = asyncio.create_task(
                take_in_ended(self._model, self._spending, self._reporter, self._workers.wait)
            )
        on_their_way = await asyncio.shield(self._in_batches)
        if self._model.ledger.key(call) in on_their_way:
            raise LlmError(
                f"{len(on_their_way):,} calls of {self._name} are in progress in batches, and one of them "
                "would be made and paid for twice. Wait for them with `batch: true`, or cancel them with "
                "`harness judge batches --cancel` and run again."
            )
        return self._model.find(call)

    def _show(self) -> None:
        if isinstance(self._task, Describable):
            self._task.describe(self._progress())

    def _progress(self) -> str:
        rate = self._done / max(1e-9, time.monotonic() - self._started)
        parts = [f"{rate:.1f}/s", *self._spending.progress()]
        if self.waiting:
            parts.append("waits for another run")
        if self._asker.paused_for > 0:
            parts.append(f"waits {self._asker.paused_for:.0f} s, as the endpoint asks")
        return ", ".join(parts)

    async def _keep_showing(self) -> None:
        """Show that something happens even where nothing is answered, as while an endpoint is down."""
        while True:
            await asyncio.sleep(SHOW_EVERY)
            self._show()


def run_to_end(work: Coroutine[Any, Any, None]) -> None:
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
