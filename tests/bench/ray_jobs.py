"""Jobs for the tests of the Ray engine, importable by its workers."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Doubled:
    """Doubles a number, and leaves a file for each time it was done; ``slow`` seconds each."""

    folder: str
    slow: float = 0.0

    def __call__(self, part):
        (Path(self.folder) / f"{part}-{time.time_ns()}").touch()
        time.sleep(self.slow)
        return 2 * part


@dataclass(frozen=True)
class Deadly:
    """As ``Doubled``, but part 3 kills its worker the first ``times``."""

    folder: str
    times: int

    def __call__(self, part):
        marks = Path(self.folder)
        if part == 3 and len(list(marks.glob("dead-*"))) < self.times:
            (marks / f"dead-{time.time_ns()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * part


@dataclass(frozen=True)
class Slow:
    """As ``Doubled``, but the first worker takes ``seconds`` for each part, as on a slow node."""

    folder: str
    seconds: float

    def __call__(self, part):
        marks, own = Path(self.folder), str(os.getpid())
        try:
            with (marks / "first").open("x", encoding="utf-8") as file:
                file.write(own)
        except FileExistsError:
            pass
        if (marks / "first").read_text(encoding="utf-8") == own:
            time.sleep(self.seconds)
            (marks / f"{part}-slow").touch()
        (marks / f"{part}-{time.time_ns()}-done").touch()
        return 2 * part


@dataclass(frozen=True)
class Greedy:
    """Wants more memory than its worker may have."""

    def __call__(self, part):
        return len(bytearray(1 << 60))


@dataclass(frozen=True)
class Hoarder:
    """As ``Doubled``, but part 3 takes memory, up to ``most`` bytes, until it is stopped, the first time."""

    folder: str
    most: int

    def __call__(self, part):
        mark = Path(self.folder) / "hoarded"
        if part == 3 and not mark.exists():
            mark.touch()
            kept = []
            while len(kept) << 27 < self.most:
                kept.append(b"x" * (1 << 27))
                time.sleep(0.05)
            # until it is killed
            time.sleep(60)
        return 2 * part


@dataclass(frozen=True)
class SeenByAll:
    """Another job, of which each worker does a part: none begins before ``workers`` of them have one."""

    folder: str
    job: Any
    workers: int

    def __call__(self, part):
        (Path(self.folder) / str(os.getpid())).touch()
        last = time.monotonic() + 900
        while len(list(Path(self.folder).iterdir())) < self.workers:
            assert time.monotonic() < last, "not all workers have a part"
            time.sleep(0.05)
        return self.job(part)
