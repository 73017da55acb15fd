"""How often `harness trend` calls chance a change in a year of daily looks, and how soon it shows a real one.

    python -m benchmarks.trend_alarms [--years 200] [--queries 20 100]

Years of 365 looks are drawn at random. Without a change, values are of fresh queries (right or wrong, or a
score of a beta distribution), or of a fixed set of queries that are asked anew every day and vary. With one,
the mean falls after 60 looks. Beside the test, the rule that looks at each day alone: the mean is three
standard errors away from that of the first 30 looks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from harness.comparison.change_test import Change, changes
from harness.measures import Floats

LOOKS, BEFORE, CELLS, START = 365, 60, 200, 30
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


def delay(shown: list[Change]) -> float:
    """How many looks after the first one with a lower mean the fall was shown; infinite where it was not."""
    falls = [
        change.shown - BEFORE for change in shown if change.direction == "fall" and change.shown >= BEFORE
    ]
    return min(falls, default=np.inf) + 1


def main() -> None:
    """Print the share of years with a false alarm, and the delays of falls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--years", type=int, default=200)
    parser.add_argument("--queries", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--falls", type=float, nargs="+", default=[0.05, 0.1, 0.2])
    args = parser.parse_args()
    print("| values | queries a day | years with a false alarm | by three sigmas |")
    print("|---|---:|---:|---:|")
    for name, draw in DRAWS.items():
        for queries in args.queries:
            rng = np.random.default_rng(7)
            alarms = sigmas = 0
            for _ in range(args.years):
                looks = year(draw, rng, queries)
                alarms += bool(changes(looks, cells=CELLS))
                sigmas += three_sigmas(looks)
            print(f"| {name} | {queries} | {alarms} of {args.years} | {sigmas} of {args.years} |", flush=True)
    print("\n| values | queries a day | fall | median looks until it is shown | shown within 100 |")
    print("|---|---:|---:|---:|---:|")
    for name, draw in DRAWS.items():
        for queries in args.queries:
            for fall in args.falls:
                rng = np.random.default_rng(11)
                years = [
                    year(draw, rng, queries, fall)[: BEFORE + 100] for _ in range(max(1, args.years // 4))
                ]
                delays = np.array([delay(changes(looks, cells=CELLS)) for looks in years])
                middle = np.median(delays)
                median = f"{middle:.0f}" if np.isfinite(middle) else "more than 100"
                share = np.isfinite(delays).mean()
                print(f"| {name} | {queries} | {fall:g} | {median} | {share:.0%} |", flush=True)


if __name__ == "__main__":
    main()
