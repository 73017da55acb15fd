"""Attacks on running benchmarks: kills, flipped bits in the cache, several runs at once."""

from __future__ import annotations

import random
import shutil
import signal
import time
from pathlib import Path

from tools.concurrent_sessions import run_sessions
from tools.soak.attack import Outcome, finish, harness, start
from tools.soak.corpus import content, write_benchmark

AT_ONCE = 12
FEWEST_SESSIONS = 12
LONGEST = 12.0


def kills(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Kill a run at a random moment, run it to the end: the results are those of an undisturbed run."""
    outcome = Outcome()
    expected = _undisturbed(folder / "undisturbed")
    place = folder / "killed"
    config = write_benchmark(place)
    for number in range(count):
        shutil.rmtree(place / "cache", ignore_errors=True)
        shutil.rmtree(place / "results", ignore_errors=True)
        run = start("bench", config, "--quiet")
        time.sleep(dice.uniform(0.3, LONGEST))
        run.send_signal(dice.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        finish(run)
        ended = harness("bench", config, "--quiet")
        outcome.tried += 1
        outcome.check(ended, f"kill {number}, run again")
        if content(place / "results" / "soak") != expected:
            outcome.faults.append(f"kill {number}: the results differ from those of an undisturbed run")
    return outcome


def flipped_bits(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Flip bits anywhere in a warm cache: the results stay what they are."""
    outcome = Outcome()
    config = write_benchmark(folder)
    harness("bench", config, "--quiet")
    expected = content(folder / "results" / "soak")
    shutil.copytree(folder / "cache", folder / "warm")
    for number in range(count):
        shutil.rmtree(folder / "cache")
        shutil.copytree(folder / "warm", folder / "cache")
        files = [path for path in sorted((folder / "cache").rglob("*")) if path.is_file()]
        path = dice.choice([path for path in files if path.stat().st_size])
        data = bytearray(path.read_bytes())
        for _ in range(20):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        path.write_bytes(bytes(data))
        # so that rankings are made again from vectors and scores, where a flipped bit would show
        if dice.random() < 0.5:
            for stored in (folder / "cache").rglob("artifacts/ranking"):
                shutil.rmtree(stored)
        # the record that nothing has changed must not be trusted either
        again = () if "finished" in path.parts else ("--again",)
        ended = harness("bench", config, "--quiet", *again)
        name = path.relative_to(folder / "cache")
        outcome.tried += 1
        outcome.check(ended, f"bits {number} in {name}")
        if content(folder / "results" / "soak") != expected:
            outcome.faults.append(f"bits {number} in {name}: the results differ")
    return outcome


def at_once(folder: Path, dice: random.Random, count: int) -> Outcome:
    """Run several benchmarks at once over one cache and one folder of results; some have one name."""
    # fewer would not hold every name
    sessions = max(count, FEWEST_SESSIONS)
    found = run_sessions(folder, sessions, min(sessions, AT_ONCE), killed=0.1, seed=dice.randrange(1000))
    return Outcome(sessions, found.problems)


def _undisturbed(folder: Path) -> dict[str, bytes]:
    ended = harness("bench", write_benchmark(folder), "--quiet")
    if ended.code:
        raise SystemExit(f"The benchmark fails even when nobody attacks it:\n{ended.err}")
    return content(folder / "results" / "soak")
