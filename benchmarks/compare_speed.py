"""The time to compare many settings, side by side with scipy, one pair at a time.

python -m benchmarks.compare_speed [--settings 50] [--queries 1000] [--measures 5] [--resamples 10000]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import stats

from benchmarks.all_pairs import compare_all
from benchmarks.compare_populations import POPULATIONS, draw
from harness.comparison import Grounds, Options, ScoreMatrix, conclude
from harness.comparison.paired import compare_to


def matrices(settings: int, queries: int, measures: int) -> list[ScoreMatrix]:
    rng = np.random.default_rng(1)
    splits = tuple("validation" if i % 3 == 0 else "train" for i in range(queries))
    names = tuple(f"setting {i}" for i in range(settings))
    ids = tuple(f"q{i}" for i in range(queries))
    shifts = np.linspace(1.0, 0.8, settings)
    return [
        ScoreMatrix(f"measure {m}", names, ids, draw(POPULATIONS[0], shifts, (queries,), rng), splits)
        for m in range(measures)
    ]


def clustered(scores: ScoreMatrix) -> ScoreMatrix:
    """The same queries in 100 clusters."""
    return replace(scores, clusters=tuple(f"d{i % 100}" for i in range(len(scores.query_ids))))


def seconds(work: Callable[[], object]) -> float:
    """Of processor time, so that other work on the machine does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def by_scipy(scores: ScoreMatrix, pairs: int, resamples: int) -> None:
    """The obvious loop: for every pair a BCa interval and a sign-flip test."""
    for i in range(pairs):
        difference = scores.values[i] - scores.values[i + 1]
        stats.bootstrap((difference,), np.mean, n_resamples=resamples, batch=1000)
        stats.permutation_test(
            (difference,),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            n_resamples=resamples,
            batch=1000,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("settings", 50), ("queries", 1000), ("measures", 5), ("resamples", 10_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--scipy-pairs", type=int, default=4, help="pairs that scipy is timed on")
    args = parser.parse_args()
    options = Options(resamples=args.resamples)
    scores = matrices(args.settings, args.queries, args.measures)
    pairs = args.settings * (args.settings - 1) // 2
    print(
        f"{args.settings} settings × {args.queries} queries × {args.measures} measures, "
        f"{args.resamples} resamples; processor seconds for all measures\n"
    )
    work: dict[str, Callable[[ScoreMatrix], object]] = {
        f"all {pairs} pairs: one test, intervals": lambda m: compare_all(m, options),
        "all against a baseline": lambda m: compare_to(m, m.settings[0], options),
        "the verdict": lambda m: conclude(m, Grounds(options=options)),
        "the verdict by 100 clusters": lambda m: conclude(clustered(m), Grounds(options=options)),
    }
    print("| work | s |\n|---|---|")
    taken = {}
    for name, one in work.items():
        taken[name] = sum(seconds(lambda m=m, one=one: one(m)) for m in scores)
        print(f"| {name} | {taken[name]:.2f} |", flush=True)
    # kilobytes on Linux, bytes on macOS
    unit = 1e6 if sys.platform == "darwin" else 1e3
    print(
        f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit:.0f} MB with all imports"
    )
    naive = seconds(lambda: by_scipy(scores[0], args.scipy_pairs, args.resamples)) / args.scipy_pairs
    ours = next(iter(taken.values())) / (pairs * args.measures)
    total = naive * pairs * args.measures / 60
    print(
        f"scipy.stats.bootstrap (BCa) and permutation_test: {naive:.3f} s a pair, {total:.0f} minutes for all"
    )
    print(f"here: {1000 * ours:.2f} ms a pair, {naive / ours:.0f} times as fast")


if __name__ == "__main__":
    main()
