"""A run in batches: calls that the ledger lacks are sent, and each job is handed on when complete."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.models.llm.batches.manager import BatchManager, OpenBatch
from harness.models.llm.calls import BaseRun
from harness.models.llm.model import Job, Model
from harness.models.llm.money import Spending
from harness.models.llm.sender import StoppedError, canceller, sleep_unless
from harness.values import LlmAnswer, LlmError, Reporter, SentCall, Stopped, counted, on_stop

TURN = 0.2

T = TypeVar("T")


@dataclass(slots=True)
class _Open(Generic[T]):
    """A job some of whose answers are still to come; ``keys`` are those of its calls."""

    job: Job[T]
    keys: list[str]
    answers: dict[str, LlmAnswer]


@dataclass
class BatchRun(BaseRun[T]):
    """The state of one run. Open calls are held in memory, sent ones in a file next to the ledger."""

    wait: bool = True
    """False: it ends as soon as everything is sent that may be, for another run to take in."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._stopping = asyncio.Event()
        self._open: dict[str, list[_Open[T]]] = {}
        self._queue: deque[SentCall] = deque()
        self._budget = self.model.budget()
        self._manager: BatchManager | None = None
        # the endpoint's queue is full until a batch has ended
        self._full = False

    async def run(self) -> None:
        """Work until there is no job left; interrupted, leave the batches to the endpoint."""
        work = asyncio.create_task(self._work())
        try:
            with on_stop(canceller()):
                await asyncio.wait([work])
        except (asyncio.CancelledError, Stopped):
            # a request that is on its way is waited for, so that its answer is recorded
            self._stopping.set()
            await asyncio.wait([work])
            raise
        finally:
            self._report_remaining()
            self.end_turn()
            if self._manager is not None:
                await self._manager.client.close()
        with suppress(StoppedError):
            work.result()

    async def _work(self) -> None:
        for job in self.jobs:
            await self._take(job)
            await sleep_unless(self._stopping, 0)
            # signals and progress have their turn between two jobs
            await asyncio.sleep(0)
        if not self._open:
            return
        # Not before a call is to be made: with every answer in the ledger no key is needed.
        manager = self._manager = BatchManager(self.model, self.spending, self.reporter, self._wait)
        await manager.adopt()
        self._line_up(manager)
        while self._queue or manager.in_progress:
            await self._send(manager)
            if not self.wait:
                return
            for batch in await manager.poll():
                self._take_in(batch)
            self._show(manager)
            if not self._open:
                return
            if manager.in_progress:
                await self._wait(self.model.config.batch_options.poll)

    async def _take(self, job: Job[T]) -> None:
        """Hand on a job whose answers are all known, and note the calls that another one lacks."""
        known = [self.model.find(call) for call in job.calls]
        if not all(known) and not self._our_turn:
            while not self.takes_turn():
                self.note_waiting()
                await self._wait(TURN)
            # another run may have recorded them while this one waited
            known = [self.model.find(call) for call in job.calls]
        self.spending.from_ledger += sum(answer is not None for answer in known)
        keys = [self.model.ledger.key(call) for call in job.calls]
        answers = {key: answer for key, answer in zip(keys, known, strict=True) if answer is not None}
        opened = _Open(job, keys, answers)
        for key, call in dict(zip(keys, job.calls, strict=True)).items():
            if key not in answers:
                if key not in self._open:
                    self._queue.append(SentCall(key, call))
                self._open.setdefault(key, []).append(opened)
        self._hand_on_if_whole(opened)

    def _line_up(self, manager: BatchManager) -> None:
        """Leave calls of earlier batches out of the queue, and reserve what those may cost."""
        sent = {key for batch in manager.in_progress.values() for key in batch.calls}
        elsewhere = (self.model.ledger.batches.keys() - sent) & self._open.keys()
        if elsewhere:
            raise LlmError(
                f"{len(elsewhere):,} of the calls are in progress in batches that were sent to another "
                "address (see `harness judge batches`), and would be paid twice. Use that address, or cancel "
                "them with `harness judge batches --cancel`."
            )
        for batch in manager.in_progress.values():
            for most in batch.most.values():
                self._budget.adopt(most)
        self._queue = deque(call for call in self._queue if call.key not in sent)

    async def _send(self, manager: BatchManager) -> None:
        """Send as many batches as the limits allow now."""
        while self._queue and not (self._full and manager.in_progress):
            batch = manager.pack(self._queue, self._budget.has_room)
            if not batch.calls:
                if not manager.in_progress:
                    raise self._budget.exhausted()
                return
            self.spending.calls += len(batch.calls)
            await manager.send(batch)

    def _take_in(self, batch: OpenBatch) -> None:
        """Pass on the results of an ended batch, queue the calls to repeat, or end the run."""
        for (key, most), kept in zip(batch.most.items(), batch.kept, strict=True):
            self._budget.settle(most, batch.spent.get(key, 0.0))
            if isinstance(kept, SentCall):
                if key in self._open:
                    self._queue.append(kept)
                continue
            for opened in self._open.pop(key, []):
                opened.answers[key] = kept
                self._hand_on_if_whole(opened)
        self._full = batch.queue_full
        if batch.stop is not None:
            raise batch.stop

    def _hand_on_if_whole(self, opened: _Open[T]) -> None:
        if all(key in opened.answers for key in opened.keys):
            self.task.advance(opened.job.size)
            self.hand_on(opened.job.about, [opened.answers[key] for key in opened.keys])

    def _show(self, manager: BatchManager) -> None:
        self.task.describe(", ".join([_progress(manager), *self.spending.progress()]))

    def _report_remaining(self) -> None:
        left = list(self._manager.in_progress.values()) if self._manager else []
        if left and self.wait:
            names = ", ".join(batch.batch_id for batch in left[:3]) + (", …" if len(left) > 3 else "")
            self.reporter.note(
                f"{counted(sum(len(batch.calls) for batch in left), 'call continues', 'calls continue')} at "
                f"the endpoint ({names}). The "
                "same command collects their answers; `harness judge batches` shows their progress, and "
                "cancels them with --cancel."
            )

    async def _wait(self, seconds: float) -> None:
        await sleep_unless(self._stopping, seconds)


async def take_in_ended(
    model: Model, spending: Spending, reporter: Reporter, wait: Callable[[float], Awaitable[None]]
) -> frozenset[str]:
    """Record the results of batches of earlier runs; returns the keys of the calls still in progress.

    For a run that makes calls one by one and has the model's turn at the ledger. Needs no key without
    batches.
    """
    if not model.ledger.batches.all(model.config.endpoint.model):
        return frozenset()
    manager = BatchManager(model, spending, reporter, wait)
    try:
        await manager.adopt()
        for batch in await manager.poll():
            if batch.stop is not None:
                raise batch.stop
    finally:
        await manager.client.close()
    return model.ledger.batches.keys()


def _progress(manager: BatchManager) -> str:
    """How many calls of the batches in progress are answered."""
    batches = list(manager.in_progress.values())
    states = [batch.state for batch in batches if batch.state is not None]
    done = sum(state.completed + state.failed for state in states)
    how = ", ".join(dict.fromkeys(state.status for state in states)) or "sent"
    calls = counted(sum(len(batch.calls) for batch in batches), "call")
    return f"{done:,}/{calls} of {counted(len(batches), 'batch', 'batches')} ({how})"
