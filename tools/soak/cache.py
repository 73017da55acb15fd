"""Attacks on what the cache stores: swapped pointers to Chroma's indexes, and a disk that is almost full."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from tools.soak.attack import Outcome, harness
from tools.soak.corpus import content, write_benchmark


def swapped_pointers(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Exchange the pointers of two indexes: both are built again, and the results stay what they are."""
    outcome = Outcome()
    config = write_benchmark(folder)
    harness("bench", config, "--quiet")
    expected = content(folder / "results" / "soak")
    for number in range(count):
        pointers = sorted((folder / "cache").rglob("*.pointer"))
        if len(pointers) < 2:
            outcome.faults.append("the benchmark has no two indexes whose pointers could be swapped")
            break
        one, other = dice.sample(pointers, 2)
        swapped = other.read_bytes(), one.read_bytes()
        one.write_bytes(swapped[0])
        other.write_bytes(swapped[1])
        # rankings are made again, so that the indexes are opened
        for stored in (folder / "cache").rglob("artifacts/ranking"):
            shutil.rmtree(stored)
        ended = harness("bench", config, "--quiet", "--again")
        outcome.tried += 1
        outcome.check(ended, f"pointers {number}")
        if ended.code or content(folder / "results" / "soak") != expected:
            outcome.faults.append(f"pointers {number}: the results differ")
    return outcome


def full_disk(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Bound the size of files that a run may write: it explains itself, and with room ends as usual."""
    outcome = Outcome()
    config = write_benchmark(folder)
    harness("bench", config, "--quiet")
    expected = content(folder / "results" / "soak")
    for _ in range(count):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        shutil.rmtree(folder / "results", ignore_errors=True)
        most = round(2 ** dice.uniform(8, 20))
        outcome.tried += 1
        outcome.check(harness("bench", config, "--quiet", largest_file=most), f"files of {most:,} bytes")
        again = harness("bench", config, "--quiet")
        outcome.check(again, f"after files of {most:,} bytes")
        if again.code or content(folder / "results" / "soak") != expected:
            outcome.faults.append(f"after files of {most:,} bytes: the results differ")
    return outcome
