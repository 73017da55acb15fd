"""What does it cost to follow the advice, and do its bounds hold? Simulated studies, as Markdown tables.

python -m benchmarks.compare_advice [--trials 300] [--tables regret equivalent]

Eight settings of known quality, each dearer than the one before it, are compared by 30, 50 and 135 questions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.compare_calibration import percent, table
from benchmarks.compare_populations import EQUAL, POPULATIONS, Population, draw, true_difference
from harness.comparison import Costs, Grounds, Options, ScoreMatrix, Verdict, conclude
from harness.comparison.advice import Advice, advise

SIZES = (30, 50, 135)
SEED = 3
RESAMPLES = 1_000
# Shifts of the settings, from the cheapest to the dearest: the less, the better (compare_populations.draw).
TRUTHS: Mapping[str, tuple[float, ...]] = {
    "all equal": (EQUAL,) * 8,
    "graded": (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65),
    "one better": (EQUAL,) * 7 + (0.6,),
    "far apart": (2.0, 1.7, 1.4, 1.2, 1.0, 0.9, 0.8, 0.7),
}
SHOWN = ((POPULATIONS[0], False), (POPULATIONS[3], False), (POPULATIONS[0], True))
# The questions are on so many documents, to which a setting's strengths and weaknesses belong in part.
DOCUMENTS, ALIKE = 24, 0.2


@dataclass(frozen=True, slots=True)
class Study:
    """A verdict, the true means of its settings, and their prices."""

    verdict: Verdict
    truth: Mapping[str, float]

    def loss(self, setting: str) -> float:
        """What following ``setting`` loses against the best of all."""
        return max(self.truth.values()) - self.truth[setting]

    @property
    def held(self) -> bool:
        """Whether no setting loses more than its bound to any other."""
        bounds = {one.setting: one.regret or 0.0 for one in self.verdict.standings}
        return all(self.loss(name) <= bound + 1e-9 for name, bound in bounds.items())

    @property
    def advice(self) -> Advice:
        """The advice, also where the verdict gives none as no setting is good enough."""
        verdict = self.verdict
        bounds = {one.setting: one.regret or 0.0 for one in verdict.standings}
        found = advise([*bounds], verdict.comparisons, bounds, verdict.costs.by_setting, {}, verdict.options)
        assert found is not None
        return found

    @property
    def bound(self) -> float:
        """What the setting to use loses at most."""
        return self.advice.regret

    @property
    def losses(self) -> tuple[float, float, float, float]:
        """What is lost by the leader, the advice, the cheaper setting if one is named, and the former rule.

        That was to take the cheapest setting that no other one is really better than.
        """
        verdict = self.verdict
        advice, prices = self.advice, verdict.costs.by_setting
        assert prices is not None
        assert verdict.leader is not None
        cheaper = advice.setting if advice.cheaper is None else advice.cheaper.setting
        left = [one.setting for one in verdict.standings if one.group != "out"]
        followed = (verdict.leader, advice.setting, cheaper, min(left, key=lambda name: prices[name]))
        one, two, three, four = map(self.loss, followed)
        return one, two, three, four


def studies(
    population: Population, shifts: Sequence[float], n: int, trials: int, clustered: bool = False
) -> Iterator[Study]:
    """Studies of ``n`` questions; the price of a setting rises with its place in ``shifts``.

    ``clustered``: a setting has strengths on some documents and weaknesses on others, which cancel out.
    """
    rng = np.random.default_rng(SEED)
    names = tuple(f"s{i}" for i in range(len(shifts)))
    truth = {name: true_difference(population, shift) for name, shift in zip(names, shifts, strict=True)}
    costs = Costs({name: float(i + 1) for i, name in enumerate(names)}, "tokens")
    documents = np.sort(np.arange(n) % DOCUMENTS)
    clusters = tuple(f"d{i}" for i in documents) if clustered else ()
    for trial in range(trials):
        values = draw(population, shifts, (n,), rng)
        if clustered:
            own = rng.normal(0, values.std() * np.sqrt(ALIKE), (len(names), DOCUMENTS))
            values = values + own[:, documents]
        matrix = ScoreMatrix(
            "ndcg_exp@10", names, tuple(map(str, range(n))), values, ("train",) * n, clusters
        )
        options = Options(resamples=RESAMPLES, seed=trial)
        yield Study(conclude(matrix, Grounds(costs=costs, options=options)), truth)


def regret_table(trials: int) -> Iterator[str]:
    """What following each rule loses; how often the bounds of all settings hold, and that of the advice."""
    yield "### What following a rule loses: mean, and in the worst 5 % of studies; and the bounds\n"
    rules = ("leader", "advice", "cheaper within 0.02", "cheapest not ruled out")
    yield from table(
        ("queries", "truth", "n", *rules, "bound of the advice", "all bounds hold"),
        (
            (
                f"{population.name}{f', {DOCUMENTS} documents' if clustered else ''}",
                truth,
                n,
                *(
                    f"{np.mean(losses):.3f}, {np.quantile(losses, 0.95):.3f}"
                    for losses in zip(*(one.losses for one in found), strict=True)
                ),
                f"{np.mean([one.bound for one in found]):.3f}",
                percent(float(np.mean([one.held for one in found]))),
            )
            for population, clustered in SHOWN
            for truth, shifts in TRUTHS.items()
            for n in SIZES
            for found in [list(studies(population, shifts, n, trials, clustered))]
        ),
    )


def equivalent_table(trials: int) -> Iterator[str]:
    """How often any pair that differs by the tolerance is called equivalent, and equal pairs."""
    yield "\n### Equivalence: a pair beyond the tolerance called equivalent in any; equal pairs called so\n"
    yield from table(
        ("queries", "n", "tolerance", "beyond it, called equivalent", "equal, called equivalent"),
        (
            (population.name, n, f"{tolerance:.3f}", percent(wrong), percent(right))
            for population in POPULATIONS
            for n in (135, 400, 1000)
            for tolerance in (true_difference(population, 0.8),)
            for wrong, right in [equivalence(population, n, tolerance, trials)]
        ),
    )


def equivalence(population: Population, n: int, tolerance: float, trials: int) -> tuple[float, float]:
    """How often any of several pairs is called equivalent that differs by ``tolerance``; and equal pairs."""
    rng = np.random.default_rng(SEED)
    shifts = (EQUAL, EQUAL, EQUAL, 0.8, 0.8, 0.8)
    names, wrong, right = tuple("abcdef"), 0, 0.0
    for trial in range(trials):
        matrix = ScoreMatrix(
            "ndcg_exp@10",
            names,
            tuple(map(str, range(n))),
            draw(population, shifts, (n,), rng),
            ("train",) * n,
        )
        found = conclude(
            matrix, Grounds(options=Options(resamples=RESAMPLES, seed=trial, tolerance=tolerance))
        )
        alike = {
            frozenset((one.setting, one.against)): one.finding == "equivalent" for one in found.comparisons
        }
        wrong += any(alike[frozenset((a, b))] for a in "abc" for b in "def")
        same = [pair for own in ("abc", "def") for pair in combinations(own, 2)]
        right += float(np.mean([alike[frozenset(pair)] for pair in same]))
    return wrong / trials, right / trials


TABLES = {"regret": regret_table, "equivalent": equivalent_table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=300, help="studies a cell")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), help="default: all")
    args = parser.parse_args()
    start = time.perf_counter()
    for name in args.tables:
        for line in TABLES[name](args.trials):
            print(line, flush=True)
    print(f"\n{args.trials} studies a cell, {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
