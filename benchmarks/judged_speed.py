"""How the time of a judged run grows with the number of pairs: CPU seconds, and their milliseconds a pair.

python benchmarks/judged_speed.py [--queries 100 400 1600]

The queries and the passages are words drawn at random, ten passages a query are judged, and an endpoint
on this machine grades by rules, in a process of its own. `all asked` begins with an empty ledger; `again`
(`bench --again`) finds all grades there. The row of one query is what a run costs whatever it judges, and
is taken off before the rest is divided by the pairs. A step that looks through all pairs for each of them
shows as milliseconds a pair that grow with the number of pairs.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
DEPTH = 10
WORDS = [f"word{number}" for number in range(400)]


def written(folder: Path, queries: int, port: str) -> Path:
    """A configuration that has ten passages of each query judged, with its documents and queries."""
    folder.mkdir()
    draw = random.Random(7)
    for number in range(20):
        lines = (" ".join(draw.choices(WORDS, k=40)) for _ in range(100))
        (folder / f"document{number}.txt").write_text("\n\n".join(lines), encoding="utf-8")
    with (folder / "queries.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query_id", "text"])
        rows.writerows([f"q{number}", " ".join(draw.choices(WORDS, k=6))] for number in range(queries))
    endpoint = {"base_url": f"http://127.0.0.1:{port}/v1", "model": "rules"}
    config = {
        "name": "judged",
        "documents": str(folder / "*.txt"),
        "queries": str(folder / "queries.csv"),
        "chunk": {"kind": "recursive", "chunk_size": 400, "chunk_overlap": 0},
        "retrieve": {"kind": "bm25", "top_k": 20},
        "relevance": {"judge": "llm", "endpoint": endpoint, "pool": {"depth": DEPTH}},
        "cache": str(folder / "cache"),
        "results": str(folder / "results"),
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


def judged(config: Path) -> int:
    """How many pairs the run has judged."""
    with (config.parent / "results" / "judged" / "judgments.csv").open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


def main() -> None:
    """Measure, and print one row per number of queries."""
    from benchmarks.again_speed import timed

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", nargs="+", type=int, default=[100, 400, 1600])
    args = parser.parse_args()
    command = [sys.executable, "-m", "benchmarks.rule_endpoint", "--port", "0"]
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before\n")
    print("| pairs | all asked: CPU seconds | ms a pair | again: CPU seconds | ms a pair |")
    print("|--:|--:|--:|--:|--:|")
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as endpoint,
    ):
        assert endpoint.stdout is not None, "it is a pipe"
        port = endpoint.stdout.readline().split("/v1")[0].rsplit(":", 1)[1]
        os.environ["OPENAI_API_KEY"] = "none"
        try:
            base = [0.0, 0.0]
            for queries in (1, *args.queries):
                config = written(Path(folder) / str(queries), queries, port)
                cpu = [timed(("bench",), config)[1], timed(("bench", "--again"), config)[1]]
                pairs = judged(config)
                cells = [
                    f"{spent:.1f} | {1000 * (spent - fixed) / pairs:.2f}"
                    if queries > 1
                    else f"{spent:.1f} | –"
                    for spent, fixed in zip(cpu, base, strict=True)
                ]
                base = cpu if queries == 1 else base
                print(f"| {pairs:,} | {' | '.join(cells)} |", flush=True)
        finally:
            endpoint.terminate()


if __name__ == "__main__":
    main()
