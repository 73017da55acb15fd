"""The one way to send: within limits, again while that may help, every try counted.

Several requests in parallel are sent by workers, which a signal or a failure ends cleanly.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from harness.models.llm.endpoint import HttpConfig
from harness.models.llm.faults import UNUSABLE, CallError
from harness.models.llm.http_client import Connection
from harness.models.llm.limits import Backoff, Breaker, RateLimiter
from harness.models.llm.money import Budget, Spending
from harness.values import LlmError, Stopped, on_stop

J = TypeVar("J")
Wait = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Came:
    """What the sender has to know of a reply: the tokens and the cost of it, None where they are unknown.

    ``useless``: it cannot be used and another one might.
    """

    tokens: int | None = None
    cost: float | None = 0.0
    useless: bool = False


class Exchange(ABC):
    """A request, and what becomes of its replies, which it holds itself.

    ``tokens`` is what the rate limit sets aside for a try, ``most`` the highest price of one (None: no price
    is known).
    """

    tokens: int = 0
    most: float | None = 0.0

    @abstractmethod
    async def post(self, timeout: float) -> Came:
        """Send it once, within so many seconds, and hold the reply; raises CallError."""

    @abstractmethod
    def keep(self, last: bool) -> None:
        """Take the reply that it holds; ``last``: it is final."""

    @abstractmethod
    def lose(self, fault: CallError, tries: int, last: bool) -> None:
        """Take a fault, or raise; ``last``: no further try follows."""


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

    async def send(self, exchange: Exchange) -> None:
        """Try until there is a usable reply, a final fault, or no time left; raises what ``lose`` raises."""
        left = self.limits.deadline
        tries, unusable, most = 0, 0, self.most_unusable or float("inf")
        while True:
            tries += 1
            held = 0.0
            try:
                came, seconds = await self._try(exchange, left)
            except CallError as fault:
                left -= fault.seconds
                unusable += fault.reason in UNUSABLE
                again = fault.again and (fault.reason not in UNUSABLE or unusable < most)
                if again and fault.retry_after:
                    held = self._hold(fault, fault.retry_after)
                pause = self._backoff.pause(tries, fault.retry_after, left, self._rng) if again else None
                exchange.lose(fault, tries, pause is None)
                if self.breaker is not None:
                    self.breaker.note(fault, last=pause is None)
            else:
                left -= seconds
                self.limiter.answered()
                unusable += came.useless
                again = came.useless and unusable < most
                pause = self._backoff.pause(tries, None, left, self._rng) if again else None
                exchange.keep(pause is None)
            if pause is None:
                return
            await self.wait(held + pause)
            left -= pause

    async def _try(self, exchange: Exchange, left: float) -> tuple[Came, float]:
        """One try within the limits, and the seconds that it took."""
        most, clock = exchange.most or 0.0, asyncio.get_running_loop().time
        await self.budget.reserve(most)
        spent = 0.0
        try:
            await self.limiter.acquire(exchange.tokens, self.wait)
            self.spending.calls += 1
            started = clock()
            try:
                came = await exchange.post(max(0.05, min(self.limits.timeout, left)))
            except CallError as fault:
                fault.seconds = clock() - started
                self.spending.note_fault(fault.reason, fault.billed, exchange.most)
                spent = most if fault.billed else 0.0
                raise
            # One that does not say what it used is taken to have used the most.
            spent = most if came.cost is None else came.cost
        finally:
            self.budget.settle(most, spent)
        if came.tokens is not None:
            self.limiter.correct(exchange.tokens, came.tokens)
        return came, clock() - started

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
    exchange: Callable[[Connection, J], Exchange],
    error: Callable[[str], Exception],
    *,
    give_up: bool = False,
    **how: Any,
) -> None:
    """Send all requests, several in parallel, each by the exchange that is made of it.

    ``how`` are further fields of the sender. The first failure ends all and is raised; those on their way are
    waited for or, with ``give_up``, not.
    """

    async def run() -> None:
        workers = Workers(give_up=give_up)
        sender = Sender(limits, limiter, workers.wait, error, **how)
        async with aclosing(Connection(limits)) as connection:
            await workers.run(
                limits.max_concurrency, requests, lambda asked: sender.send(exchange(connection, asked))
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
