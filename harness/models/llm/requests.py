"""One run of requests: the ledger answers what it can, transports bring the rest, each job is handed on.

A transport gets answers from one endpoint: by calls now (calls.py) or by batches later (batch_transport.py).
What does not depend on that is here: what a job asks next, looking up, whose turn it is to buy, the limits of
money, and what is shown. Jobs of several forms and endpoints are one run.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

from harness.models.llm.endpoint import Endpoint
from harness.models.llm.limits import Breaker, Clock
from harness.models.llm.model import HandOn, Job, Model
from harness.models.llm.money import Budget, Spending
from harness.models.llm.sender import Workers
from harness.models.llm.turns import Turn
from harness.store import SentCall
from harness.values import LlmAnswer, LlmCall, Reporter, Task, by_key

POLL = 0.2
SHOW_EVERY = 1.0
# So many calls are looked up at a time while another run has the turn.
_LOOKED_UP = 100

T = TypeVar("T")


@dataclass(eq=False)
class Inquiry(Generic[T]):
    """Jobs about which one model is asked under one form.

    ``hand_on`` gets each job's answers as soon as it has all of them. ``spending`` counts as the run goes,
    and ``done`` the things that were handed on.
    """

    model: Model
    jobs: Iterable[Job[T]]
    hand_on: HandOn[T]
    spending: Spending = field(default_factory=Spending)
    done: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class MissingCall:
    """A call that the ledger lacks, and the inquiry that pays for it."""

    inquiry: Inquiry[Any]
    sent: SentCall


class OpenJob(Generic[T]):
    """A job some of whose answers may be still to come."""

    def __init__(self, inquiry: Inquiry[T], job: Job[T]) -> None:
        self.inquiry, self.job = inquiry, job
        self._calls = inquiry.model.begin(job)
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
        self._keys += map(self.inquiry.model.ledger.key, calls)
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


class Transport(ABC):
    """Brings the answers to calls of one endpoint that the ledger lacks, and records each before it is used.

    ``queue`` has the calls that are still to be made, by their keys; ``parallel`` jobs are read at a time.
    """

    parallel = 1

    def __init__(
        self, run: RequestRun, inquiries: Sequence[Inquiry[Any]], clock: Clock = time.monotonic
    ) -> None:
        self.run, self.inquiries = run, inquiries
        self.endpoint: Endpoint = inquiries[0].model.config.endpoint
        self.breaker = breaker_of(inquiries, clock)
        self.queue: dict[str, MissingCall] = {}
        self.jobs: Iterator[tuple[Inquiry[Any], Job[Any]]] = (
            (inquiry, job) for inquiry in inquiries for job in inquiry.jobs
        )

    def has(self, key: str) -> bool:
        """Whether a call is on its way that no job of this run has waited for so far."""
        return False

    async def bring(self) -> None:  # noqa: B027 - what is sent together waits for the last job
        """Called after each job that was read."""

    @abstractmethod
    async def send(self) -> None:
        """Called when all jobs are read."""

    @abstractmethod
    async def look(self) -> float:
        """Go on as far as possible while jobs wait for answers; returns the seconds until the next look."""

    @property
    @abstractmethod
    def status(self) -> str:
        """How far it is, for the progress bar; '' where there is nothing to say."""

    @property
    def pause(self) -> str:
        """What it waits for, if that is the endpoint's wish."""
        return ""

    def say_what_remains(self) -> None:  # noqa: B027 - calls leave nothing behind
        """Called at the end of the run, however it ends."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the connections."""


class RequestRun:
    """Asks all jobs of all inquiries within the limits of their models.

    Only one run at a time buys answers of a model with one ledger. ``transport`` makes that of an endpoint.
    """

    def __init__(
        self,
        inquiries: Sequence[Inquiry[Any]],
        transport: Callable[[RequestRun, Sequence[Inquiry[Any]]], Transport],
        reporter: Reporter,
        task: Task,
    ) -> None:
        self.reporter, self._task, self._inquiries = reporter, task, inquiries
        self._make = transport
        self._transports: dict[Inquiry[Any], Transport] = {}
        self._turns: dict[str, Turn] = {}
        self._budgets: dict[tuple[int, object, object], Budget] = {}
        self._waiting: dict[str, list[OpenJob[Any]]] = {}
        self._workers = Workers()
        self.wait = self._workers.wait
        self._started = time.monotonic()

    async def run(self) -> None:
        """Work until there is no job left; in any case, wait for the requests in progress.

        What goes in batches is sent first, so that it is answered while calls are made.
        """
        groups = by_key((inquiry.model.config.endpoint, inquiry) for inquiry in self._inquiries)
        transports = [self._make(self, group) for group in groups.values()]
        self._transports = {inquiry: transport for transport in transports for inquiry in transport.inquiries}
        showing = asyncio.create_task(self._keep_showing())
        try:
            for transport in sorted(transports, key=lambda transport: transport.endpoint.batch is None):
                await self._workers.run(
                    transport.parallel, iter([transport] * transport.parallel), self._read
                )
            if self._waiting:
                await self._workers.run(1, iter([transports]), self._look)
        finally:
            showing.cancel()
            for transport in transports:
                transport.say_what_remains()
            for turn in self._turns.values():
                turn.end()
            for transport in transports:
                await transport.aclose()

    def waits_for(self, key: str) -> bool:
        """Whether a job waits for the answer to a call."""
        return key in self._waiting

    @property
    def rate(self) -> float:
        """Things done per second."""
        return sum(inquiry.done for inquiry in self._inquiries) / max(1e-9, time.monotonic() - self._started)

    @property
    def waiting(self) -> bool:
        """Whether a job waits for an answer."""
        return bool(self._waiting)

    def budget(self, inquiry: Inquiry[Any]) -> Budget:
        """The limits of money of an inquiry, which it may share with others."""
        model, config = inquiry.model, inquiry.model.config
        shared = (id(model.before), config.max_cost, config.max_calls)
        if shared not in self._budgets:
            self._budgets[shared] = Budget(
                config.endpoint.model, config.max_cost, config.max_calls, model.before
            )
        return self._budgets[shared]

    async def take_turn(self, transport: Transport, missing: dict[str, MissingCall]) -> None:
        """Wait for the right to buy; meanwhile answers that another run records leave ``missing``.

        Returns at once when nothing is missing any more.
        """
        model = transport.inquiries[0].model
        turn = self._turns.setdefault(transport.endpoint.model, Turn(model, self.reporter))
        while True:
            ours = turn.take()
            # Another run may have settled calls since they were looked up.
            for key, call in islice(list(missing.items()), None if ours else _LOOKED_UP):
                if (answer := call.inquiry.model.find(call.sent.call)) is not None:
                    del missing[key]
                    self.deliver(key, answer, bought=False)
            if ours or not missing:
                return
            turn.note_waiting()
            await self.wait(POLL)

    def deliver(self, key: str, answer: LlmAnswer, *, bought: bool) -> None:
        """Give an answer to the jobs that wait for it, which then go on; ``bought``: by this run."""
        for at, opened in enumerate(self._waiting.pop(key, [])):
            # all answers of a job are counted as from the ledger when it is over
            opened.inquiry.spending.from_ledger -= bought and at == 0
            opened.take(key, answer)
            if not opened.waits:
                self._go_on(opened)

    def show(self) -> None:
        """Update the progress bar."""
        spent = Spending()
        for inquiry in self._inquiries:
            spent.add_spending(inquiry.spending)
        transports = list(dict.fromkeys(self._transports.values()))
        waits = "waits for another run" if any(turn.waiting for turn in self._turns.values()) else ""
        parts = [
            *dict.fromkeys(transport.status for transport in transports),
            *spent.progress(),
            waits,
            *(transport.pause for transport in transports),
        ]
        self._task.describe(", ".join(filter(None, parts)))

    async def _read(self, transport: Transport) -> None:
        """Read the jobs of a transport, side by side with others who do."""
        for inquiry, job in transport.jobs:
            self._go_on(OpenJob(inquiry, job))
            # A ledger full of answers must not keep replies, signals and progress from their turn.
            await asyncio.sleep(0)
            await self.wait(0)
            await transport.bring()
        await transport.send()

    async def _look(self, transports: Sequence[Transport]) -> None:
        while self._waiting:
            pauses = [await transport.look() for transport in transports]
            self.show()
            if self._waiting:
                await self.wait(min(pauses))

    def _go_on(self, opened: OpenJob[Any]) -> None:
        """Look up what a job asks until an answer is missing; one that is over is handed on."""
        inquiry, transport = opened.inquiry, self._transports[opened.inquiry]
        model = inquiry.model
        while (calls := opened.next()) is not None:
            for call in calls:
                key = model.ledger.key(call)
                answer = model.find(call)
                if answer is not None:
                    transport.breaker.answered_before()
                    opened.take(key, answer)
                    continue
                if key not in self._waiting and not transport.has(key):
                    transport.queue[key] = MissingCall(inquiry, SentCall(key, call))
                jobs = self._waiting.setdefault(key, [])
                if opened not in jobs:
                    jobs.append(opened)
            if opened.waits:
                return
        answers = opened.answers
        # less those that this run has bought, which ``deliver`` takes off
        inquiry.spending.from_ledger += len(answers)
        inquiry.done += opened.job.size
        self._task.advance(opened.job.size)
        inquiry.hand_on(opened.job.about, answers)
        self.show()

    async def _keep_showing(self) -> None:
        """Update the display even while nothing is answered, as while an endpoint is down."""
        while True:
            await asyncio.sleep(SHOW_EVERY)
            self.show()


def breaker_of(inquiries: Sequence[Inquiry[Any]], clock: Clock = time.monotonic) -> Breaker:
    """The breaker of an endpoint: the strictest that its inquiries ask for."""
    configs = [inquiry.model.config for inquiry in inquiries]
    return Breaker(
        min(config.breaker for config in configs),
        min(config.longest_outage for config in configs),
        clock=clock,
    )
