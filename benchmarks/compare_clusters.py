"""Questions on one document are alike: do tests by clusters hold their levels? As Markdown tables.

python -m benchmarks.compare_clusters [--trials 2000] [--tables pairs few coarse gate skew]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.compare_calibration import ALPHA, RESAMPLES, percent, table
from harness.comparison.joint_test import bound_below, decide
from harness.comparison.paired import bounds_of_means
from harness.comparison.stats import Units, icc, units_of, whole_clusters

Draw = Callable[[np.random.Generator, np.ndarray, float], np.ndarray]
Testing = Callable[[Sequence[str]], Units]
SEED = 3
SPREAD = 0.2
SHIFT = 0.1
# 24 documents of 1 to 15 questions; 104 in all, worth 14.2 documents of equal size
UNEQUAL = (1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 8, 10, 12, 15)
DESIGNS: dict[str, tuple[int, ...]] = {
    "24 × 3": (3,) * 24,
    "10 × 15": (15,) * 10,
    "24 of 1 to 15": UNEQUAL,
    "50 × 2": (2,) * 50,
    "4 × 25": (25,) * 4,
}
# 28 documents of 1 to 30 questions; 103 in all, worth 7.6 documents of equal size
LOPSIDED = (30, 14, 11, 9, 6, 4, 4, 3, 2, 2) + (1,) * 18
# Around the fewest documents that carry a test.
FEW: dict[str, tuple[int, ...]] = {
    "9 × 8": (8,) * 9,
    "28 of 1 to 30": LOPSIDED,
    "28 of 1 to 37": (37, 15, 9, 6, 5, 4, 3, 3, 2) + (1,) * 19,
    "8 × 10": (10,) * 8,
    "6 × 10": (10,) * 6,
    "6 × 25": (25,) * 6,
    "5 × 20": (20,) * 5,
    "4 × 25": (25,) * 4,
}
CORRELATIONS = (0.0, 0.2, 0.5)
SMALL = (8, 11, 20, 30, 50, 100, 200)


def normal(rng: np.random.Generator, of: np.ndarray, alike: float) -> np.ndarray:
    """Differences with an intraclass correlation ``alike``; ``of`` says which cluster a query is in."""
    shared = rng.standard_normal(of.max() + 1)[of]
    return SPREAD * (np.sqrt(alike) * shared + np.sqrt(1 - alike) * rng.standard_normal(len(of)))


def coarse(rng: np.random.Generator, of: np.ndarray, alike: float) -> np.ndarray:
    """The same on a grid of quarters, so that two of three queries tie."""
    return np.round(2 * normal(rng, of, alike) / SPREAD / 2) / 4


def skewed(rng: np.random.Generator, of: np.ndarray, alike: float) -> np.ndarray:
    """+0.45 on a tenth of the queries, -0.05 on the rest: a mean of 0; ``alike`` is not used."""
    return np.where(rng.random(len(of)) < 0.1, 0.45, -0.05)


def named(sizes: Sequence[int]) -> tuple[np.ndarray, list[str]]:
    """The cluster of every query, as a number and as a name."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    return of, [f"d{i}" for i in of]


def by_queries(names: Sequence[str]) -> Units:
    """Every query for itself."""
    return units_of((), len(names))


def by_the_rule(names: Sequence[str]) -> Units:
    """As a verdict tests: by clusters if they are enough."""
    return units_of(names, len(names))


def study(
    sizes: Sequence[int],
    alike: float,
    shift: float,
    trials: int,
    draws: Draw = normal,
    how: Testing = by_the_rule,
) -> tuple[float, float]:
    """The share of studies that call the difference real, and whose interval holds the true ``shift``."""
    rng = np.random.default_rng(SEED)
    of, names = named(sizes)
    units = how(names)
    real = held = 0
    for trial in range(trials):
        row = draws(rng, of, alike) + shift
        found = decide(np.stack([row, np.zeros(len(of))]), [(0, 1)], units, 1 - ALPHA, RESAMPLES, trial)
        real += bool(found.p[0] <= ALPHA)
        held += bool(found.low[0] <= shift <= found.high[0])
    return real / trials, held / trials


def gate_fails(sizes: Sequence[int], alike: float, trials: int, how: Testing = by_the_rule) -> float:
    """How often the gate fails although the true drop is just what is tolerated."""
    rng = np.random.default_rng(SEED)
    of, names = named(sizes)
    units = how(names)
    rows = (normal(rng, of, alike) + 0.02 for _ in range(trials))
    return (
        sum(bound_below(row, 0.02, units, ALPHA, RESAMPLES, k)[1] <= ALPHA for k, row in enumerate(rows))
        / trials
    )


def mean_covered(sizes: Sequence[int], alike: float, trials: int) -> float:
    """How often the interval of one mean of scores in [0, 1] holds the truth, 0.5."""
    rng = np.random.default_rng(SEED)
    of, names = named(sizes)
    units = units_of(names, len(of))
    rows = np.stack([np.clip(0.5 + normal(rng, of, alike), 0, 1) for _ in range(trials)])
    low, high = bounds_of_means(rows, units, 1 - ALPHA)
    return float(np.mean((low <= 0.5) & (high >= 0.5)))


def found_icc(sizes: Sequence[int], alike: float, trials: int) -> float:
    """The mean of the estimated intraclass correlation, negative ones cut to 0."""
    rng = np.random.default_rng(SEED)
    of, names = named(sizes)
    return float(np.mean([icc(normal(rng, of, alike), names) or 0.0 for _ in range(min(trials, 1000))]))


def pairs_table(trials: int) -> Iterator[str]:
    """One pair: how often equals are called different, and what the intervals cover."""
    yield "### Clusters: one pair\n"
    head = ("design", "ICC", "by queries", "by the rule", "covered")
    yield from table(
        (*head, f"covered at {SHIFT:g}", "real at it", "ICC found"),
        (
            (
                name,
                alike,
                percent(study(sizes, alike, 0.0, trials, how=by_queries)[0]),
                *map(percent, study(sizes, alike, 0.0, trials)),
                *(percent(x) for x in reversed(study(sizes, alike, SHIFT, trials))),
                f"{found_icc(sizes, alike, trials):.2f}",
            )
            for name, sizes in DESIGNS.items()
            for alike in CORRELATIONS
        ),
    )


def few_table(trials: int) -> Iterator[str]:
    """How few clusters still carry a test: errors and power by queries, and by clusters however few."""
    yield "\n### Few clusters: equals called different, and a difference of half a standard deviation found\n"
    yield from table(
        (
            "design",
            "worth",
            "ICC",
            "by queries",
            "by clusters",
            f"covered at {SHIFT:g}",
            "real at it",
            "gate",
        ),
        (
            (
                name,
                f"{whole_clusters(named(sizes)[1]).effective:.1f}",
                alike,
                percent(study(sizes, alike, 0.0, trials, how=by_queries)[0]),
                percent(study(sizes, alike, 0.0, trials, how=whole_clusters)[0]),
                *(percent(x) for x in reversed(study(sizes, alike, SHIFT, trials, how=whole_clusters))),
                percent(gate_fails(sizes, alike, trials, whole_clusters)),
            )
            for name, sizes in FEW.items()
            for alike in CORRELATIONS
        ),
    )


def coarse_table(trials: int) -> Iterator[str]:
    """The same with many ties."""
    yield "\n### Clusters: coarse differences, two of three tied\n"
    yield from table(
        ("design", "ICC", "by queries", "by the rule", "covered"),
        (
            (
                name,
                alike,
                percent(study(sizes, alike, 0.0, trials, coarse, by_queries)[0]),
                *map(percent, study(sizes, alike, 0.0, trials, coarse)),
            )
            for name, sizes in list(DESIGNS.items())[:1]
            for alike in CORRELATIONS
        ),
    )


def gate_table(trials: int) -> Iterator[str]:
    """The gate, and the interval of one mean."""
    yield "\n### Clusters: the gate, drop just tolerated; and the interval of one mean\n"
    yield from table(
        ("design", "ICC", "gate by queries", "gate by the rule", "mean covered"),
        (
            (
                name,
                alike,
                percent(gate_fails(sizes, alike, trials, by_queries)),
                percent(gate_fails(sizes, alike, trials)),
                percent(mean_covered(sizes, alike, trials)),
            )
            for name, sizes in list(DESIGNS.items())[:3]
            for alike in CORRELATIONS
        ),
    )


def skew_table(trials: int) -> Iterator[str]:
    """Equal means with skewed differences."""
    yield "\n### Skewed differences between equals, by n\n"
    yield from table(
        ("n", "called real", "covered", "no rare query in the sample"),
        ((n, *map(percent, study((1,) * n, 0, 0.0, trials, skewed)), percent(0.9**n)) for n in SMALL),
    )


TABLES = {
    "pairs": pairs_table,
    "few": few_table,
    "coarse": coarse_table,
    "gate": gate_table,
    "skew": skew_table,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2_000, help="studies a cell")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="default: all")
    args = parser.parse_args()
    start = time.perf_counter()
    for name in args.tables:
        for line in TABLES[name](args.trials):
            print(line, flush=True)
    print(f"\n{args.trials} studies a cell, {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
