"""How often `harness trend` calls chance a change in a year of daily looks, and how soon it shows a real one.

    python -m benchmarks.trend_alarms [--years 200] [--queries 20 100] [--keep]

With --keep, what came out of every year goes to trend_alarms.json beside this file, row by row, and rows that
are there are not computed again: remove the file for that.

Years of 365 looks are drawn at random. Without a change, values are of fresh queries (right or wrong, or a
score of a beta distribution), or of a fixed set of queries that are asked anew every day and vary. With one,
the mean falls after 60 looks. Beside the test, the rule that looks at each day alone: the mean is three
standard errors away from that of the first 30 looks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from harness.comparison.change_test import Change, changes
from harness.measures import Floats

FILE = Path(__file__).with_suffix(".json")
LOOKS, BEFORE, WITHIN, CELLS, START = 365, 60, 100, 200, 30
Draw = Callable[[np.random.Generator, int, float], Floats]
"""The values of one day: so many queries, and by how much the mean has fallen."""


def binary(rng: np.random.Generator, queries: int, fall: float) -> Floats:
    """Right with probability 0.8."""
    return (rng.random(queries) < 0.8 - fall).astype(float)


def graded(rng: np.random.Generator, queries: int, fall: float) -> Floats:
    """In steps of 0.05, with a mean of about 0.8 and a standard deviation of 0.12."""
    mean = 0.8 - fall
    return np.round(rng.beta(10 * mean, 10 * (1 - mean), queries) * 20) / 20


def fixed(rng: np.random.Generator, queries: int, fall: float) -> Floats:
    """The same queries every day: half are always right, the others with probability 0.6."""
    sure = np.arange(queries) % 2 == 0
    return (rng.random(queries) < np.where(sure, 1.0, 0.6) - fall).astype(float)


DRAWS: dict[str, Draw] = {"right or wrong": binary, "graded": graded, "the same queries": fixed}


def year(draw: Draw, rng: np.random.Generator, queries: int, fall: float = 0.0) -> list[Floats]:
    """The values of each look; the mean is lower by ``fall`` from look ``BEFORE`` on."""
    return [draw(rng, queries, fall if place >= BEFORE else 0.0) for place in range(LOOKS)]


def three_sigmas(looks: list[Floats]) -> bool:
    """Whether a day after the first 30 is three standard errors away from their mean."""
    start = np.concatenate(looks[:START])
    means = np.array([values.mean() for values in looks[START:]])
    return bool((np.abs(means - start.mean()) > 3 * start.std(ddof=1) / np.sqrt(len(looks[0]))).any())


def delay(shown: list[Change]) -> int | None:
    """How many looks after the first one with a lower mean the fall was shown; None where it was not."""
    falls = [
        change.shown - BEFORE + 1 for change in shown if change.direction == "fall" and change.shown >= BEFORE
    ]
    return min(falls, default=None)


def false_alarms(name: str, queries: int, years: int) -> dict[str, Any]:
    """The numbers of the years without a change in which the test, and three errors, gave an alarm."""
    rng = np.random.default_rng(7)
    alarms, sigmas = [], []
    for number in range(years):
        looks = year(DRAWS[name], rng, queries)
        if changes(looks, cells=CELLS):
            alarms.append(number)
        if three_sigmas(looks):
            sigmas.append(number)
    return {"values": name, "queries": queries, "years": years, "alarms": alarms, "three_sigmas": sigmas}


def delays(name: str, queries: int, fall: float, years: int) -> dict[str, Any]:
    """The looks until a fall was shown, of each of so many years."""
    rng = np.random.default_rng(11)
    shown = [
        delay(changes(year(DRAWS[name], rng, queries, fall)[: BEFORE + WITHIN], cells=CELLS))
        for _ in range(years)
    ]
    return {"values": name, "queries": queries, "fall": fall, "years": years, "delays": shown}


def alarms_row(row: dict[str, Any]) -> str:
    """A row of the first table."""
    counts = (f"{len(row[column])} of {row['years']}" for column in ("alarms", "three_sigmas"))
    return f"| {row['values']} | {row['queries']} | {' | '.join(counts)} |"


def delays_row(row: dict[str, Any]) -> str:
    """A row of the second table."""
    looks = np.array([np.inf if look is None else look for look in row["delays"]])
    middle = np.median(looks)
    median = f"{middle:.0f}" if np.isfinite(middle) else f"more than {WITHIN}"
    share = np.isfinite(looks).mean()
    return f"| {row['values']} | {row['queries']} | {row['fall']:g} | {median} | {share:.0%} |"


class Kept:
    """The rows that were computed, in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows = json.loads(path.read_text("utf-8")) if path and path.is_file() else []

    def row(self, compute: Callable[..., dict[str, Any]], **given: Any) -> dict[str, Any]:
        """The row of these parameters, from the file or computed and added to it."""
        measured = "alarms" if compute is false_alarms else "delays"
        there = {"values": given["name"], **{key: given[key] for key in given if key != "name"}}
        for row in self._rows:
            if measured in row and there.items() <= row.items():
                return row
        row = compute(**given)
        self._rows.append(row)
        if self._path:
            lines = ",\n ".join(json.dumps(row) for row in self._rows)
            self._path.write_text(f"[{lines}]\n", encoding="utf-8")
        return row


def main() -> None:
    """Print the share of years with a false alarm, and the delays of falls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--years", type=int, default=200)
    parser.add_argument("--queries", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--falls", type=float, nargs="+", default=[0.05, 0.1, 0.2])
    parser.add_argument("--keep", action="store_true", help=f"keep every year in {FILE.name}")
    args = parser.parse_args()
    kept = Kept(FILE if args.keep else None)
    print("| values | queries a day | years with a false alarm | by three sigmas |")
    print("|---|---:|---:|---:|")
    for name in DRAWS:
        for queries in args.queries:
            row = kept.row(false_alarms, name=name, queries=queries, years=args.years)
            print(alarms_row(row), flush=True)
    print("\n| values | queries a day | fall | median looks until it is shown | shown within 100 |")
    print("|---|---:|---:|---:|---:|")
    years = max(1, args.years // 4)
    for name in DRAWS:
        for queries in args.queries:
            for fall in args.falls:
                row = kept.row(delays, name=name, queries=queries, fall=fall, years=years)
                print(delays_row(row), flush=True)


if __name__ == "__main__":
    main()
