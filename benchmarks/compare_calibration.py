"""Does the statistics keep its promises? Simulated studies with a known truth, as Markdown tables.

python benchmarks/compare_calibration.py [--trials 4000] [--families 2000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks.compare_populations import BETTER, EQUAL, POPULATIONS, Population, draw, true_difference
from harness.compare.advice import NAMED_FROM, best_shares
from harness.compare.best_set import being_best
from harness.compare.family import holm, max_t
from harness.compare.interval import intervals
from harness.compare.power import queries_needed, simulated_power
from harness.compare.resample import bootstrap_means

SIZES = (20, 50, 200)
METHODS = ("guarded_t", "t", "percentile", "bca")
SETTINGS = 8
ALPHA = 0.05
SEED = 3


def coverage(population: Population, n: int, shift: float, trials: int, method: str) -> float:
    """The share of studies whose 95 % interval holds the true difference."""
    scores = draw(population, (EQUAL, shift), (trials, n), np.random.default_rng(SEED))
    low, high = intervals(scores[1] - scores[0], 1 - ALPHA, method, resamples=2_000)
    truth = true_difference(population, shift)
    return float(np.mean((low <= truth + 1e-12) & (truth <= high + 1e-12)))


def extra_width(population: Population, n: int, shift: float, trials: int) -> tuple[float, float]:
    """By what share ``guarded_t`` is wider than ``t``: in the median study, and in the mean width."""
    scores = draw(population, (EQUAL, shift), (trials, n), np.random.default_rng(SEED))
    difference = scores[1] - scores[0]
    width, plain = (high - low for low, high in (intervals(difference, 1 - ALPHA, m) for m in METHODS[:2]))
    known = plain > 0
    return float(np.median(width[known] / plain[known]) - 1), float(width.mean() / plain.mean() - 1)


def false_positives(population: Population, n: int, trials: int) -> tuple[float, float]:
    """How often the randomisation test finds a difference between equals: with the mid-p, and with t."""
    scores = draw(population, (EQUAL, EQUAL), (trials, n), np.random.default_rng(SEED))
    found = 0
    for first in range(0, trials, 1000):
        part = scores[:, first : first + 1000].reshape(-1, n)
        half = len(part) // 2
        p, _ = max_t(part, [(i, half + i) for i in range(half)], 10_000, SEED)
        found += int(np.sum(p <= ALPHA))
    low, high = intervals(scores[1] - scores[0], 1 - ALPHA, "t")
    return found / trials, float(np.mean((low > 0) | (high < 0)))


def family_errors(population: Population, n: int, shifts: tuple[float, ...], trials: int) -> dict[str, float]:
    """How often any pair of equals among all pairs is called different: without correction, Holm, max-T."""
    rng = np.random.default_rng(SEED)
    pairs = [(i, j) for i in range(len(shifts)) for j in range(i)]
    equal = np.array([shifts[i] == shifts[j] for i, j in pairs])
    found = dict.fromkeys(("none", "holm", "max_t"), 0)
    seen = {"holm": 0, "max_t": 0}
    for trial in range(trials):
        p, p_max = max_t(draw(population, shifts, (n,), rng), pairs, 2_000, trial)
        for name, values in (("none", p), ("holm", holm(p)), ("max_t", p_max)):
            found[name] += bool((values[equal] <= ALPHA).any())
            if name in seen:
                seen[name] += int(np.sum(values[~equal] <= ALPHA))
    rates = {name: count / trials for name, count in found.items()}
    unequal = max(1, int(np.sum(~equal)) * trials)
    return rates | {f"power_{name}": count / unequal for name, count in seen.items()}


def best_sets(
    population: Population, n: int, shifts: tuple[float, ...], trials: int
) -> tuple[float, float, float, float]:
    """How often the best set holds the best setting, its mean size, and the advice: named, named wrongly."""
    rng = np.random.default_rng(SEED)
    best = np.array(shifts) == min(shifts)
    held = size = named = wrong = 0
    for trial in range(trials):
        values = draw(population, shifts, (n,), rng)
        kept = being_best(values, 2_000, trial) > ALPHA
        held += bool(kept[best].all()) if best.sum() == 1 else bool(kept[np.flatnonzero(best)[0]])
        size += int(kept.sum())
        shares = best_shares(bootstrap_means(values, 1_000, trial))
        top = int(np.argmax(shares))
        named += bool(shares[top] >= NAMED_FROM)
        wrong += bool(shares[top] >= NAMED_FROM) and not best[top]
    return held / trials, size / trials, named / trials, wrong / trials


def false_alarms(population: Population, n: int, trials: int) -> tuple[float, float]:
    """How often the gate fails at 95 %: the true drop is just what is tolerated, and there is none."""
    scores = draw(population, (EQUAL, BETTER), (trials, n), np.random.default_rng(SEED))
    low, _ = intervals(scores[1] - scores[0], 1 - 2 * ALPHA)
    at_limit = float(np.mean(low > true_difference(population, BETTER)))
    scores = draw(population, (EQUAL, EQUAL), (trials, n), np.random.default_rng(SEED))
    low, _ = intervals(scores[1] - scores[0], 1 - 2 * ALPHA)
    return at_limit, float(np.mean(low > 0))


def power_at_needed(population: Population) -> tuple[int, float]:
    """The number of queries said to be needed for a known difference, and how often it is then seen."""
    scores = draw(population, (EQUAL, BETTER), (200_000,), np.random.default_rng(SEED))
    difference = scores[1] - scores[0]
    needed = int(queries_needed(difference[None, :])[0])
    return needed, simulated_power(difference, needed, trials=10_000)


def report(trials: int, families: int) -> Iterator[str]:
    """All tables, line by line."""
    yield "### Coverage of 95 % intervals of a mean difference\n"
    yield from table(
        ("queries", "truth", "n", *METHODS, "wider than t by", "mean"),
        (
            (
                p.name,
                "equal" if shift == EQUAL else "better",
                n,
                *(percent(coverage(p, n, shift, trials, m)) for m in METHODS),
                *(percent(extra) for extra in extra_width(p, n, shift, trials)),
            )
            for p in POPULATIONS
            for shift in (EQUAL, BETTER)
            for n in SIZES
        ),
    )
    yield "\n### False positives at 5 % between two equal settings\n"
    yield from table(
        ("queries", "n", "randomisation", "t"),
        ((p.name, n, *map(percent, false_positives(p, n, trials))) for p in POPULATIONS for n in SIZES),
    )
    yield f"\n### Any false finding among all pairs of {SETTINGS} settings at 5 %\n"
    truths = {"all equal": (EQUAL,) * SETTINGS, "half better": (EQUAL,) * 4 + (BETTER,) * 4}
    names = ("none", "holm", "max_t", "power_holm", "power_max_t")
    yield from table(
        ("queries", "truth", "n", *names),
        (
            (p.name, truth, n, *(percent(rates[name]) for name in names))
            for p in POPULATIONS
            for truth, shifts in truths.items()
            for n in SIZES
            for rates in [family_errors(p, n, shifts, families)]
        ),
    )
    yield f"\n### The set of {SETTINGS} settings that cannot be told from the best, and the advice\n"
    truths = {"all equal": (EQUAL,) * SETTINGS, "one better": (BETTER,) + (EQUAL,) * (SETTINGS - 1)}
    yield from table(
        ("queries", "truth", "n", "holds the best", "mean size", "named", "named wrongly"),
        (
            (p.name, truth, n, percent(held), f"{size:.1f}", percent(named), percent(wrong))
            for p in POPULATIONS
            for truth, shifts in truths.items()
            for n in SIZES
            for held, size, named, wrong in [best_sets(p, n, shifts, families)]
        ),
    )
    yield "\n### False alarms of the gate at 95 %\n"
    yield from table(
        ("queries", "n", "drop just tolerated", "no drop"),
        ((p.name, n, *map(percent, false_alarms(p, n, trials))) for p in POPULATIONS for n in SIZES),
    )
    yield "\n### Power at the number of queries said to be needed for 80 %\n"
    yield from table(
        ("queries", "needed", "power"),
        ((p.name, needed, percent(power)) for p in POPULATIONS for needed, power in [power_at_needed(p)]),
    )


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=4_000, help="studies of two settings a cell")
    parser.add_argument("--families", type=int, default=2_000, help="studies of several settings a cell")
    args = parser.parse_args()
    start = time.perf_counter()
    for line in report(args.trials, args.families):
        print(line, flush=True)
    print(f"\n{args.trials} and {args.families} studies a cell, {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
