"""What systems differ in; each function has a branch for those that lack it, Windows among them.

Nothing else in the harness uses what only some systems have: tests/test_portability.py names what that is.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]


def available_cpus() -> int:
    """The processors that this process may use; all of the machine where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor_name() -> str:
    """What the processor is called, as far as the system tells."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


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


def lift_memory_limit() -> None:
    """Take the limit of ``limit_memory`` back."""
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
