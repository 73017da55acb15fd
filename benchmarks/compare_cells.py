"""Do bounds, intervals and tests hold on few and unequal documents? Simulated worlds, as a Markdown table.

python -m benchmarks.compare_cells [--worlds 2000] [--cells Zipf "14 documents"] [--settings 2 8 60]
python -m benchmarks.compare_cells --intervals [--worlds 600] [--cells ties] [--settings 60]

130 queries are on 6 to 30 documents: evenly, by Zipf's law, or half of them on one. Settings lie evenly
between the best and the worst, or one is better than the rest. What is claimed for these documents alone
(they are worth fewer than 5.5 of equal size) is compared with the truth for these documents, all else with
that for new ones.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from benchmarks.compare_calibration import percent
from harness.comparison.stats import (
    Units,
    bounds_at,
    bounds_of_differences,
    inverse_hall,
    sign_flips,
    student_quantile,
    units_of,
)
from harness.measures import Floats, Ints

QUERIES = 130
DOCUMENTS = (6, 8, 14, 30)
SPREADS = ("even", "Zipf", "half on one")
SETTINGS = (2, 8, 60)
SCORES = ("ties", "graded", "skewed")
LEVEL = 0.95
FLIPS = 400
SEED = 11
# The mean of the former bound is known well enough by fewer worlds.
FORMER = 100
# Numbers that are worked on at once.
CELLS_AT_ONCE = 3_000_000
# Pairs whose leads under all flips stay in the cache of a processor while they are worked on.
PAIRS_AT_ONCE = 64
# From the best to the worst setting, on average over documents.
APART = 0.08
# The factors whose levels the settings are combinations of; two settings are no sweep.
FACTORS = {8: (2, 2, 2), 60: (3, 4, 5)}


@dataclass(frozen=True, slots=True)
class Cell:
    """So many documents, how queries are spread over them, how many settings, what their scores are like."""

    documents: int
    spread: str
    settings: int
    scores: str

    def __str__(self) -> str:
        return f"{self.documents} documents, {self.spread}, {self.settings} settings, {self.scores}"

    @property
    def sizes(self) -> Ints:
        """How many queries are on each document."""
        shares = np.ones(self.documents)
        if self.spread == "Zipf":
            shares = 1 / np.arange(1.0, self.documents + 1)
        elif self.spread == "half on one":
            shares[0] = self.documents - 1
        sizes = np.maximum(1, np.floor(QUERIES * shares / shares.sum())).astype(np.int64)
        sizes[: QUERIES - sizes.sum()] += 1
        return sizes


def world(cell: Cell, truth: Floats, worlds: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores [W, S, Q] of settings with the mean ``truth`` [S], but for a constant; their means here, [W, S].

    A setting leans up or down on each document. ``ties``: seven of ten queries tie, and so do many others;
    ``graded``: leanings and scores are normal; ``skewed``: settings are far off on a few documents.
    """
    sizes, shape = cell.sizes, (worlds, cell.settings, cell.documents)
    of = np.repeat(np.arange(cell.documents), sizes)
    if cell.scores == "ties":
        lean = rng.uniform(-0.06, 0.06, shape)
        chance = 0.5 + (truth[:, None] + lean[:, :, of]) / 0.3
        wins = rng.random((worlds, cell.settings, QUERIES)) < chance
        values = np.where(rng.random((worlds, 1, QUERIES)) < 0.3, np.where(wins, 0.5, -0.5), 0.0)
    else:
        lean = 0.1 * (
            rng.standard_normal(shape) if cell.scores == "graded" else 1 - rng.exponential(1, shape)
        )
        noise = 0.2 * rng.standard_normal((worlds, cell.settings, QUERIES), dtype=np.float32)
        values = truth[:, None] + lean[:, :, of] + noise
    return values, truth + lean @ sizes / QUERIES


def former_bound(values: Floats, units: Units) -> Floats:
    """The bound of each setting [S] as it was: the upper limits of two-sided intervals of all pairs.

    By the spread of units about the mean, without the jackknife, and by Hall's bound however far it reached.
    """
    first, second = np.triu_indices(len(values), 1)
    shares = units.shares(values)
    rows, count = shares[first] - shares[second], units.count
    root = np.sqrt((rows**2).mean(axis=1))
    flips = np.concatenate([*sign_flips(count, FLIPS, SEED)[0]])
    means = flips @ shares.T / count
    largest = np.sort((np.abs(means[:, first] - means[:, second]) / np.maximum(root, 1e-12)).max(axis=1))
    most = min(float(largest[int(LEVEL * len(largest))]), 1 - 1e-9)
    student = student_quantile((1 + LEVEL) / 2, units.effective - 1)
    critical = max(student, most * np.sqrt((count - 1) / (1 - most**2)))
    mean = rows.mean(axis=1)
    left = rows - mean[:, None] * units.leverages * count
    square = np.maximum((left**2).mean(axis=1), 1e-20)
    error, skew = np.sqrt(square / (count - 1)), (left**3).mean(axis=1) / square**1.5 / np.sqrt(count)
    bounds = np.zeros(len(values))
    np.maximum.at(bounds, first, -mean + error * np.maximum(critical, inverse_hall(critical, skew)))
    np.maximum.at(bounds, second, mean + error * np.maximum(critical, -inverse_hall(-critical, skew)))
    return np.minimum(bounds, 1.0)


def levels_of(cell: Cell) -> Floats:
    """The settings of each level of each factor as weights, [levels, S], and 0 x S without factors."""
    rows = []
    cells = np.array([*product(*map(range, FACTORS.get(cell.settings, ())))])
    for factor, levels in enumerate(FACTORS.get(cell.settings, ())):
        rows += [(cells[:, factor] == level) / (cells[:, factor] == level).sum() for level in range(levels)]
    return np.array(rows).reshape(-1, cell.settings)


def effect_pairs(cell: Cell) -> list[tuple[int, int]]:
    """The pairs of levels of one factor, by their rows in ``levels_of``."""
    pairs, begin = [], 0
    for levels in FACTORS.get(cell.settings, ()):
        pairs += [*combinations(range(begin, begin + levels), 2)]
        begin += levels
    return pairs


@dataclass(frozen=True, slots=True)
class Flipped:
    """The rule of ``joint_test`` and ``regret`` for W worlds at once, by flips that all of them share.

    ``flips`` [R, G]; ``complete`` where these are all. What it computes is that of the harness, which
    tests/compare/test_calibration.py compares world by world.
    """

    units: Units
    flips: np.ndarray
    complete: bool

    @classmethod
    def of(cls, units: Units) -> Flipped:
        """The flips of these units."""
        blocks, _, complete = sign_flips(units.count, FLIPS, SEED)
        # float32 is enough for a quantile of drawn flips; of all of them, ties must stay ties
        precision = np.float64 if complete else np.float32
        return cls(units, np.concatenate([*blocks]).astype(precision), complete)

    def pairs(self, values: Floats, first: Ints, second: Ints) -> Pairs:
        """Pairs of rows of ``values`` [W, S, Q]."""
        count, leverages = self.units.count, self.units.leverages
        shares = self.units.shares(values.reshape(-1, QUERIES)).reshape(*values.shape[:2], count)
        queries = ((values[:, first] - values[:, second]) ** 2).sum(axis=2) / QUERIES / (QUERIES - 1)
        rows = shares[:, first] - shares[:, second]
        mean = rows.mean(axis=2)
        left = (rows - mean[:, :, None] * leverages * count) / (1 - leverages)
        square = np.maximum((left**2).sum(axis=2), 1e-20)
        error = np.sqrt(square * (count - 1) / count) / count
        least = np.sqrt(np.maximum(queries - mean**2 / (QUERIES - 1), 1e-20))
        weights = 1 / (1 - leverages) ** 2
        fixed = (rows**2 * weights).sum(axis=2) * (count - 1) ** 2 / count**3
        kind = self.flips.dtype.type
        ahead, pulls = (
            np.matmul(part.astype(kind), self.flips.T) / kind(count)
            for part in (shares, shares * leverages * weights)
        )
        twice = 2 * (count - 1) ** 2 / count
        slopes = kind(1 + twice / 2 * (leverages**2 * weights).sum()) * ahead - kind(twice) * pulls
        skew = (left**3).sum(axis=2) / square**1.5
        least_by_query = np.maximum((count - 1) * queries, 1e-20)[:, :, None]
        least_by_units = np.maximum(fixed, 1e-20).astype(kind)[:, :, None]
        led = np.empty((*mean.shape, len(self.flips)), dtype=kind)
        for world, begin in product(range(len(values)), range(0, len(first), PAIRS_AT_ONCE)):
            part = slice(begin, begin + PAIRS_AT_ONCE)
            lead = np.subtract(ahead[world, first[part]], ahead[world, second[part]], out=led[world, part])
            by_query = least_by_query[world, part]
            if self.units.kind != "clusters":
                # of units of one size no flip changes the error
                lead /= np.sqrt(by_query).astype(kind)
                continue
            spread = slopes[world, first[part]]
            spread -= slopes[world, second[part]]
            spread *= lead
            spread += least_by_units[world, part]
            squares = lead * lead
            squares *= kind(1 - (count - 1) / (QUERIES - 1))
            squares += by_query.astype(kind)
            lead /= np.sqrt(np.maximum(spread, squares, out=spread), out=spread)
        return Pairs(mean, np.maximum(error, least), skew, led)

    def critical(self, largest: np.ndarray, comparisons: int, sides: int) -> tuple[Floats, Floats]:
        """The critical value of each world by its largest statistics [W, R]; whether any t can pass it."""
        resamples, spare, alpha = largest.shape[1], 0 if self.complete else 1, 1 - LEVEL
        place = int(np.ceil((resamples + spare) * (1 - alpha) - 1e-9)) - 1
        most = np.maximum(np.partition(largest, place, axis=1)[:, place].astype(np.float64), 0.0)
        student = student_quantile(1 - alpha / sides, self.units.effective - 1)
        passable = most < 1 - (1e-10 if self.complete else 1e-6)
        impassable = student_quantile(1 - alpha / sides / comparisons, self.units.effective - 1)
        t = most * np.sqrt((self.units.count - 1) / np.where(passable, 1 - most**2, 1.0))
        return np.where(passable, np.maximum(t, student), impassable), passable

    def intervals(self, found: Pairs) -> tuple[Floats, Floats]:
        """The bounds of the pairs of each world, [W, P] each."""
        largest = np.maximum(found.led.max(axis=1), -found.led.min(axis=1))
        critical, passable = self.critical(largest, found.mean.shape[1], 2)
        low, high = bounds_of_differences(found.mean, found.error, found.skew, critical[:, None])
        closed = passable[:, None]
        return np.where(closed, low, np.minimum(low, 0)), np.where(closed, high, np.maximum(high, 0))

    def bounds(self, found: Pairs, settings: int) -> Floats:
        """What each of so many settings of each world may lose, [W, S], by all pairs of them."""
        first, second = np.triu_indices(settings, 1)
        critical = np.empty((len(found.mean), settings))
        # the pairs of a setting with those after it lie next to one another
        behind = np.ones((len(found.mean), settings, found.led.shape[2]), dtype=found.led.dtype)
        begin = 0
        for best in range(settings):
            of_best = found.led[:, begin : begin + settings - 1 - best]
            begin += settings - 1 - best
            np.minimum(behind[:, best + 1 :], of_best, out=behind[:, best + 1 :])
            largest = np.maximum(of_best.max(axis=1, initial=-1), -behind[:, best])
            critical[:, best] = self.critical(largest, settings - 1, 1)[0]
        above = bounds_at(found.mean, found.error, found.skew, critical[:, first])[1]
        below = bounds_at(found.mean, found.error, found.skew, critical[:, second])[0]
        by_best = np.zeros((len(critical), settings, settings))
        by_best[:, first, second], by_best[:, second, first] = above, -below
        return by_best.max(axis=1)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of settings in W worlds: moments [W, P], and the lead of the first under each flip, [W, P, R]."""

    mean: Floats
    error: Floats
    skew: Floats
    led: np.ndarray


def units_in(cell: Cell) -> Units:
    """The units of the queries of a cell, by the rule."""
    return units_of([f"d{i}" for i in np.repeat(np.arange(cell.documents), cell.sizes)], QUERIES)


def draw(
    cell: Cell, truth: Floats, worlds: int, rng: np.random.Generator, units: Units
) -> tuple[Floats, Floats]:
    """The scores of so many worlds [W, S, Q], and what is true of what they are to show [W, S]."""
    values, here = world(cell, truth, worlds, rng)
    return values, here if units.kind == "few clusters" else np.broadcast_to(truth, here.shape)


def all_cover(bounds: tuple[Floats, Floats], first: Ints, second: Ints, truth: Floats) -> np.ndarray:
    """In which worlds the intervals of all pairs contain the true differences."""
    low, high = bounds
    true = truth[:, first] - truth[:, second]
    return ((low <= true) & (true <= high)).all(axis=1)


def rates(cell: Cell, worlds: int, intervals: bool = False) -> dict[str, float]:
    """What ``worlds`` draws of a cell come to: shares that hold, and mean bounds of the chosen setting.

    Only how often ``intervals`` cover if these alone are wanted, which takes a third of the time.
    """
    rng, units = np.random.default_rng(SEED), units_in(cell)
    rule = Flipped.of(units)
    first, second = np.triu_indices(cell.settings, 1)
    best = np.where(np.arange(cell.settings) == 0, APART, 0.0)
    sums: dict[str, list[np.ndarray]] = {}
    step = max(1, min(worlds, CELLS_AT_ONCE // (len(first) * max(len(rule.flips), units.count))))
    for begin in range(0, worlds, step):
        size = min(step, worlds - begin)
        graded = draw(cell, rng.permutation(np.linspace(0, APART, cell.settings)), size, rng, units)
        found = rule.pairs(graded[0], first, second)
        covered = all_cover(rule.intervals(found), first, second, graded[1])
        sums.setdefault("covered", []).append(covered)
        if cell.settings in FACTORS:
            sums.setdefault("effects", []).append(effects_cover(cell, rule, *graded))
        if intervals:
            continue
        one = draw(cell, best, size, rng, units)
        for name, (values, true) in (("graded", graded), ("one", one)):
            at = np.arange(size), values.mean(axis=2).argmax(axis=1)
            found = found if name == "graded" else rule.pairs(values, first, second)
            bounds = rule.bounds(found, cell.settings)[at]
            sums.setdefault(f"held_{name}", []).append(true.max(axis=1) - true[at] <= bounds + 1e-9)
            sums.setdefault("bound", []).append(bounds)
            former = [former_bound(values[w], units)[at[1][w]] for w in range(min(size, FORMER - begin))]
            sums.setdefault("former", []).append(np.array(former))
        # equal settings differ on these documents: where the claim is of these, none is wrong
        if units.kind == "clusters":
            equal = draw(cell, 0 * best, size, rng, units)[0]
            low, high = rule.intervals(rule.pairs(equal, first, second))
            sums.setdefault("wrong", []).append(((low > 1e-9) | (high < -1e-9)).any(axis=1))
    return {name: float(np.concatenate(values).mean()) for name, values in sums.items()}


def effects_cover(cell: Cell, rule: Flipped, values: Floats, true: Floats) -> np.ndarray:
    """In which worlds the intervals of all effects of factors contain the true ones."""
    levels = levels_of(cell)
    one, other = (np.array(side) for side in zip(*effect_pairs(cell), strict=True))
    found = rule.intervals(rule.pairs(levels @ values, one, other))
    return all_cover(found, one, other, true @ levels.T)


HEAD = (
    "documents",
    "queries on them",
    "settings",
    "scores",
    "worlds",
    "tested by",
    "bound held",
    "one better: held",
    "bound",
    "former bound",
    "all pairs covered",
    "equals called different",
    "effects covered",
)


OF_INTERVALS = (*HEAD[:6], "all pairs covered", "effects covered")


def rows_of(cells: Sequence[Cell], worlds: int, intervals: bool) -> Iterator[tuple[str, ...]]:
    """The row of each cell, or of what its ``intervals`` cover."""
    for cell in cells:
        found = rates(cell, worlds, intervals)
        start = (
            str(cell.documents),
            cell.spread,
            str(cell.settings),
            cell.scores,
            str(worlds),
            "documents" if units_in(cell).kind == "clusters" else "queries",
        )
        effects = percent(found["effects"]) if "effects" in found else "–"
        if intervals:
            yield *start, percent(found["covered"]), effects
            continue
        yield (
            *start,
            percent(found["held_graded"]),
            percent(found["held_one"]),
            f"{found['bound']:.3f}",
            f"{found['former']:.3f}",
            percent(found["covered"]),
            percent(found["wrong"]) if "wrong" in found else "–",
            effects,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=2_000, help="worlds a cell")
    parser.add_argument("--settings", nargs="+", type=int, choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--cells", nargs="+", default=[], help="only cells that these words are all in")
    parser.add_argument("--intervals", action="store_true", help="only what intervals cover")
    args = parser.parse_args()
    start = time.perf_counter()
    cells = [
        cell
        for cell in (Cell(*names) for names in product(DOCUMENTS, SPREADS, args.settings, SCORES))
        if all(word in f"{cell}," for word in args.cells)
    ]
    head = OF_INTERVALS if args.intervals else HEAD
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows_of(cells, args.worlds, args.intervals):
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s.")


if __name__ == "__main__":
    main()
