"""The inside of a worker process: tasks come in, results go out, memory has a limit."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

OnPage = Callable[[int], None]
Task = Callable[[OnPage], Any]
"""A picklable call; it reports every page it begins, from which the time of that page counts."""

_MB = 1_000_000


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
            _lift_limit()
            connection.send(("memory", None))
            return
        except BaseException:
            connection.send(("fault", traceback.format_exc()))
            return


def limit_memory(further: int) -> int | None:
    """Let this process take ``further`` bytes of address space beyond what it has.

    Returns what it may take, which is less under a limit of the user's (``ulimit -v``); None if the
    system limits nothing.
    """
    if resource is None:
        return None
    used = _address_space()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = used + further if hard == resource.RLIM_INFINITY else min(used + further, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ValueError, OSError):  # macOS
        return None
    return soft - used


def _lift_limit() -> None:
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _address_space() -> int:
    """The address space this process takes, in bytes; 0 if the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _silence() -> None:
    """Keep the output of a crashing library off the terminal."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
