"""Attacks on what the cache stores: swapped indexes of Chroma, and a disk that is almost full."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.soak.attack import Outcome, harness
from tools.soak.corpus import content, write_benchmark


def swapped_indexes(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Exchange two indexes: both are built again, and the results stay what they are."""
    outcome = Outcome()
    config = write_benchmark(folder)
    harness("bench", config, "--quiet")
    expected = content(folder / "results" / "soak")
    for number in range(count):
        indexes = sorted(path.parent for path in (folder / "cache").rglob("chroma/*/seal"))
        if len(indexes) < 2:
            outcome.faults.append("the benchmark has no two indexes that could be swapped")
            break
        one, other = dice.sample(indexes, 2)
        aside = one.with_name("aside")
        for path, place in ((one, aside), (other, one), (aside, other)):
            path.rename(place)
        # rankings are made again, so that the indexes are opened
        for stored in (folder / "cache").rglob("artifacts/ranking"):
            shutil.rmtree(stored)
        ended = harness("bench", config, "--quiet", "--again")
        outcome.tried += 1
        outcome.check(ended, f"indexes {number}")
        if ended.code or content(folder / "results" / "soak") != expected:
            outcome.faults.append(f"indexes {number}: the results differ")
    return outcome


def bounded_files(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Bound the size of files that a run may write: it explains itself, and with room ends as usual."""
    outcome, expected = Outcome(), _expected(folder)
    config = write_benchmark(folder)
    for _ in range(count):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        shutil.rmtree(folder / "results", ignore_errors=True)
        most = round(2 ** dice.uniform(8, 20))
        outcome.tried += 1
        outcome.check(harness("bench", config, "--quiet", largest_file=most), f"files of {most:,} bytes")
        _again(config, folder, expected, f"files of {most:,} bytes", outcome)
    return outcome


def full_disk(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Run on a small disk, a file system in memory, that then grows: explained, and then as usual."""
    outcome, expected = Outcome(), _expected(folder)
    for _ in range(count):
        size = round(2 ** dice.uniform(12, 22))
        with _small_disk(folder / "disk", size) as disk:
            config = write_benchmark(folder, out=disk)
            outcome.tried += 1
            outcome.check(harness("bench", config, "--quiet"), f"a disk of {size:,} bytes")
            _mount("-o", "remount,size=1g", disk)
            _again(config, disk, expected, f"a disk of {size:,} bytes", outcome)
    return outcome


def may_mount() -> bool:
    """Whether this user may mount a file system."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with _small_disk(Path(folder) / "disk", 1 << 20):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


@contextmanager
def _small_disk(folder: Path, size: int) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True, capture_output=True)


def _mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


def _expected(folder: Path) -> dict[str, bytes]:
    harness("bench", write_benchmark(folder), "--quiet")
    return content(folder / "results" / "soak")


def _again(config: Path, out: Path, expected: dict[str, bytes], what: str, outcome: Outcome) -> None:
    again = harness("bench", config, "--quiet")
    outcome.check(again, f"after {what}")
    if again.code or content(out / "results" / "soak") != expected:
        outcome.faults.append(f"after {what}: the results differ")
