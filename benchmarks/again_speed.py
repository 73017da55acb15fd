"""The time of a run that finds nothing changed, and of one that takes all it can from the cache.

python benchmarks/again_speed.py [--repeats 3] [CONFIG ...]

All commands are run once first, so that nothing is left to compute and every model has been tried. Then
`bench --again`, `bench` and `validate` take turns, each in a process of its own; the fastest of each counts.
CPU seconds leave out what other work on the machine takes. Compiled modules are kept, as they are for users.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMANDS = {"bench --again": ("bench", "--again"), "bench": ("bench",), "validate": ("validate",)}


def timed(words: tuple[str, ...], config: Path) -> tuple[float, float]:
    """Elapsed and CPU seconds of one command; its output is dropped."""
    command = [sys.executable, "-m", "harness", *words, str(config)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, begun = _cpu(), time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)
    return time.perf_counter() - begun, _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, and print one row per configuration and command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("configs", nargs="*", type=Path, default=[Path("configs/quickstart.yaml")])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before, fastest of {args.repeats}\n")
    print("| configuration | command | seconds | times shorter | CPU seconds | times less |")
    print("|---|---|--:|--:|--:|--:|")
    for config in args.configs:
        for words in COMMANDS.values():
            timed(words, config)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
        for _ in range(args.repeats):
            for name, words in COMMANDS.items():
                taken[name].append(timed(words, config))
        best = {name: [min(one) for one in zip(*values, strict=True)] for name, values in taken.items()}
        whole = best["bench --again"]
        for name, (seconds, cpu) in best.items():
            ratios = f"{seconds:.1f} | {whole[0] / seconds:.1f} | {cpu:.1f} | {whole[1] / cpu:.1f}"
            print(f"| {config.stem} | `{name}` | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
