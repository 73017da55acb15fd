"""Do judge-corrected intervals hold what they say? Coverage and width over many simulated evaluations.

    python benchmarks/judge_coverage.py [--trials 2000]

The judge of the simulation is lenient, noisy, and worse on hard queries; the truth is the mean of the
population. Prints one line a case. Machine-independent: everything follows from the seed.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from harness.judge.corrected import corrected_difference, corrected_mean


@dataclass(frozen=True)
class World:
    """A population of queries: NDCG of two settings under human labels and under the judge's."""

    judge_noise: float
    lenience: float
    size: int = 200_000

    def draw(self, rng):
        """Arrays of shape (size,): human A, human B, judge A, judge B."""
        hardness = rng.beta(2, 2, self.size)
        human_a = self._ndcg(hardness + 0.04, rng)
        human_b = self._ndcg(hardness, rng)
        return human_a, human_b, self._judged(human_a, hardness, rng), self._judged(human_b, hardness, rng)

    def _ndcg(self, level, rng):
        value = np.clip(level + rng.normal(0, 0.2, self.size), 0, 1)
        # Some queries find nothing at all.
        return np.where(rng.random(self.size) < 0.1, 0.0, value)

    def _judged(self, human, hardness, rng):
        biased = human + self.lenience * (1 - human) + 0.15 * (0.5 - hardness)
        return np.clip(biased + rng.normal(0, self.judge_noise, self.size), 0, 1)


def simulate(world, labelled, judged, trials, seed, resamples=500):
    """Coverage of mean and difference, and widths relative to human labels alone."""
    rng = np.random.default_rng(seed)
    human_a, human_b, judge_a, judge_b = world.draw(rng)
    truth = {"mean": human_a.mean(), "difference": (human_a - human_b).mean()}
    hits = {"mean": 0, "difference": 0, "human only": 0}
    widths = {"mean": [], "difference": [], "human mean": [], "human difference": []}
    for trial in range(trials):
        picked = rng.integers(world.size, size=judged)
        ids = [str(number) for number in range(judged)]
        few = slice(0, labelled)

        def scores(values, part, ids=ids, picked=picked):
            return dict(zip(ids[part], values[picked[part]].tolist(), strict=True))

        everything = slice(0, judged)
        mean = corrected_mean(
            scores(human_a, few), scores(judge_a, everything), resamples=resamples, seed=trial
        )
        difference = corrected_difference(
            (scores(human_a, few), scores(human_b, few)),
            (scores(judge_a, everything), scores(judge_b, everything)),
            resamples=resamples,
            seed=trial,
        )
        hits["mean"] += mean.low <= truth["mean"] <= mean.high
        hits["difference"] += difference.low <= truth["difference"] <= difference.high
        hits["human only"] += mean.human_only_low <= truth["mean"] <= mean.human_only_high
        widths["mean"].append(mean.high - mean.low)
        widths["human mean"].append(mean.human_only_high - mean.human_only_low)
        widths["difference"].append(difference.high - difference.low)
        widths["human difference"].append(difference.human_only_high - difference.human_only_low)
    average = {name: float(np.mean(values)) for name, values in widths.items()}
    return {
        **{name: count / trials for name, count in hits.items()},
        "mean width": average["mean"] / average["human mean"],
        "difference width": average["difference"] / average["human difference"],
        "judge bias": float(judge_a.mean() - truth["mean"]),
    }


CASES = [
    ("good judge", World(0.08, 0.25), 50, 500),
    ("good judge", World(0.08, 0.25), 100, 1000),
    ("fair judge", World(0.2, 0.4), 50, 500),
    ("fair judge", World(0.2, 0.4), 30, 300),
    ("useless judge", World(2.0, 0.5), 50, 500),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    print(
        "| judge | bias | labelled / judged | covers mean | covers difference | human only covers "
        "| width of mean | width of difference |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, world, labelled, judged in CASES:
        found = simulate(world, labelled, judged, trials, seed=7)
        print(
            f"| {name} | {found['judge bias']:+.2f} | {labelled} / {judged} | {found['mean']:.1%} "
            f"| {found['difference']:.1%} | {found['human only']:.1%} "
            f"| {found['mean width']:.2f} | {found['difference width']:.2f} |"
        )


if __name__ == "__main__":
    main()
