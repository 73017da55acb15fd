"""Do the queries that are said to be needed show the difference in 80 % of studies? As a Markdown table.

python -m benchmarks.compare_needed [--trials 400]

A first study says how many queries on how many documents would show a difference. A second one, with another
draw, has as many: on new documents, or on those of the first study alone where a number is stated for them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

import numpy as np

from benchmarks.compare_calibration import ALPHA, percent, table
from benchmarks.compare_clusters import SPREAD, UNEQUAL, named
from harness.comparison.joint_test import Decided, decide
from harness.comparison.needed import Needed, needed_for
from harness.comparison.stats import Units, units_of

SEED = 3
RESAMPLES = 400
DESIGNS: dict[str, tuple[int, ...]] = {
    "8 × 16": (16,) * 8,
    "14 × 9": (9,) * 14,
    "30 × 4": (4,) * 30,
    "24 of 1 to 15": UNEQUAL,
}
CORRELATIONS = (0.0, 0.1, 0.3)
DIFFERENCES = (0.04, 0.06)


@dataclass
class Power:
    """What was stated in a cell, and how often the difference was then seen."""

    queries: list[int] = field(default_factory=list)
    clusters: list[int] = field(default_factory=list)
    grown: list[bool] = field(default_factory=list)
    same: list[int] = field(default_factory=list)
    not_grown: list[bool] = field(default_factory=list)


def differences(
    rng: np.random.Generator, sizes: Sequence[int], documents: np.ndarray, alike: float, difference: float
) -> np.ndarray:
    """A difference for every query: the true one, what its document adds, and what is its own."""
    of, _ = named(sizes)
    queries = np.sqrt(1 - alike) * rng.standard_normal(len(of))
    return difference + SPREAD * (np.sqrt(alike) * documents[of] + queries)


def tested(row: np.ndarray, sizes: Sequence[int], seed: int) -> tuple[Decided, Units]:
    """The test of one difference, by the rule of a verdict."""
    units = units_of(named(sizes)[1], len(row))
    pair = np.stack([row, np.zeros(len(row))])
    return decide(pair, [(0, 1)], units, 1 - ALPHA, RESAMPLES, seed), units


def scaled(sizes: Sequence[int], queries: int) -> list[int]:
    """Documents with as many queries in all, sized like these."""
    share = queries / sum(sizes)
    return [max(1, round(size * share)) for size in sizes]


def power(sizes: Sequence[int], alike: float, difference: float, trials: int) -> Power:
    """What is stated after a first study, and what a second one of that size sees."""
    rng, found = np.random.default_rng(SEED), Power()
    for trial in range(trials):
        documents = rng.standard_normal(len(sizes))
        row = differences(rng, sizes, documents, alike, difference)
        first, units = tested(row, sizes, trial)
        needed = needed_for(difference, row, float(first.error[0]), first.critical, units)
        if needed is None:
            continue
        found.queries.append(needed.queries)
        found.clusters.append(needed.clusters)
        found.grown.append(_seen_on_new(rng, sizes, needed, alike, trial))
        if needed.same is not None:
            found.same.append(needed.same)
            more = scaled(sizes, needed.same)
            again = differences(rng, more, documents, alike, difference)
            found.not_grown.append(bool(tested(again, more, trial)[0].p[0] <= ALPHA))
    return found


def _seen_on_new(
    rng: np.random.Generator, sizes: Sequence[int], needed: Needed, alike: float, seed: int
) -> bool:
    """Whether as many queries on as many new documents as are needed show the difference."""
    drawn = rng.choice(np.array(sizes), size=max(2, needed.clusters)).tolist()
    grown = scaled(drawn, needed.queries)
    row = differences(rng, grown, rng.standard_normal(len(grown)), alike, needed.difference)
    return bool(tested(row, grown, seed)[0].p[0] <= ALPHA)


def rows(trials: int) -> Iterator[tuple[object, ...]]:
    """A row a cell, and one of all studies together."""
    every = Power()
    for design, sizes in DESIGNS.items():
        for alike in CORRELATIONS:
            for difference in DIFFERENCES:
                cell = power(sizes, alike, difference, trials)
                every.grown += cell.grown
                every.not_grown += cell.not_grown
                yield (
                    design,
                    alike,
                    difference,
                    f"{median(cell.queries):.0f} on {median(cell.clusters):.0f}",
                    percent(fmean(cell.grown)),
                    percent(len(cell.same) / trials),
                    f"{median(cell.same):.0f}" if cell.same else "–",
                    percent(fmean(cell.not_grown)) if len(cell.same) >= trials / 10 else "–",
                )
    studies = trials * len(DESIGNS) * len(CORRELATIONS) * len(DIFFERENCES)
    share = percent(len(every.not_grown) / studies)
    yield "all", "", "", "", percent(fmean(every.grown)), share, "", percent(fmean(every.not_grown))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=400, help="studies a cell")
    args = parser.parse_args()
    start = time.perf_counter()
    head = ("documents", "ICC", "difference", "needed", "power", "stated for the same", "needed on these")
    for line in table((*head, "power on these"), rows(args.trials)):
        print(line, flush=True)
    print(f"\n{args.trials} studies a cell, {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
