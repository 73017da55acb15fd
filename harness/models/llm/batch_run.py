"""A run in batches: calls that the ledger lacks are sent, and each job is handed on when it is answered.

A job whose calls depend on answers goes on in the next batch. Jobs that are open are held in memory; what was
sent is in a file beside the ledger.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.models.llm.batch_desk import BatchDesk, Collected
from harness.models.llm.batch_options import BatchOptions
from harness.models.llm.model import HandOn, Job, Model
from harness.models.llm.money import Budget, Spending
from harness.models.llm.sender import Wait, Workers
from harness.models.llm.turns import Turn
from harness.store import SentCall
from harness.values import LlmAnswer, LlmCall, Reporter, Task, counted

POLL = 0.2

T = TypeVar("T")


class _OpenJob(Generic[T]):
    """A job some of whose answers are still to come."""

    def __init__(self, model: Model, job: Job[T]) -> None:
        self.job = job
        self._ledger = model.ledger
        self._calls = model.begin(job)
        self._keys: list[str] = []
        self._answers: dict[str, LlmAnswer] = {}

    def next(self) -> list[LlmCall] | None:
        """What it asks next: all its calls, or the next of a talk; None if it is over."""
        calls: list[LlmCall] = []
        with suppress(StopIteration):
            last = self._answers[self._keys[-1]] if self._keys else None
            if self.job.talk is not None:
                calls.append(self._calls.send(last))
            elif not self._keys:
                calls += self._calls
        self._keys += map(self._ledger.key, calls)
        return calls or None

    def take(self, key: str, answer: LlmAnswer) -> None:
        """Take the answer to a call."""
        self._answers[key] = answer

    @property
    def waits(self) -> bool:
        """Whether an answer is missing."""
        return any(key not in self._answers for key in self._keys)

    @property
    def answers(self) -> list[LlmAnswer]:
        """The answers to all its calls, in order."""
        return [self._answers[key] for key in self._keys]


@dataclass
class BatchRun(Generic[T]):
    """Asks in batches within the limits of the model. Only one run at a time buys answers of a model.

    ``wait`` False: it ends as soon as everything is sent that may be, for another run to collect.
    """

    model: Model
    jobs: Iterator[Job[T]]
    hand_on: HandOn[T]
    """Gets each job's answers as soon as it has all of them."""
    reporter: Reporter
    spending: Spending
    task: Task
    wait: bool = True

    def __post_init__(self) -> None:
        config = self.model.config
        self._turn = Turn(self.model, self.reporter)
        self._options = config.endpoint.batch or BatchOptions()
        self._budget = Budget(config.endpoint.model, config.max_cost, config.max_calls, self.model.before)
        self._workers = Workers()
        self._desk: BatchDesk | None = None
        self._waiting: dict[str, list[_OpenJob[T]]] = {}
        self._queue: dict[str, SentCall] = {}
        # the endpoint's queue is full until a batch has ended
        self._full = False

    async def run(self) -> None:
        """Work until there is no job left; interrupted, leave the batches to the endpoint.

        A request that is on its way is waited for, so that its answer is recorded.
        """
        try:
            await self._workers.run(1, iter([self._work]), lambda work: work())
        finally:
            self._say_what_remains()
            self._turn.end()
            if self._desk is not None:
                await self._desk.aclose()

    async def _work(self) -> None:
        for job in self.jobs:
            self._go_on(_OpenJob(self.model, job))
            # signals and progress have their turn between two jobs
            await asyncio.sleep(0)
            await self._workers.wait(0)
        if not self._waiting:
            return
        await self._take_turn()
        # Not before a call is to be made: with every answer in the ledger no key is needed.
        desk = self._desk = BatchDesk(self.model, self.spending, self.reporter, self._workers.wait)
        await self._adopt(desk)
        while self._waiting:
            await self._send(desk)
            if not self.wait:
                return
            self._show(desk)
            for collected in await desk.collect():
                self._take_in(collected)
            self._show(desk)
            if self._waiting and desk.in_progress:
                await self._workers.wait(self._options.poll)

    def _go_on(self, opened: _OpenJob[T]) -> None:
        """Look up what a job asks until an answer is missing; one that is over is handed on."""
        while (calls := opened.next()) is not None:
            for call in calls:
                key = self.model.ledger.key(call)
                answer = self.model.find(call)
                if answer is not None:
                    opened.take(key, answer)
                    continue
                if key not in self._waiting and not (self._desk and self._desk.has(key)):
                    self._queue[key] = SentCall(key, call)
                jobs = self._waiting.setdefault(key, [])
                if opened not in jobs:
                    jobs.append(opened)
            if opened.waits:
                return
        answers = opened.answers
        # less those that this run has asked, which _take_in takes off
        self.spending.from_ledger += len(answers)
        self.task.advance(opened.job.size)
        self.hand_on(opened.job.about, answers)

    async def _take_turn(self) -> None:
        """Wait for the turn, and take what another run has recorded meanwhile."""
        while not self._turn.take():
            self._turn.note_waiting()
            self.task.describe("waits for another run")
            await self._workers.wait(POLL)
        for key, sent in list(self._queue.items()):
            if (answer := self.model.find(sent.call)) is not None:
                self._deliver(key, answer)

    async def _adopt(self, desk: BatchDesk) -> None:
        """Wait for what earlier runs have sent, and reserve what it may cost."""
        await desk.adopt()
        for batch in desk.in_progress.values():
            for key, most in batch.most.items():
                self._queue.pop(key, None)
                self._budget.adopt(most)

    async def _send(self, desk: BatchDesk) -> None:
        """Send as many batches as the limits allow now."""
        while self._queue and not (self._full and desk.in_progress):
            batch = desk.pack(self._queue, self._budget)
            if not batch.calls:
                if not desk.in_progress:
                    raise self._budget.exhausted()
                return
            self.spending.calls += len(batch.calls)
            await desk.send(batch)

    def _take_in(self, collected: Collected) -> None:
        """Pass on the results of an ended batch, queue the calls to repeat, or end the run."""
        for key, most in collected.batch.most.items():
            self._budget.settle(most, collected.spent.get(key, 0.0))
            outcome = collected.outcomes[key]
            if isinstance(outcome, LlmAnswer):
                self.spending.from_ledger -= key in self._waiting
                self._deliver(key, outcome)
            elif key in self._waiting:
                self._queue[key] = outcome
        self._full = collected.queue_full
        if collected.stop is not None:
            raise collected.stop

    def _deliver(self, key: str, answer: LlmAnswer) -> None:
        """Give an answer to the jobs that wait for it, which then go on."""
        self._queue.pop(key, None)
        for opened in self._waiting.pop(key, []):
            opened.take(key, answer)
            if not opened.waits:
                self._go_on(opened)

    def _show(self, desk: BatchDesk) -> None:
        batches = list(desk.in_progress.values())
        states = [batch.state for batch in batches if batch.state is not None]
        finished = sum(state.completed + state.failed for state in states)
        how = ", ".join(dict.fromkeys(state.status for state in states)) or "sent"
        calls = counted(sum(len(batch.calls) for batch in batches), "call")
        shown = f"{finished:,} of {calls} in {counted(len(batches), 'batch', 'batches')} ({how})"
        self.task.describe(", ".join([shown, *self.spending.progress()]))

    def _say_what_remains(self) -> None:
        left = list(self._desk.in_progress.values()) if self._desk else []
        if left and self.wait and self._waiting:
            names = ", ".join(batch.batch_id for batch in left[:3]) + (", …" if len(left) > 3 else "")
            calls = counted(sum(len(batch.calls) for batch in left), "call goes on", "calls go on")
            self.reporter.note(
                f"{calls} at the endpoint ({names}). The same command collects the answers; `harness judge "
                "batches` shows how far they are, and cancels them with --cancel."
            )


async def collect_ended(model: Model, spending: Spending, reporter: Reporter, wait: Wait) -> frozenset[str]:
    """Record the results of batches of earlier runs; returns the keys of the calls still on their way.

    For a run that makes calls one by one and has the model's turn at the ledger. Needs no key where no batch
    is on its way.
    """
    if not model.ledger.batches.all(model.config.endpoint.model):
        return frozenset()
    desk = BatchDesk(model, spending, reporter, wait)
    try:
        await desk.adopt()
        for collected in await desk.collect():
            if collected.stop is not None:
                raise collected.stop
    finally:
        await desk.aclose()
    return model.ledger.batches.keys()
