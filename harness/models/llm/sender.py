"""The one way to send: within limits, again while that may help, every try counted.

Several requests in parallel are sent by workers, which a signal or a failure ends cleanly.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Generic, TypeVar

from harness.models.llm.endpoint import HttpConfig
from harness.models.llm.faults import UNUSABLE, CallError
from harness.models.llm.http_client import Connection
from harness.models.llm.limits import Backoff, Breaker, RateLimiter
from harness.models.llm.money import Budget, Spending
from harness.values import LlmError, Stopped, on_stop

J = TypeVar("J")
T = TypeVar("T")
Wait = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Received(Generic[T]):
    """What a reply holds, and what the limits have to know of it: tokens and cost, None where unknown.

    ``useless``: it cannot be used and another one might.
    """

    value: T
    tokens: int | None = None
    cost: float | None = 0.0
    useless: bool = False


@dataclass(frozen=True, slots=True)
class Attempt(Generic[T]):
    """One try of a request: the reply that it brought, or else the fault.

    ``number`` counts the tries from 1; ``last``: no further try follows.
    """

    reply: Received[T] | None
    fault: CallError | None
    number: int
    last: bool

    def received(self, failure: Callable[[CallError, int], Exception]) -> Received[T] | None:
        """The reply; without one, raises the ``failure`` of the fault and the number of the last try.

        None where another try follows.
        """
        if self.fault is not None and self.last:
            raise failure(self.fault, self.number) from None
        return self.reply


Post = Callable[[float], Awaitable[Received[T]]]
"""Sends a request once, within so many seconds; raises CallError."""


@dataclass
class Sender:
    """Sends requests to one endpoint; ``error`` makes the error of a pause that is too long from its words.

    ``most_unusable``: replies to one request that cannot be used until it is given up, where each is
    paid for.
    """

    limits: HttpConfig
    limiter: RateLimiter
    wait: Wait
    error: Callable[[str], Exception]
    spending: Spending = field(default_factory=Spending)
    budget: Budget = field(default_factory=Budget)
    breaker: Breaker | None = None
    most_unusable: int | None = None

    def __post_init__(self) -> None:
        self._backoff = Backoff()
        # Jitter alone; nothing that is measured depends on it.
        self._rng = random.Random()

    async def attempts(
        self, post: Post[T], tokens: int = 0, most: float | None = 0.0
    ) -> AsyncIterator[Attempt[T]]:
        """Each try of a request, until there is a usable reply, a final fault, or no time left.

        ``tokens`` is what the rate limit sets aside for a try, ``most`` the highest price of one (None: no
        price is known). The breaker hears of a fault after whoever takes the tries has recorded it.
        """
        left, unusable = self.limits.deadline, 0
        most_unusable = self.most_unusable or float("inf")
        for number in count(1):
            reply: Received[T] | None = None
            fault: CallError | None = None
            held = 0.0
            try:
                reply, seconds = await self._try(post, tokens, most, left)
            except CallError as error:
                fault, seconds = error, error.seconds
            left -= seconds
            retry_after = fault.retry_after if fault else None
            useless = fault.reason in UNUSABLE if fault else reply is not None and reply.useless
            unusable += useless
            again = (fault.again if fault else useless) and not (useless and unusable >= most_unusable)
            if fault is None:
                self.limiter.answered()
            elif again and retry_after:
                held = self._hold(fault, retry_after)
            pause = self._backoff.pause(number, retry_after, left, self._rng) if again else None
            yield Attempt(reply, fault, number, pause is None)
            if fault is not None and self.breaker is not None:
                self.breaker.note(fault, last=pause is None)
            if pause is None:
                return
            await self.wait(held + pause)
            left -= pause

    async def _try(
        self, post: Post[T], tokens: int, most: float | None, left: float
    ) -> tuple[Received[T], float]:
        """One try within the limits, and the seconds that it took."""
        reserved, clock = most or 0.0, asyncio.get_running_loop().time
        await self.budget.reserve(reserved)
        spent = 0.0
        try:
            await self.limiter.acquire(tokens, self.wait)
            self.spending.calls += 1
            started = clock()
            try:
                reply = await post(max(0.05, min(self.limits.timeout, left)))
            except CallError as fault:
                fault.seconds = clock() - started
                self.spending.note_fault(fault.reason, fault.billed, most)
                spent = reserved if fault.billed else 0.0
                raise
            # One that does not say what it used is taken to have used the most.
            spent = reserved if reply.cost is None else reply.cost
        finally:
            self.budget.settle(reserved, spent)
        if reply.tokens is not None:
            self.limiter.correct(tokens, reply.tokens)
        return reply, clock() - started

    def _hold(self, fault: CallError, seconds: float) -> float:
        """Let everybody wait as long as the endpoint asks, or end the run where that is too long."""
        waited, longest = self.limiter.hold(seconds), self.limits.longest_pause
        if waited > longest:
            in_all = f", {waited:.0f} s in total without an answer in between" if waited > seconds + 1 else ""
            raise self.error(
                f"asks to wait {seconds:g} s (Retry-After){in_all}, but {self.limits.section}longest_pause "
                f"allows {longest:g} s. It says: {fault}. Run again when the pause is over, or raise the "
                "limit."
            ) from None
        return self.limiter.remaining_pause()


class StoppedError(LlmError):
    """The run is ending; waiting work is not tried again."""


class Workers:
    """Workers that do the jobs of one stream in parallel; ``stopping`` is set when they must end.

    The first failure ends all. They finish their current job first, since it has been paid for, unless they
    ``give_up`` what costs nothing.
    """

    def __init__(self, *, give_up: bool = False) -> None:
        self.stopping = asyncio.Event()
        self._give_up = give_up
        self._all: list[asyncio.Task[None]] = []
        self._failure: BaseException | None = None

    async def run(self, count: int, jobs: Iterator[J], do: Callable[[J], Awaitable[object]]) -> None:
        """Work until there is no job left; raises the first failure."""
        self._all = [asyncio.create_task(self._work(jobs, do)) for _ in range(count)]
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        try:
            # by way of the loop, which may be asleep
            with on_stop(lambda: loop.call_soon_threadsafe(task.cancel)):
                await asyncio.wait(self._all)
        except (asyncio.CancelledError, Stopped):
            self._stop()
            await asyncio.wait(self._all)
            raise
        if self._failure is not None:
            raise self._failure

    async def wait(self, seconds: float) -> None:
        """Sleep, unless the run ends before; then raises StoppedError."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), seconds)
        if self.stopping.is_set():
            raise StoppedError("the run is ending")

    async def _work(self, jobs: Iterator[J], do: Callable[[J], Awaitable[object]]) -> None:
        try:
            while not self.stopping.is_set() and (job := next(jobs, None)) is not None:
                await do(job)
        except StoppedError:
            return
        except BaseException as error:
            # the others follow from it
            self._failure = self._failure or error
            self._stop()

    def _stop(self) -> None:
        self.stopping.set()
        for worker in self._all if self._give_up else ():
            if worker is not asyncio.current_task():
                worker.cancel()


def send_all(
    limits: HttpConfig,
    limiter: RateLimiter,
    requests: Iterator[J],
    send: Callable[[Sender, Connection, J], Awaitable[None]],
    error: Callable[[str], Exception],
    *,
    give_up: bool = False,
    connect: Callable[[], Connection] | None = None,
    **how: Any,
) -> None:
    """Send all requests, several in parallel, each by ``send``, which takes the tries of the sender.

    ``connect`` makes a connection of another class; ``how`` are further fields of the sender. The first
    failure ends all and is raised; those on their way are waited for or, with ``give_up``, not.
    """

    async def run() -> None:
        workers = Workers(give_up=give_up)
        sender = Sender(limits, limiter, workers.wait, error, **how)
        async with aclosing(connect() if connect else Connection(limits)) as connection:
            await workers.run(
                limits.max_concurrency, requests, lambda request: send(sender, connection, request)
            )

    run_to_end(run())


def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also from within a running event loop such as a notebook's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()
