"""Do judge-corrected intervals cover as stated? Coverage and width over many simulated evaluations.

    python -m benchmarks.judge_coverage [--trials 2000]

Scores look like NDCG: coarse, tied between settings, often zero (compare_populations.py). On a share of the
queries people find nothing relevant, and the judge may; on others the judge finds nothing. The truth is the
mean over the queries in which people find something. Trials with fewer than 10 such labelled queries, which
are refused, are not counted. One line per case; everything follows from the seed.
"""

import argparse
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.compare_populations import BETTER, EQUAL, POPULATIONS, Population, draw, true_difference
from harness.judge.corrected import FEWEST, corrected_difference, corrected_mean

RARE = Population("90 % ties, 23 % zeros", 0.87, 0.1)
SIZES = ((20, 200), (50, 500))


@dataclass(frozen=True)
class Judge:
    """``right``: the share of queries scored as people would; the others are scored leniently, by chance.

    ``invents``: the share of unanswerable queries in which the judge finds something; ``misses``: that of
    the answerable ones in which it finds nothing, and twice that where the first setting scores 0.
    """

    name: str
    right: float
    invents: float
    misses: float


GOOD = Judge("good judge", 0.8, 0.2, 0.03)
USELESS = Judge("useless judge", 0.0, 0.5, 0.2)


def evaluations(population, shift, judge, unanswerable, judged, trials, seed):
    """Yields for each trial the scores of two settings by people and by the judge; NaN: nothing relevant."""
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        shape = (judged,)
        human = draw(population, (EQUAL, shift), shape, rng)
        answerable = rng.random(shape) >= unanswerable
        lenient = draw(population, (0.5, 0.5 * shift), shape, rng)
        chance = draw(population, (EQUAL, EQUAL), shape, rng)
        graded = np.where(rng.random(shape) < judge.right, human, lenient)
        graded = np.where(answerable, graded, chance)
        misses = judge.misses * (1 + (human[0] == 0))
        found = rng.random(shape) < np.where(answerable, 1 - misses, judge.invents)
        yield np.where(answerable, human, np.nan), np.where(found, graded, np.nan)


def simulate(population, shift, judge, unanswerable, labelled, judged, trials, seed=3):
    """Coverage of mean and difference, corrected and by people alone; widths relative to people alone."""
    truth = {"mean": _true_mean(population), "difference": true_difference(population, shift)}
    hits = {(kind, which): 0 for kind in truth for which in ("corrected", "human")}
    widths = dict.fromkeys(hits, 0.0)
    given = 0
    for human, graded in evaluations(population, shift, judge, unanswerable, judged, trials, seed):
        if np.sum(~np.isnan(human[0, :labelled])) < FEWEST:
            continue
        given += 1
        people = [_scores(row[:labelled]) for row in human]
        judges = [_scores(row) for row in graded]
        found = {
            "mean": corrected_mean(people[0], judges[0]),
            "difference": corrected_difference((people[1], people[0]), (judges[1], judges[0])),
        }
        for kind, one in found.items():
            hits[kind, "corrected"] += one.low <= truth[kind] <= one.high
            hits[kind, "human"] += one.human_only_low <= truth[kind] <= one.human_only_high
            widths[kind, "corrected"] += one.high - one.low
            widths[kind, "human"] += one.human_only_high - one.human_only_low
    return {
        **{f"{kind} {which}": count / given for (kind, which), count in hits.items()},
        **{f"{kind} width": widths[kind, "corrected"] / widths[kind, "human"] for kind in truth},
    }


def _scores(row):
    return {str(number): None if np.isnan(value) else float(value) for number, value in enumerate(row)}


@cache
def _true_mean(population, seed=98):
    rng = np.random.default_rng(seed)
    return float(np.mean([draw(population, (EQUAL,), (400_000,), rng).mean() for _ in range(5)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    print(
        "| queries | unanswerable | judge | labelled / judged | mean | mean, people alone | equal settings "
        "| people alone | one better | people alone | width of mean | width of difference |"
    )
    print("|" + "---|" * 12)
    for population in (*POPULATIONS, RARE):
        for labelled, judged in SIZES:
            for judge, unanswerable in ((GOOD, 0.0), (GOOD, 0.25), (USELESS, 0.25)):
                case = (judge, unanswerable, labelled, judged, trials)
                equal = simulate(population, EQUAL, *case)
                better = simulate(population, BETTER, *case)
                print(
                    f"| {population.name} | {unanswerable:.0%} | {judge.name} | {labelled} / {judged} "
                    f"| {equal['mean corrected']:.1%} | {equal['mean human']:.1%} "
                    f"| {equal['difference corrected']:.1%} | {equal['difference human']:.1%} "
                    f"| {better['difference corrected']:.1%} | {better['difference human']:.1%} "
                    f"| {better['mean width']:.2f} | {better['difference width']:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
