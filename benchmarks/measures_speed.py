"""Time whole evaluations side by side with other tools: python benchmarks/measures_speed.py --help

Every case runs in a process of its own, which also reports its peak memory. The clock starts at what the case
is named for (a parquet file, two DataFrames, dictionaries) and ends at the mean NDCG@10; the fastest of the
repeats counts, in elapsed and in CPU time, of which the second is the steadier one on a busy machine. Slow
tools run at --slow-queries, next to the same case of ours at that size.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measures_cases import FAST, SLOW, SOURCES, find
from measures_data import Shape, write


def main() -> None:
    args = _arguments()
    if args.case:
        print(json.dumps(_time(*args.case, args.repeats)))
        return
    for queries, tools in ((args.queries, FAST), (args.slow_queries, ("ours", *SLOW))):
        wanted = [tool for tool in tools if tool in args.tools]
        if len(wanted) > 1 and queries:
            with tempfile.TemporaryDirectory() as folder:
                shape = Shape(queries, args.order, args.ids)
                write(shape, Path(folder))
                _compare(shape, wanted, args, folder)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--slow-queries", type=int, default=5_000, help="0 leaves the slow tools out")
    parser.add_argument("--order", choices=("ranked", "random"), default="random", help="of the rows")
    parser.add_argument("--ids", choices=("few", "distinct"), default="few", help="100,000 or millions")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tools", nargs="+", choices=(*FAST, *SLOW), default=[*FAST, *SLOW])
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--case", nargs=3, metavar=("TOOL", "SOURCE", "FOLDER"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _compare(shape: Shape, tools: list[str], args: argparse.Namespace, folder: str) -> None:
    print(f"\n{shape}; load {_load()} on {os.cpu_count()} cores before, fastest of {args.repeats}\n")
    print("| from | tool | seconds | times ours | CPU seconds | times ours | peak GB | mean NDCG@10 |")
    print("|---|---|--:|--:|--:|--:|--:|--:|", flush=True)
    for source in args.sources:
        ours = None
        for tool in tools:
            if find(tool, source) is None:
                continue
            result = _alone(tool, source, folder, args.repeats)
            ours = ours or result
            times, cpu_times = (result[kind] / ours[kind] for kind in ("seconds", "cpu"))
            print(
                f"| {source} | {tool} | {result['seconds']:.2f} | {times:.1f} | "
                f"{result['cpu']:.2f} | {cpu_times:.1f} | "
                f"{result['peak_gb']:.2f} | {result['mean']:.6f} |",
                flush=True,
            )
    print(f"\nload {_load()} after")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def _alone(tool: str, source: str, folder: str, repeats: int) -> dict[str, float]:
    """Run one case in a process of its own."""
    command = [sys.executable, __file__, "--repeats", str(repeats), "--case", tool, source, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{tool} from {source} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _time(tool: str, source: str, folder: str, repeats: str | int) -> dict[str, float]:
    case = find(tool, source)
    assert case is not None
    timed = case(Path(folder))
    seconds, cpu_seconds = [], []
    for _ in range(int(repeats)):
        wall, cpu = time.perf_counter(), time.process_time()
        mean = timed()
        seconds.append(time.perf_counter() - wall)
        cpu_seconds.append(time.process_time() - cpu)
    return {"seconds": min(seconds), "cpu": min(cpu_seconds), "peak_gb": _peak_gb(), "mean": float(mean)}


def _peak_gb() -> float:
    """Peak memory of this process alone: on Linux ``ru_maxrss`` counts that of the one that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e9
    # macOS counts bytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9


if __name__ == "__main__":
    main()
