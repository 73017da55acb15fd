"""How long `harness --help` takes, beside an empty Python and one that imports numpy.

    python -m benchmarks.help_speed [--runs 15] [COMMAND ...]

Each program is run so many times in turn, so that all meet the same load of the machine, and the shortest of
its times is printed, elapsed and of the CPU: what else the machine does can only add to them. The ratios are
of CPU time. `COMMAND` names commands whose help is measured too.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence

from harness.values import available_cpus, processor_name

EMPTY, NUMPY = "an empty Python", "a Python that imports numpy"
# what the installed command `harness` does
STARTS = "from harness.cli import main; main({!r})"


def programs(commands: Sequence[str]) -> dict[str, list[str]]:
    """The words by which each program is run, by the name that is printed."""
    words = {"`harness --help`": ["--help"]}
    words |= {f"`harness {command} --help`": [*shlex.split(command), "--help"] for command in commands}
    return {
        EMPTY: [sys.executable, "-c", "pass"],
        NUMPY: [sys.executable, "-c", "import numpy"],
        **{name: [sys.executable, "-c", STARTS.format(options)] for name, options in words.items()},
    }


def seconds(program: Sequence[str]) -> tuple[float, float]:
    """The time of one run, elapsed and of the CPU; raises CalledProcessError where it fails."""
    start, before = time.perf_counter(), os.times()
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return time.perf_counter() - start, cpu


def shortest(commands: Sequence[str], runs: int) -> dict[str, tuple[float, float]]:
    """The shortest times of each program, elapsed and of the CPU."""
    # the first round, which fills caches, does not count
    rounds = [
        {name: seconds(program) for name, program in programs(commands).items()} for _ in range(runs + 1)
    ]
    each = {name: zip(*(times[name] for times in rounds[1:]), strict=True) for name in rounds[0]}
    return {name: (min(elapsed), min(cpu)) for name, (elapsed, cpu) in each.items()}


def report(times: dict[str, tuple[float, float]]) -> str:
    """The table that is printed."""
    empty, numpy = times[EMPTY][1], times[NUMPY][1]
    rows = [
        f"| {name} | {elapsed:.2f} | {cpu:.2f} | {cpu / empty:.1f} | {cpu / numpy:.1f} |"
        for name, (elapsed, cpu) in times.items()
    ]
    machine = f"{processor_name()}, {available_cpus()} cores, Python {platform.python_version()}"
    head = [
        "| program | seconds | CPU seconds | times an empty Python | times one that imports numpy |",
        "|---|--:|--:|--:|--:|",
    ]
    return "\n".join([*head, *rows, "", machine])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="a command whose help is measured too")
    parser.add_argument("--runs", type=int, default=15, help="how often each is run; 15")
    options = parser.parse_args()
    before = os.getloadavg()[0]
    print(f"{report(shortest(options.commands, options.runs))}; load {before:.1f} before")


if __name__ == "__main__":
    main()
