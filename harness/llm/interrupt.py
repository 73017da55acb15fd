"""How a signal ends asynchronous work in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from harness.errors import LlmError


class StoppedError(LlmError):
    """The run is ending; what waits is not tried again."""


def canceller() -> Callable[[], None]:
    """What a signal's handler calls to cancel the task that runs now."""
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
