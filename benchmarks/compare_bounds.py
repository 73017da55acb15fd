"""How small can the bound of a loss be? Four ways to compute it in the same worlds, as a Markdown table.

python -m benchmarks.compare_bounds [--worlds 1000]

The rule: one-sided comparisons with the best by flipped signs. Bootstrap: the same comparisons, with the
critical value of units drawn anew. Errors known: with the true errors and the true critical value, which
nobody has; nothing that holds can be much smaller. Former: the limits of intervals of all pairs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.compare_calibration import percent, table
from benchmarks.compare_cells import (
    APART,
    LEVEL,
    SCORES,
    SPREADS,
    Cell,
    Flipped,
    draw,
    former_bound,
    units_in,
)
from harness.comparison.stats import Units, bounds_at
from harness.measures import Floats

SEED = 3
RESAMPLES = 400
# The bootstrap and the former bound are computed world by world, and known well enough by fewer.
FEWER = 200
WAYS = ("rule", "bootstrap", "known", "former")


def bootstrap_bounds(values: Floats, units: Units, weights: Floats) -> tuple[Floats, Floats]:
    """The bound of each setting [S], and those of all others taken the first for the best.

    Hsu's comparisons with a studentised bootstrap of whole units, drawn as often as ``weights`` [R, G] say.
    """
    count = units.count
    shares = units.shares(values)
    bounds, of_first = np.zeros(len(values)), np.zeros(len(values) - 1)
    for best in range(len(values)):
        others = np.flatnonzero(np.arange(len(values)) != best)
        leads = shares[best] - shares[others]
        mean = leads.mean(axis=1)
        left = leads - mean[:, None]
        error = np.sqrt((left**2).sum(axis=1) / (count - 1) / count)
        drawn = weights @ left.T / count
        spread = np.sqrt(np.maximum(weights @ (left**2).T / count - drawn**2, 0) / (count - 1))
        t = np.divide(-drawn, spread, out=np.zeros_like(drawn), where=spread > 1e-9)
        above = mean + np.quantile(t.max(axis=1), LEVEL) * error
        bounds[others] = np.maximum(bounds[others], above)
        of_first = above if best == 0 else of_first
    return bounds, of_first


def widths(cell: Cell, worlds: int) -> dict[str, float]:
    """The mean bound of the setting chosen by each way, where one is better and where all are graded.

    Also how often the leads of the best over all others are within their bounds at once: ``held``, and
    ``held_bootstrap``.
    """
    rng, units = np.random.default_rng(SEED), units_in(cell)
    rule = Flipped.of(units)
    first, second = np.triu_indices(cell.settings, 1)
    best = np.where(np.arange(cell.settings) == 0, APART, 0.0)
    graded = rng.permutation(np.linspace(0, APART, cell.settings))
    weights = rng.multinomial(units.count, np.full(units.count, 1 / units.count), RESAMPLES).astype(float)
    sums: dict[str, list[Floats]] = {}
    known = 0.0
    for truth in (best, graded):
        values, true = draw(cell, truth, worlds, rng, units)
        means, found = values.mean(axis=2), rule.pairs(values, first, second)
        at = means.argmax(axis=1)
        drawn = [bootstrap_bounds(values[w], units, weights) for w in range(min(worlds, FEWER))]
        if truth is best:
            leads = true[:, :1] - true[:, 1:]
            off = leads - (means[:, :1] - means[:, 1:])
            # one world has none
            deviation = max(off.std(axis=0).mean(), 1e-12)
            known = float(np.quantile((off / deviation).max(axis=1), LEVEL) * deviation)
            critical = rule.critical(found.led[:, first == 0].max(axis=1), cell.settings - 1, 1)[0]
            above = bounds_at(found.mean, found.error, found.skew, critical[:, None])[1][:, first == 0]
            sums["held"] = [(leads <= above + 1e-9).all(axis=1)]
            sums["held_bootstrap"] = [
                np.array([(leads[w] <= bounds + 1e-9).all() for w, (_, bounds) in enumerate(drawn)])
            ]
        highest = np.sort(means, axis=1)
        of_ways = (
            rule.bounds(found, cell.settings)[np.arange(worlds), at],
            np.array([bounds[at[w]] for w, (bounds, _) in enumerate(drawn)]),
            np.maximum(known - (highest[:, -1] - highest[:, -2]), 0.0),
            np.array([former_bound(values[w], units)[at[w]] for w in range(min(worlds, FEWER))]),
        )
        for way, bounds in zip(WAYS, of_ways, strict=True):
            sums.setdefault(way, []).append(bounds)
    return {name: float(np.mean([part.mean() for part in parts])) for name, parts in sums.items()}


def rows(worlds: int) -> Iterator[tuple[object, ...]]:
    """A row a spread, number of documents and of settings: the mean over the kinds of scores."""
    for spread, documents, settings in product(SPREADS, (14, 30), (2, 8)):
        cells = [Cell(documents, spread, settings, scores) for scores in SCORES]
        found = [widths(cell, worlds) for cell in cells]
        mean = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        former = mean["former"] or np.nan
        yield (
            documents,
            spread,
            "documents" if units_in(cells[0]).kind == "clusters" else "queries",
            settings,
            *(f"{mean[way]:.3f}" for way in WAYS),
            *(percent(mean[way] / former) for way in WAYS[:3]),
            percent(mean["held"]),
            percent(mean["held_bootstrap"]),
        )


HEAD = (
    "documents",
    "queries on them",
    "tested by",
    "settings",
    "bound",
    "bootstrap",
    "errors known",
    "former bound",
    "bound, % of the former",
    "bootstrap, %",
    "errors known, %",
    "leads of the best within",
    "bootstrap: within",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=1_000, help="worlds a cell")
    args = parser.parse_args()
    start = time.perf_counter()
    for line in table(HEAD, rows(args.worlds)):
        print(line, flush=True)
    print(f"\n{args.worlds} worlds a cell, {time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
