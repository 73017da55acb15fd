"""The losses of one setting by kind of question: the column `type` of the queries.

    python -m benchmarks.losses_by_type results/study_filters SETTING

Reads waterfall.csv and queries.csv of a result. Losses are in units of the measure that waterfall.csv names.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter, defaultdict
from pathlib import Path


def losses(folder: Path, setting: str) -> tuple[dict[str, dict[str, float]], Counter[str]]:
    """By type, the mean loss of each part and what is `left`; and how many queries each type has."""
    with (folder / "queries.csv").open(encoding="utf-8", newline="") as file:
        kind = {row["query_id"]: row["type"] or "(no type)" for row in csv.DictReader(file)}
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    last: dict[str, float] = {}
    with (folder / "waterfall.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["setting"] == setting and "." not in row["step"]:
                part = row["step"] if row["part"] == "change" else row["part"]
                sums[kind[row["query_id"]]][part] += float(row["loss"])
                last[row["query_id"]] = float(row["left"])
    count = Counter(kind[query_id] for query_id in last)
    for query_id, left in last.items():
        sums[kind[query_id]]["left"] += left
    means = {
        name: {part: total / count[name] for part, total in parts.items()} for name, parts in sums.items()
    }
    return means, count


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("setting")
    args = parser.parse_args()
    means, count = losses(args.folder, args.setting)
    if not means:
        parser.error(f"{args.folder} has no setting {args.setting!r}")
    parts = list(next(iter(means.values())))
    print(f"| type | queries | {' | '.join(parts)} |")
    print(f"|---|---:|{'---:|' * len(parts)}")
    for name in sorted(means):
        print(f"| {name} | {count[name]} | {' | '.join(f'{means[name][part]:.3f}' for part in parts)} |")


if __name__ == "__main__":
    main()
