"""Asynchronous workers in parallel, and how a signal or a failure ends them cleanly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from harness.values import LlmError, Stopped, on_stop

J = TypeVar("J")


class StoppedError(LlmError):
    """The run is ending; waiting work is not tried again."""


def canceller() -> Callable[[], None]:
    """A function for a signal handler that cancels the current task."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def cancel() -> None:
        # by way of the loop, which may be asleep
        loop.call_soon_threadsafe(task.cancel)

    return cancel


async def sleep_unless(stopping: asyncio.Event, seconds: float) -> None:
    """Sleep, unless the run ends before; then raises StoppedError."""
    if seconds > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), seconds)
    if stopping.is_set():
        raise StoppedError("the run is ending")


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

    async def run(self, count: int, jobs: Iterator[J], do: Callable[[J], Awaitable[None]]) -> None:
        """Work until there is no job left; raises the first failure."""
        self._all = [asyncio.create_task(self._work(jobs, do)) for _ in range(count)]
        try:
            with on_stop(canceller()):
                await asyncio.wait(self._all)
        except (asyncio.CancelledError, Stopped):
            self._stop()
            await asyncio.wait(self._all)
            raise
        if self._failure is not None:
            raise self._failure

    async def wait(self, seconds: float) -> None:
        """Sleep, unless the run ends before; then raises StoppedError."""
        await sleep_unless(self.stopping, seconds)

    async def _work(self, jobs: Iterator[J], do: Callable[[J], Awaitable[None]]) -> None:
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
