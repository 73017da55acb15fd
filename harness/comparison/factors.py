"""The factors of a sweep and their effects; whether a difference depends on the length of the labels.

A setting is a combination of levels (``SweepDesign``). The main effect of two levels is the mean difference
of all pairs of settings that differ in nothing else, query by query, so what the other factors add cancels
(Box, Hunter and Hunter, Statistics for Experimenters, 2005, ch. 5). All main effects are one family of the
joint test that pairs of settings take too, with the same units; all interactions are another one. There are
far fewer effects than pairs and each averages over several, so they are found sooner; docs/statistics.md has
the simulation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from harness.comparison.advice import regrets
from harness.comparison.design import Factor
from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import Comparison, beaten, compare_rows, usable
from harness.comparison.sentences import finding_words
from harness.comparison.stats import ROUNDING, units_of
from harness.comparison.verdict import Effect, Effects, Grounds, Settings, Verdict
from harness.measures import Floats
from harness.report import LabelSensitivityRow, Part, Table
from harness.values import number


@dataclass(frozen=True, slots=True)
class LabelSensitivity:
    """The means of W settings under every way of drawing the labels, the given labels first.

    ``ways`` [W] names them, ``lengths`` [W] is the median length of a relevant label in characters, ``means``
    maps a setting to its means [W].
    """

    ways: tuple[str, ...]
    lengths: tuple[float, ...]
    means: Mapping[str, tuple[float, ...]]

    def turns(self, *compared: tuple[str, ...]) -> tuple[str, ...]:
        """The ways under which a difference has another sign than with the given labels; to be 0 is none.

        It is that of the settings in the first half of each tuple minus those in the second.
        """
        half = len(compared[0]) // 2
        sides = [(name, 1 if at < half else -1) for one in compared for at, name in enumerate(one)]
        ahead = np.sum([side * np.array(self.means[name]) for name, side in sides], axis=0)
        signs = np.sign(np.where(np.abs(ahead) <= ROUNDING, 0.0, ahead))
        return tuple(way for way, sign in zip(self.ways, signs, strict=True) if sign * signs[0] < 0)


def sensitivity_of(
    rows: Iterable[tuple[str, LabelSensitivityRow]], settings: Collection[str]
) -> dict[str, LabelSensitivity]:
    """Every measure's, where all ``settings`` are in the rows of ``label_sensitivity.csv``.

    ``rows`` come with their settings; of several for one way of drawing the labels the last one counts.
    """
    means: dict[str, dict[str, dict[str, float]]] = {}
    lengths: dict[str, dict[str, float]] = {}
    for name, row in rows:
        if row.mean is not None:
            means.setdefault(row.measure, {}).setdefault(name, {})[row.labels] = row.mean
            lengths.setdefault(row.measure, {}).setdefault(row.labels, row.label_p50)
    return {
        measure: LabelSensitivity(
            tuple(ways),
            tuple(ways.values()),
            {name: tuple(means[measure][name][way] for way in ways) for name in settings},
        )
        for measure, ways in lengths.items()
        if all(set(means[measure].get(name, ())) == set(ways) for name in settings)
    }


def label_parts(verdict: Verdict) -> tuple[Part, ...]:
    """The part that `harness compare` prints; nothing if it is unknown or there is one setting.

    A table with a row per setting, the best first, and one with the lengths of the labels.
    """
    drawn = verdict.sensitivity.get(verdict.measure)
    if drawn is None or len(drawn.means) < 2:
        return ()
    rows = sorted(drawn.means.items(), key=lambda item: -item[1][0])
    table = Table(
        f"{verdict.measure} with longer and shorter labels: means",
        ("setting", *drawn.ways),
        (
            *((setting, *map(number, means)) for setting, means in rows),
            ("median label, characters", *(f"{length:,.0f}" for length in drawn.lengths)),
        ),
    )
    return (table,)


# One pair of settings is no average over the other factors.
FEWEST_PAIRS = 2
_NOT_COMPARED = ("incomparable", "few", "unread")
Cells = Mapping[tuple[str, ...], str]


def effects_of(matrix: ScoreMatrix, grounds: Grounds) -> Effects:
    """The effects of the factors of a design on a measure.

    Nothing where settings are not combinations of levels, or too few differ in one factor alone. A contrast
    between settings that cut documents differently is no finding where the measure does not compare these, or
    where longer or shorter labels turn its sign, as with pairs of settings; nor is such an interaction.
    """
    matrix, design = usable(matrix), grounds.design
    cells = design.cells(matrix.settings)
    planned = [
        (factor, one, other, pairs)
        for place, factor in enumerate(design.factors)
        for one, other in combinations(factor.distinct, 2)
        if len(pairs := _settings_at(cells, (place,), ((one,), (other,)))) >= FEWEST_PAIRS
    ]
    if not planned:
        return Effects()
    planned = [_ordered(matrix, *plan) for plan in planned]
    names = [level for _, one, other, _ in planned for level in (one, other)]
    found = _contrasts(matrix, grounds, names, [pairs for *_, pairs in planned])
    main = tuple(
        Effect(factor.name, one, pairs, finding_words(one, grounds.options.tolerance))
        for one, (factor, _, _, pairs) in zip(found, planned, strict=True)
    )
    interactions = _interactions(matrix, grounds, cells)
    levels = None if interactions else _levels(main, grounds)
    return Effects(main, interactions, levels)


def _settings_at(cells: Cells, factors: Sequence[int], levels: Sequence[tuple[str, ...]]) -> Settings:
    """The settings that have each of these ``levels`` of some factors, and all else in common."""
    found = []
    for cell in cells:
        if tuple(cell[factor] for factor in factors) == levels[0]:
            own = [dict(zip(factors, at, strict=True)) for at in levels]
            others = [tuple(at.get(place, level) for place, level in enumerate(cell)) for at in own]
            if all(other in cells for other in others):
                found.append(tuple(cells[other] for other in others))
    return tuple(found)


def _halves(matrix: ScoreMatrix, compared: Settings) -> Floats:
    """The mean scores of the first half of every tuple and of the second one, by query, [2, Q]."""
    half = len(compared[0]) // 2
    halves = [[name for one in compared for name in one[part]] for part in (slice(half), slice(half, None))]
    means: Floats = np.stack([np.mean([matrix.row(name) for name in names], axis=0) for names in halves])
    return means


def _ordered(
    matrix: ScoreMatrix, factor: Factor, one: str, other: str, pairs: Settings
) -> tuple[Factor, str, str, Settings]:
    """A contrast with the better level first, or the step before its absence."""
    if factor.absent in (one, other):
        swapped = one == factor.absent
    else:
        first, second = _halves(matrix, pairs)
        swapped = bool(first.mean() < second.mean())
    return (factor, other, one, tuple((b, a) for a, b in pairs)) if swapped else (factor, one, other, pairs)


def _contrasts(
    matrix: ScoreMatrix, grounds: Grounds, names: Sequence[str], planned: Sequence[Settings]
) -> list[Comparison]:
    """The planned contrasts, each of the first half of its settings with the second, as one family."""
    units = units_of(matrix.clusters, len(matrix.query_ids))
    family = [(2 * place, 2 * place + 1) for place in range(len(planned))]
    rows = np.vstack([_halves(matrix, compared) for compared in planned])
    found, _ = compare_rows(names, rows, family, units, grounds.options)
    return [grounds.checked(*one, matrix.measure) for one in zip(found, planned, strict=True)]


def _interactions(matrix: ScoreMatrix, grounds: Grounds, cells: Cells) -> tuple[str, ...]:
    """Sentences on effects of a factor that are not the same at two levels of another, as one family.

    Levels are compared with the first of their factor, which every interaction can be made from.
    """
    planned = []
    for (f, first), (g, second) in combinations(enumerate(grounds.design.factors), 2):
        for one, other in product(first.distinct[1:], second.distinct[1:]):
            base, across = first.distinct[0], second.distinct[0]
            # the same levels against mixed ones: half the difference of the effects
            corners = ((one, other), (base, across), (one, across), (base, other))
            if compared := _settings_at(cells, (f, g), corners):
                planned.append((corners[0], corners[1], compared))
    if not planned:
        return ()
    names = ["same", "mixed"] * len(planned)
    found = _contrasts(matrix, grounds, names, [compared for *_, compared in planned])
    sentences = []
    for contrast, ((one, other), (base, across), _) in zip(found, planned, strict=True):
        if contrast.real:
            # by how much two effects differ, whichever sign each has
            more = 2 * contrast.difference
            better = f"{abs(more):.3f} {'better' if more > 0 else 'worse'}"
            sentences.append(f"{one} instead of {base} does {better} with {other} than with {across}.")
    return tuple(sentences)


def _levels(main: Sequence[Effect], grounds: Grounds) -> dict[str, str] | None:
    """The level to use of every factor: of those that none is better than, the one that may lose the least.

    A lighter one is taken where both are shown to be equivalent. None if some levels are not compared.
    """
    tolerance = grounds.options.tolerance
    chosen = {}
    for factor in grounds.design.factors:
        levels = factor.distinct
        own = [one.found for one in main if one.factor == factor.name]
        if len(own) < len(levels) * (len(levels) - 1) // 2:
            return None
        if any(one.finding in _NOT_COMPARED or one.low is None or one.high is None for one in own):
            return None
        loss, out = regrets(own, levels), beaten(own)
        left = [level for level in levels if level not in out] or list(levels)
        best = min(left, key=lambda level: loss[level])
        bounds = [({one.setting, one.against}, max(-(one.low or 0.0), one.high or 0.0)) for one in own]
        equal = [pair for pair, most in bounds if most <= tolerance]
        alike = [best, *(level for level in left if {level, best} in equal)]
        chosen[factor.name] = min(alike, key=lambda level: (factor.weight.get(level, 0), loss[level]))
    return chosen
