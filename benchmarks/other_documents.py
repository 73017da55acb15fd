"""The share of high ranks that go to documents without relevant text for the query.

    python -m benchmarks.other_documents results/study_chunking

Reads rankings.csv and judgments.csv of a result. A share near 1 − 1/documents is what chance would give.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path

DEPTH = 10


def relevant_documents(folder: Path) -> dict[str, set[str]]:
    """The documents with text of grade 1 or more, by query."""
    found: dict[str, set[str]] = defaultdict(set)
    with (folder / "judgments.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["grade"] not in ("", "0"):
                found[row["query_id"]].add(row["document"])
    return found


def shares(folder: Path, depth: int = DEPTH) -> dict[tuple[str, str], tuple[float, float]]:
    """By setting and stage: the share of the first ``depth`` ranks, and of the queries' first ranks alone."""
    relevant = relevant_documents(folder)
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    with (folder / "rankings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rank, query = int(row["rank"]), row["query_id"]
            if rank > depth or query not in relevant:
                continue
            other = row["document"] not in relevant[query]
            seen = counts[row["setting"], row["stage"]]
            seen[0] += other
            seen[1] += 1
            if rank == 1:
                seen[2] += other
                seen[3] += 1
    return {key: (a / b, c / d) for key, (a, b, c, d) in counts.items()}


def main() -> None:
    """Print one line per setting and stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    folder = parser.parse_args().results
    print(f"| setting | stage | first {DEPTH} ranks | first rank |\n|---|---|---:|---:|")
    for (setting, stage), (ranks, first) in shares(folder).items():
        print(f"| {setting} | {stage} | {ranks:.0%} | {first:.0%} |")


if __name__ == "__main__":
    main()
