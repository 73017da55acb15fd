"""Do the tests and intervals hold their levels? Simulated studies with a known truth, as Markdown tables.

python -m benchmarks.compare_calibration [--trials 1500] [--tables coverage pair families gate power]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks.compare_intervals import intervals
from benchmarks.compare_populations import BETTER, EQUAL, POPULATIONS, Population, draw, true_difference
from harness.comparison.joint_test import Decided, bound_below, decide
from harness.comparison.needed import needed_for
from harness.comparison.stats import Units, units_of

SIZES = (20, 50, 200)
METHODS = ("guarded_t", "t", "percentile", "bca")
SETTINGS = 8
ALPHA = 0.05
SEED = 3
RESAMPLES = 1_000
FEWEST = 30
DIFFERENCE = 0.05
PILOT = 60


def queries(n: int) -> Units:
    """N queries, each for itself."""
    return units_of((), n)


def coverage(population: Population, n: int, shift: float, trials: int, method: str) -> float:
    """The share of studies whose 95 % interval of one mean difference holds the truth, without any test."""
    scores = draw(population, (EQUAL, shift), (trials, n), np.random.default_rng(SEED))
    low, high = intervals(scores[1] - scores[0], 1 - ALPHA, method, resamples=2_000)
    truth = true_difference(population, shift)
    return float(np.mean((low <= truth + 1e-12) & (truth <= high + 1e-12)))


def pair(population: Population, n: int, shift: float, trials: int) -> tuple[float, float]:
    """For one pair: the share of studies that call it real, and whose interval holds the truth."""
    scores = draw(population, (EQUAL, shift), (trials, n), np.random.default_rng(SEED))
    truth, units = true_difference(population, shift), queries(n)
    real = held = 0
    for trial in range(trials):
        found = decide(scores[:, trial], [(1, 0)], units, 1 - ALPHA, RESAMPLES, trial)
        real += bool(found.p[0] <= ALPHA)
        held += bool(found.low[0] <= truth + 1e-12 and truth <= found.high[0] + 1e-12)
    return real / trials, held / trials


def families(population: Population, n: int, shifts: tuple[float, ...], trials: int) -> dict[str, float]:
    """The same for all pairs of settings together.

    ``any``: a pair of equals is called real; ``covered``: all intervals hold their truths; ``power``: the
    share of different pairs called real; ``alone``: a pair of equals is called real if each is tested alone;
    ``lost``: a best setting is ruled out; ``left``: how many settings are not ruled out; ``named``: one is
    called best; ``wrong``: and it is none of the best.
    """
    rng, units = np.random.default_rng(SEED), queries(n)
    pairs = [(i, j) for i in range(len(shifts)) for j in range(i)]
    truths = np.array([true_difference(population, s) for s in shifts])
    gap = np.array([truths[i] - truths[j] for i, j in pairs])
    best = truths >= truths.max() - 1e-12
    names = ("any", "covered", "power", "alone", "lost", "left", "named", "wrong")
    out = dict.fromkeys(names, 0.0)
    for trial in range(trials):
        values = draw(population, shifts, (n,), rng)
        found = decide(values, pairs, units, 1 - ALPHA, RESAMPLES, trial)
        real = found.p <= ALPHA
        beaten = {j if found.difference[k] > 0 else i for k, (i, j) in enumerate(pairs) if real[k]}
        left = [i for i in range(len(shifts)) if i not in beaten]
        low, high = intervals(np.stack([values[i] - values[j] for i, j in pairs]), 1 - ALPHA)
        out["any"] += bool(real[gap == 0].any())
        out["covered"] += bool(((found.low <= gap + 1e-9) & (gap <= found.high + 1e-9)).all())
        out["power"] += float(real[gap != 0].mean()) if (gap != 0).any() else 0.0
        out["alone"] += bool(((low > 0) | (high < 0))[gap == 0].any())
        out["lost"] += bool(best[list(beaten)].any()) if beaten else False
        out["left"] += len(left)
        out["named"] += len(left) == 1
        out["wrong"] += len(left) == 1 and not best[left[0]]
    return {name: total / trials for name, total in out.items()}


def false_alarms(population: Population, n: int, trials: int) -> tuple[float, float]:
    """How often the gate fails at 95 %: the true drop is just what is tolerated, and there is none."""
    rates = []
    for shift in (BETTER, EQUAL):
        scores = draw(population, (EQUAL, shift), (trials, n), np.random.default_rng(SEED))
        allowed, units = true_difference(population, shift), queries(n)
        rows = scores[1] - scores[0]
        failed = (bound_below(row, allowed, units, ALPHA, RESAMPLES, k)[1] for k, row in enumerate(rows))
        rates.append(sum(p <= ALPHA for p in failed) / trials)
    return rates[0], rates[1]


def power_at_needed(population: Population, trials: int) -> tuple[int, float]:
    """Queries said to be needed to show a difference of 0.05, and how often one of that size is then seen.

    A first study of 60 queries says how many, of which the median is returned; a second one has as many.
    The spread is that between two equal settings, and the difference is added to a query's score.
    """
    scores = draw(population, (EQUAL, EQUAL), (200_000,), np.random.default_rng(SEED))
    difference = scores[1] - scores[0]
    rng, counts, seen = np.random.default_rng(SEED + 1), list[int](), 0

    def tested(n: int, seed: int) -> tuple[np.ndarray, Decided]:
        row = rng.choice(difference, size=n) - difference.mean() + DIFFERENCE
        return row, decide(np.stack([row, np.zeros(n)]), [(0, 1)], queries(n), 1 - ALPHA, RESAMPLES, seed)

    for trial in range(trials):
        row, first = tested(PILOT, trial)
        needed = needed_for(DIFFERENCE, row, float(first.error[0]), first.critical, queries(PILOT))
        assert needed is not None
        counts.append(needed.queries)
        seen += bool(tested(needed.queries, trial)[1].p[0] <= ALPHA)
    return int(np.median(counts)), seen / trials


def coverage_table(trials: int) -> Iterator[str]:
    """Intervals of one mean difference, by method."""
    yield "### Coverage of 95 % intervals of a mean difference, by method\n"
    yield from table(
        ("queries", "truth", "n", *METHODS),
        (
            (
                p.name,
                "equal" if shift == EQUAL else "better",
                n,
                *(percent(coverage(p, n, shift, trials, m)) for m in METHODS),
            )
            for p in POPULATIONS
            for shift in (EQUAL, BETTER)
            for n in SIZES
        ),
    )


def pair_table(trials: int) -> Iterator[str]:
    """One pair by the rule."""
    yield "### One pair: called real, and covered\n"
    yield from table(
        ("queries", "n", "equal, called real", "equal, covered", "better, called real", "better, covered"),
        (
            (p.name, n, *(percent(x) for shift in (EQUAL, BETTER) for x in pair(p, n, shift, trials)))
            for p in POPULATIONS
            for n in (FEWEST, 50, 200)
        ),
    )


def family_table(trials: int) -> Iterator[str]:
    """All pairs of several settings."""
    yield f"### All pairs of {SETTINGS} settings\n"
    truths = {
        "all equal": (EQUAL,) * SETTINGS,
        "half better": (EQUAL,) * 4 + (BETTER,) * 4,
        "one better": (BETTER,) + (EQUAL,) * (SETTINGS - 1),
    }
    names = ("alone", "any", "covered", "power", "lost", "named", "wrong")
    yield from table(
        ("queries", "truth", "n", *names, "left"),
        (
            (p.name, truth, n, *(percent(rates[name]) for name in names), f"{rates['left']:.1f}")
            for p in POPULATIONS
            for truth, shifts in truths.items()
            for n in (FEWEST, 50, 200)
            for rates in [families(p, n, shifts, trials)]
        ),
    )


def gate_table(trials: int) -> Iterator[str]:
    """The gate's false alarms."""
    yield "### False alarms of the gate at 95 %\n"
    yield from table(
        ("queries", "n", "drop just tolerated", "no drop"),
        ((p.name, n, *map(percent, false_alarms(p, n, trials))) for p in POPULATIONS for n in SIZES),
    )


def power_table(trials: int) -> Iterator[str]:
    """Whether the queries said to be needed are enough."""
    yield f"### Power at the number of queries said to show a difference of {DIFFERENCE:g} in 80 %\n"
    yield from table(
        ("queries", "needed", "power"),
        ((p.name, n, percent(power)) for p in POPULATIONS for n, power in [power_at_needed(p, trials)]),
    )


TABLES = {
    "coverage": coverage_table,
    "pair": pair_table,
    "families": family_table,
    "gate": gate_table,
    "power": power_table,
}


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """A Markdown table, row by row."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def percent(share: float) -> str:
    """A share in per cent, with one decimal."""
    return f"{100 * share:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1_500, help="studies a cell")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="default: all")
    args = parser.parse_args()
    start = time.perf_counter()
    for name in args.tables:
        for line in TABLES[name](args.trials):
            print(line, flush=True)
        print()
    print(f"{args.trials} studies a cell, {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
