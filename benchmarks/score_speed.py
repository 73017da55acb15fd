"""The time of `harness score` on TREC text, and of a short script around pytrec_eval.

python benchmarks/score_speed.py [--queries 20000] [--repeats 3]

Both read the same run (100 lines a query) and judgments (50 a query) and print the mean NDCG@10, each in a
process of its own, in turns; the least CPU seconds of each count, start included. pytrec_eval comes with the
extra `dev`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import measures_data
from pyarrow import parquet

SCRIPT = """
import sys
import pytrec_eval
run, qrels = {}, {}
for line in open(sys.argv[1]):
    query, _, document, _, score, _ = line.split()
    run.setdefault(query, {})[document] = float(score)
for line in open(sys.argv[2]):
    query, _, document, grade = line.split()
    qrels.setdefault(query, {})[document] = int(grade)
values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run).values()
print(sum(value["ndcg_cut_10"] for value in values) / len(values))
"""


def write(queries: int, folder: Path) -> tuple[Path, Path]:
    """A run and judgments as TREC text."""
    measures_data.write(measures_data.Shape(queries, "ranked"), folder)
    run, qrels = folder / "run.txt", folder / "qrels.txt"
    with run.open("w") as out:
        for place, row in enumerate(zip(*_columns(folder, "run", "score"), strict=True)):
            out.write("{} Q0 {} {rank} {!r} tag\n".format(*row, rank=place % measures_data.RANKED + 1))
    with qrels.open("w") as out:
        for row in zip(*_columns(folder, "qrels", "grade"), strict=True):
            out.write("{} 0 {} {}\n".format(*row))
    return run, qrels


def _columns(folder: Path, name: str, value: str) -> list[list]:
    table = parquet.read_table(folder / f"{name}.parquet")
    return [table.column(column).to_pylist() for column in ("query_id", "doc_id", value)]


def timed(command: list[str]) -> tuple[float, float, str]:
    """CPU and elapsed seconds of a command, and the last word that it prints."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    used, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    printed = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    elapsed, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return cpu, elapsed, f"{float(printed.split()[-1]):.4f}"


def main() -> None:
    """Measure, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    if importlib.util.find_spec("pytrec_eval") is None:
        print("left out: pytrec_eval is not installed (pip install -e '.[dev]')")
        return
    with TemporaryDirectory() as folder:
        run, qrels = map(str, write(args.queries, Path(folder)))
        ours = [sys.executable, "-m", "harness", "score", "--run", run, "--qrels", qrels]
        commands = {
            "`harness score --measures ndcg_lin@10`": [*ours, "--measures", "ndcg_lin@10"],
            "the script": [sys.executable, "-c", SCRIPT, run, qrels],
        }
        for command in commands.values():
            timed(command)
        taken = {name: [] for name in commands}
        for _ in range(args.repeats):
            for name, command in commands.items():
                taken[name].append(timed(command))
    rows = args.queries * measures_data.RANKED
    print(f"{rows:,} ranked lines; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores after, ", end="")
    print(f"least of {args.repeats}\n\n| | CPU seconds | times ours | seconds | NDCG@10 |")
    print("|---|--:|--:|--:|--:|")
    least = min(taken["`harness score --measures ndcg_lin@10`"])[0]
    for name, found in taken.items():
        cpu, elapsed, mean = min(found)
        print(f"| {name} | {cpu:.2f} | {cpu / least:.1f} | {elapsed:.2f} | {mean} |", flush=True)


if __name__ == "__main__":
    main()
