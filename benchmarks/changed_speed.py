"""The time of a run after a small change, all else in the cache, and of one setting more in a sweep of ten.

python benchmarks/changed_speed.py [--repeats 3] [--config CONFIG] [--more FILE ...]

`labels`: one grade of the label file is another; `measures`: one measure is left out; `split`: one question
is in the other split. Each run makes another such change and is compared with `bench --again`; the fastest
of each counts. The sweep cuts the documents of the configuration (if none is named, the quickstart's) and
those of `--more` in ten sizes and searches them by vectors, with a fresh cache; then an eleventh size is
added. CPU seconds leave out what other work on the machine takes.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
SIZES = range(300, 1400, 100)
MODEL = "embedded:all-MiniLM-L6-v2"

Change = Callable[[dict[str, Any], Path, int], dict[str, Any]]
"""A configuration, a folder for files and the number of the change → what is other in the configuration."""


def other_labels(config: dict[str, Any], folder: Path, number: int) -> dict[str, Any]:
    """One grade changed."""
    return {"labels": _table(config["labels"], folder / "labels.csv", number, "grade", ("1", "2"))}


def other_measures(config: dict[str, Any], folder: Path, number: int) -> dict[str, Any]:
    """One measure left out, the first never: verdicts go by it."""
    out = 1 + number % (len(config["measures"]) - 1)
    return {"measures": [one for at, one in enumerate(config["measures"]) if at != out]}


def other_split(config: dict[str, Any], folder: Path, number: int) -> dict[str, Any]:
    """One question in the other split."""
    sides = ("train", "validation")
    return {"queries": _table(config["queries"], folder / "queries.csv", number, "split", sides)}


CHANGES: dict[str, Change] = {"labels": other_labels, "measures": other_measures, "split": other_split}


def _table(source: str, path: Path, number: int, column: str, values: tuple[str, str]) -> str:
    """A copy of a table with another value in one row."""
    with (ROOT / source).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    row = rows[number % len(rows)]
    row[column] = values[row[column] == values[0]]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def written(config: dict[str, Any], folder: Path) -> Path:
    """The configuration in a file, with results of its own."""
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({**config, "results": str(folder / "results")}), encoding="utf-8")
    return path


def print_changes(config: dict[str, Any], folder: Path, repeats: int) -> None:
    """A row for `bench --again`, and one for each kind of change."""
    from benchmarks.again_speed import timed

    taken: dict[str, list[tuple[float, float]]] = {}
    timed(("bench",), written(config, folder))
    for number in range(repeats):
        taken.setdefault("nothing (`bench --again`)", []).append(
            timed(("bench", "--again"), written(config, folder))
        )
        for name, change in CHANGES.items():
            path = written(config | change(config, folder, number), folder)
            taken.setdefault(name, []).append(timed(("bench",), path))
    print("| changed | seconds | CPU seconds |\n|---|--:|--:|")
    for name, costs in taken.items():
        seconds, cpu = (min(values) for values in zip(*costs, strict=True))
        print(f"| {name} | {seconds:.1f} | {cpu:.1f} |", flush=True)


def print_sweep(source: dict[str, Any], more: list[Path], folder: Path) -> None:
    """The cost of a sweep of ten chunk sizes with a fresh cache, and of one size more."""
    from benchmarks.again_speed import timed

    config: dict[str, Any] = {
        "name": "sweep",
        "documents": [*source["documents"], *(str(path.resolve()) for path in more)],
        **{name: source[name] for name in ("queries", "labels")},
        "retrieve": {"kind": "exact", "model": MODEL, "top_k": 20},
        "cache": str(folder / "cache"),
        "on_bad_document": "fail",
    }
    costs = []
    for sizes in (SIZES[:10], SIZES):
        config["chunk"] = {"kind": "recursive", "chunk_size": list(sizes), "chunk_overlap": 0}
        costs.append(timed(("bench",), written(config, folder)))
    (seconds, cpu), (more, more_cpu) = costs
    print("\n| sweep | seconds | CPU seconds |\n|---|--:|--:|")
    print(f"| ten chunk sizes, fresh cache | {seconds:.1f} | {cpu:.1f} |")
    print(f"| an eleventh | {more:.1f} | {more_cpu:.1f} |")
    print(f"| times less | {seconds / more:.1f} | {cpu / more_cpu:.1f} |")


def main() -> None:
    """Measure, and print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--config", type=Path, default=Path("configs/quickstart.yaml"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--more", nargs="+", type=Path, default=[], metavar="FILE")
    args = parser.parse_args()
    config = yaml.safe_load(args.config.read_text(encoding="utf-8"))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores before, fastest of {args.repeats}\n")
    with tempfile.TemporaryDirectory() as folder:
        print_changes(config, Path(folder), args.repeats)
        print_sweep(config, args.more, Path(folder))


if __name__ == "__main__":
    main()
