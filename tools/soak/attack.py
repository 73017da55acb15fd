"""Shared by all attacks: a place to work, a seed, the command under attack, and how it may end."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

# A command may succeed, explain a problem, or refuse its arguments; anything else is a fault.
EXPLAINED = (0, 1, 2)
SECONDS = 900
MEMORY = 12 * 1024**3


@dataclass(slots=True)
class Outcome:
    """``tried`` attacks and the ``faults`` they found, a line each."""

    tried: int = 0
    faults: list[str] = field(default_factory=list)

    def check(self, ended: Ended, what: str) -> None:
        """Count a command that ended in an internal fault, by a signal, too late, or without a message."""
        if fault := ended.fault():
            self.faults.append(f"{what}: {fault}")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; ``code`` None: it ran past its time."""

    code: int | None
    out: str
    err: str

    def fault(self) -> str:
        """The fault in how it ended; empty if there is none."""
        if self.code is None:
            return f"did not end within {SECONDS} s"
        if "Traceback (most recent call last)" in self.err + self.out:
            return f"traceback: {(self.err.strip() or self.out.strip()).splitlines()[-1][:160]}"
        if "internal fault" in self.err:
            return self.err.strip().splitlines()[-1][:200]
        if self.code not in EXPLAINED:
            return f"exit code {self.code}"
        if self.code == 1 and not self.err.strip() and not self.out.strip():
            return "exit code 1 without a word"
        return ""


@dataclass(frozen=True, slots=True)
class Attack:
    """``run(folder, random, count)`` attacks ``count`` times in a folder; one takes about ``seconds``."""

    name: str
    run: Callable[[Path, random.Random, int], Outcome]
    seconds: float


def harness(
    *arguments: str | Path,
    cwd: Path | None = None,
    largest_file: int = 0,
    more: Mapping[str, str] | None = None,
) -> Ended:
    """Run the command line in a process of its own, with a bound on its time, memory and files (in bytes).

    ``more``: further variables of its environment.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", "harness", *map(str, arguments)],
            cwd=cwd,
            env=environment() | dict(more or {}),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            preexec_fn=partial(_bounded, largest_file),
        )
    except subprocess.TimeoutExpired:
        return Ended(None, "", "")
    return Ended(done.returncode, _text(done.stdout), _text(done.stderr))


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start the command line and go on."""
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *map(str, arguments)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_bounded,  # noqa: PLW1509 - this program has one thread
    )


def finish(process: subprocess.Popen[bytes]) -> Ended:
    """Wait for a started command."""
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Ended(None, "", "")
    return Ended(process.returncode, _text(out), _text(err))


def environment() -> dict[str, str]:
    """The environment of every command: this checkout, no network, one thread."""
    root = str(Path(__file__).resolve().parents[2])
    return {
        **os.environ,
        "PYTHONPATH": root,
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "ANONYMIZED_TELEMETRY": "False",
    }


def mutate(data: bytes, dice: random.Random) -> bytes:
    """Damage bytes in one of the ways in which files get damaged."""
    if not data:
        return bytes([dice.randrange(256)])
    at = dice.randrange(len(data))
    way = dice.randrange(7)
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]
    if way == 2:
        return data[:at] + bytes(dice.randrange(256) for _ in range(dice.randrange(1, 60))) + data[at:]
    if way == 3:
        return data[:at] + data[at + dice.randrange(1, 400) :]
    if way == 4:
        length = dice.randrange(1, 2000)
        return data[:at] + data[at : at + length] * 2 + data[at + length :]
    if way == 5:
        return data[:at] + b"\0" * min(64, len(data) - at) + data[at + 64 :]
    return b""


def _bounded(largest_file: int = 0) -> None:
    import resource

    if largest_file:
        # Python ignores SIGXFSZ: a write beyond the bound fails with EFBIG
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
