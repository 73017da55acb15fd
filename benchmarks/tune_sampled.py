"""Do the bounds of `harness tune` hold among settings that a sampler proposed by looking at the same queries?

    python -m benchmarks.tune_sampled [--worlds 100] [--settings 24] [--keep]

As in tune_bounds documents with their questions are drawn anew in each world, and stages see fewer settings
on more questions. Here the settings are not fixed beforehand: Optuna's TPE proposes numbers of four ranges in
rounds, each by the means of earlier proposals on the questions of the first stage. Truths: the numbers do not
matter; they do, with one optimum; hardly anything but a small region is good; the better, the nearer to one
corner. What a document adds is smooth in the numbers, so that the sampler can follow what is chance: settings
near each other are good on the same documents. `chosen first`: how often the bounds hold for as many settings
that are drawn evenly, in the same worlds. Needs the extra `tune`.

With --keep, what came out of every world goes to tune_sampled.json beside this file as soon as all rows have
one more world, and worlds that are there are not computed again: remove the file for that.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.compare_calibration import percent, table
from benchmarks.tune_bounds import PLANS, SIZES, World, part_of, planned
from benchmarks.tune_proposes import KEYS
from harness.measures import Floats, Ints
from harness.running import load_tuning
from harness.running.config.space import Space, Values
from harness.running.config.tune_keys import Range
from harness.running.tuning.sampler import STARTUP, propose
from harness.running.tuning.sampling import round_size

TRUTHS: dict[str, Callable[[Floats], Floats]] = {
    "all equal": lambda points: np.zeros(len(points)),
    "one optimum": lambda points: -0.2 * ((points - 0.3) ** 2).sum(axis=1),
    "a small region": lambda points: 0.1 * np.exp(-20 * ((points - 0.7) ** 2).sum(axis=1)),
    "a corner": lambda points: 0.1 * points.mean(axis=1),
}
WAVES = 6
SKEW = 0.05


@dataclass(frozen=True, slots=True)
class Documents:
    """A draw of documents: how much of each wave they add [D, W], and how hard their questions are [Q]."""

    of: Ints
    amounts: Floats
    hard: Floats
    directions: Floats
    phases: Floats

    def scores(self, points: Floats, truth: Callable[[Floats], Floats], rng: np.random.Generator) -> Floats:
        """Scores [S, Q] of settings at ``points`` [S, R] of the unit cube; their true mean is 0.5 + truth."""
        waves = np.cos(points @ self.directions.T + self.phases)
        single = SKEW * (1 - rng.exponential(1, (len(points), len(self.amounts))))
        effects = waves @ self.amounts.T / np.sqrt(WAVES / 2) + single
        noise = 0.15 * rng.normal(size=(len(points), len(self.of)))
        return 0.5 + truth(points)[:, None] + effects[:, self.of] + self.hard + noise


def drawn(of: Ints, ranges: int, rng: np.random.Generator) -> Documents:
    """Documents with the questions ``of`` [Q]; what they add is skewed, and zero on average."""
    amounts = SKEW * (rng.exponential(1, (int(of.max()) + 1, WAVES)) - 1)
    directions, phases = rng.normal(0, 3, (WAVES, ranges)), rng.uniform(0, 2 * np.pi, WAVES)
    return Documents(of, amounts, rng.normal(0, 0.25, len(of)), directions, phases)


def points_of(space: Space, proposals: Sequence[Values]) -> Floats:
    """Proposals [S] as points [S, R] of the unit cube, a side a range."""
    rows = []
    for values in proposals:
        numbers = ((values[key], span) for key, span in sorted(space.ranges.items()))
        rows.append([span_share(value, span) for value, span in numbers])
    return np.array(rows)


def span_share(value: float, span: Range) -> float:
    """How far up its range a value lies, from 0 to 1."""
    if span.log:
        return math.log(value / span.low) / math.log(span.high / span.low)
    return (value - span.low) / (span.high - span.low)


def sampled(
    space: Space, documents: Documents, truth: Callable[[Floats], Floats], part: Ints, count: int, seed: int
) -> tuple[Floats, Floats]:
    """Points [S, R] and scores [S, Q] of what the sampler proposes by the means on the columns ``part``."""
    rng, proposals = np.random.default_rng(seed), list[Values]()
    values = np.empty((0, len(documents.of)))
    while len(proposals) < count:
        wanted = min(count - len(proposals), round_size(count) if proposals else STARTUP)
        fresh = propose(space, proposals, values[:, part].mean(axis=1).tolist(), wanted, seed)
        if not fresh:
            break
        proposals += fresh
        values = np.concatenate([values, documents.scores(points_of(space, fresh), truth, rng)])
    return points_of(space, proposals), values


def space_of(count: int) -> Space:
    """The four ranges, from which ``count`` settings are proposed."""
    space = load_tuning({**KEYS, "tune": {"strategy": "tpe", "trials": count}})[1]
    assert space is not None
    return space


def world(space: Space, row: Mapping[str, Any], count: int, seed: int) -> tuple[World, World]:
    """World number ``seed`` of a row: among ``count`` proposed settings, and among as many drawn evenly."""
    plan, sizes, truth = PLANS[row["plan"]], SIZES[row["documents"]], TRUTHS[row["truth"]]
    of = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng([11, seed])
    documents = drawn(of, len(space.ranges), rng)
    points, values = sampled(space, documents, truth, part_of(of, plan[0][0]), count, seed)
    proposed = planned(values, truth(points), of, plan, rng)
    evenly = points_of(space, space.drawn(count, seed))
    return proposed, planned(documents.scores(evenly, truth, rng), truth(evenly), of, plan, rng)


def kept_of(proposed: World, evenly: World) -> dict[str, float]:
    """What is kept of a world: whether each bound held (0 or 1), the bounds, and what was lost."""
    held = (proposed.among, proposed.dropped, evenly.among, evenly.dropped)
    sizes = (proposed.bound, proposed.against, proposed.lost)
    return {
        **dict(zip(SHARES, map(int, held), strict=True)),
        **{name: round(size, 4) for name, size in zip(MEANS, sizes, strict=True)},
    }


NAMES = ("plan", "documents", "truth")
SHARES = ("among", "dropped", "among, chosen first", "dropped, chosen first")
MEANS = ("bound among", "bound dropped", "lost")
FILE = Path(__file__).with_suffix(".json")


class Kept:
    """Rows with a list of what each world showed, written to a file where there is one."""

    def __init__(self, settings: int, file: Path | None) -> None:
        self.settings, self.file = settings, file
        rows = [(plan, documents, truth) for plan in PLANS for documents in SIZES for truth in TRUTHS]
        self.rows: list[dict[str, Any]] = [
            dict(zip(NAMES, row, strict=True)) | {name: [] for name in (*SHARES, *MEANS)} for row in rows
        ]
        if file is not None and file.is_file():
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept["settings"] != settings:
                raise SystemExit(
                    f"{file} is of {kept['settings']} settings. Move it away, or ask for as many."
                )
            self.rows = kept["rows"]

    @property
    def worlds(self) -> int:
        """How many worlds every row has."""
        return len(self.rows[0][SHARES[0]])

    def add_world(self) -> None:
        """Compute the next world of every row."""
        space, seed = space_of(self.settings), self.worlds
        shown = [kept_of(*world(space, row, self.settings, seed)) for row in self.rows]
        for row, values in zip(self.rows, shown, strict=True):
            for name, value in values.items():
                row[name].append(value)
        if self.file is not None:
            lines = ",\n".join(json.dumps(row) for row in self.rows)
            text = f'{{"settings": {self.settings}, "rows": [\n{lines}\n]}}\n'
            self.file.write_text(text, encoding="utf-8")


def cells_of(row: Mapping[str, Any]) -> tuple[object, ...]:
    """A row as cells of the table: shares of worlds, and means over them."""
    shares, means = ([float(np.mean(row[name])) for name in names] for names in (SHARES, MEANS))
    return (*(row[name] for name in NAMES), *map(percent, shares), *(f"{mean:.3f}" for mean in means))


def main() -> None:
    """Print the table, or write it to a file too."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=100, help="draws of documents a row (default: 100)")
    parser.add_argument("--settings", type=int, default=24, help="proposals (default: 24)")
    parser.add_argument("--output", type=Path, help="a file for the table")
    parser.add_argument("--keep", action="store_true", help=f"keep every world in {FILE.name}")
    args = parser.parse_args()
    kept = Kept(args.settings, FILE if args.keep else None)
    while kept.worlds < args.worlds:
        kept.add_world()
    lines = list(table((*NAMES, *SHARES, *MEANS), map(cells_of, kept.rows)))
    print("\n".join(lines))
    if args.output:
        args.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
