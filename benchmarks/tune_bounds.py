"""Do the two bounds of `harness tune` hold, after looks at the same queries decided who was seen?

    python -m benchmarks.tune_bounds [--worlds 400] [--settings 24]

In each world documents with their questions are drawn anew, and settings of known quality are scored on them.
A first stage sees all settings on some questions of every document, later ones the best of them on more, and
the last one the survivors on all. Truths: all equal; graded; one better than the rest, by as much as a first
look often misses; two groups. A setting is far off on a few documents, to either side, which makes means
skewed; documents are of even or uneven size. `among`: the bound of the chosen setting holds against the best
survivor; `dropped`: against the best dropped one; `m only`: the first, had it paid for the survivors alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.compare_calibration import percent, table
from harness.comparison import Options, ScoreMatrix, SeenStage, staged_bounds
from harness.comparison.regret import losses, upper_leads
from harness.comparison.stats import units_of
from harness.measures import Floats, Ints

EVEN = (9,) * 14
UNEVEN = (41, 20, 13, 10, 8, 6, 5, 5, 4, 4, 3, 3, 3, 3)
SIZES = {"14 even documents": EVEN, "14 uneven documents": UNEVEN, "40 documents": (4,) * 40}
# the share of the questions of a document that each stage sees, and of the settings that it keeps
PLANS = {
    "1/4, then 1/4 on all": ((0.25, 0.25),),
    "1/8, 1/3 on 1/3, 1/9 on all": ((0.125, 1 / 3), (1 / 3, 1 / 3)),
}
RESAMPLES = 300


def truths(count: int) -> dict[str, Floats]:
    """The true means of ``count`` settings, the best first."""
    half = np.where(np.arange(count) < count // 2, 0.0, -0.04)
    return {
        "all equal": np.zeros(count),
        "graded": -np.linspace(0, 0.1, count),
        "one better by .02": np.where(np.arange(count) == 0, 0.0, -0.02),
        "one better by .06": np.where(np.arange(count) == 0, 0.0, -0.06),
        "two groups": half,
    }


def draw(truth: Floats, of: Ints, rng: np.random.Generator) -> Floats:
    """Scores [S, Q] of questions on the documents ``of`` [Q]."""
    documents = int(of.max()) + 1
    count = len(truth)
    # neighbours in a sweep share what they are good at
    shared = 0.05 * (rng.exponential(1, (4, documents)) - 1)
    single = 0.05 * (1 - rng.exponential(1, (count, documents)))
    effects = shared[np.arange(count) % 4] + single
    hard = rng.normal(0, 0.25, len(of))
    return 0.5 + truth[:, None] + effects[:, of] + hard + 0.15 * rng.normal(size=(count, len(of)))


@dataclass(frozen=True, slots=True)
class World:
    """What one world showed: whether each bound held, the bounds, and what was lost."""

    among: bool
    dropped: bool
    alone: bool
    bound: float
    full: float
    against: float
    without: float
    lost: float
    seen: float


def part_of(of: Ints, share: float) -> Ints:
    """The first questions of every document, at least one of each."""
    return np.concatenate(
        [
            rows[: max(1, round(share * len(rows)))]
            for rows in (np.flatnonzero(of == d) for d in np.unique(of))
        ]
    )


def world(truth: Floats, of: Ints, plan: Sequence[tuple[float, float]], rng: np.random.Generator) -> World:
    """Run a plan on freshly drawn documents."""
    return planned(draw(truth, of, rng), truth, of, plan, rng)


def planned(
    values: Floats, truth: Floats, of: Ints, plan: Sequence[tuple[float, float]], rng: np.random.Generator
) -> World:
    """Run a plan on the scores [S, Q] of settings with the true means [S]."""
    count = len(truth)
    options = Options(resamples=RESAMPLES, seed=int(rng.integers(1 << 30)))

    def matrix(rows: Ints, columns: Ints) -> ScoreMatrix:
        names = tuple(f"s{row}" for row in rows)
        clusters = tuple(f"d{document}" for document in of[columns])
        queries = tuple(f"q{column}" for column in columns)
        return ScoreMatrix(
            "m", names, queries, values[np.ix_(rows, columns)], ("train",) * len(columns), clusters
        )

    left, stages = np.arange(count), []
    for share, keep in plan:
        columns = part_of(of, share)
        stages.append(SeenStage(matrix(left, columns), "whole"))
        order = np.argsort(-values[np.ix_(left, columns)].mean(axis=1), kind="stable")
        left = np.sort(left[order[: max(2, round(keep * len(left)))]])
    everything = np.arange(len(of))
    stages.append(SeenStage(matrix(left, everything), "whole"))
    bounds = staged_bounds(stages, options)
    chosen = left[np.argmax(values[left].mean(axis=1))]
    gone = np.setdiff1d(np.arange(count), left)
    name = f"s{chosen}"
    units = units_of(stages[-1].matrix.clusters, len(of))
    alone = losses(values[left], ~np.eye(len(left), dtype=bool), units, 0.95, RESAMPLES, options.seed)
    leads = upper_leads(values, ~np.eye(count, dtype=bool), units, 0.05, RESAMPLES, options.seed)
    plain = staged_bounds([*(SeenStage(stage.matrix, str(at)) for at, stage in enumerate(stages))], options)
    lost = truth[left].max() - truth[chosen]
    others = left[left != chosen]
    # a setting is on fewer questions at each stage; those of earlier stages are not asked again
    cells = sum(
        len(stage.matrix.settings)
        * (len(stage.matrix.query_ids) - (len(before.matrix.query_ids) if before else 0))
        for stage, before in zip(stages, [None, *stages], strict=False)
    )
    return World(
        among=lost <= bounds.survivors[name] + 1e-9,
        dropped=truth[gone].max() - truth[chosen] <= bounds.against_dropped(name) + 1e-9,
        alone=lost <= float(alone[np.flatnonzero(left == chosen)[0]]) + 1e-9,
        bound=bounds.survivors[name],
        full=max(0.0, float(leads[others, chosen].max())),
        against=bounds.against_dropped(name),
        without=plain.against_dropped(name),
        lost=float(truth.max() - truth[chosen]),
        seen=cells / (count * len(of)),
    )


def rows_of(worlds: int, count: int) -> Iterator[tuple[object, ...]]:
    """A row of the table for each truth, kind of documents and plan."""
    for plan_name, plan in PLANS.items():
        for documents, sizes in SIZES.items():
            of = np.repeat(np.arange(len(sizes)), sizes)
            for name, truth in truths(count).items():
                rng = np.random.default_rng(11)
                tried = [world(truth, of, plan, rng) for _ in range(worlds)]

                def mean(field: str, tried: list[World] = tried) -> float:
                    return float(np.mean([getattr(each, field) for each in tried]))

                yield (
                    plan_name,
                    documents,
                    name,
                    *(percent(mean(field)) for field in ("among", "dropped", "alone")),
                    *(f"{mean(field):.3f}" for field in ("bound", "full", "against", "without", "lost")),
                    f"{1 / mean('seen'):.1f} ×",
                )


HEADER = (
    *("plan", "documents", "truth", "among", "dropped", "m only", "bound among"),
    *("full sweep's", "bound dropped", "without control", "lost", "saved"),
)


def main() -> None:
    """Print the table, or write it between its marks on a page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--settings", type=int, default=24)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    lines = list(table(HEADER, rows_of(args.worlds, args.settings)))
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
