"""The factors of a sweep and their effects.

A setting is a combination of levels (``SweepDesign``). The main effect of two levels is the mean difference
of all pairs of settings that differ in nothing else, query by query, so what the other factors add cancels
(Box, Hunter and Hunter, Statistics for Experimenters, 2005, ch. 5). All main effects are one family of the
joint test that pairs of settings take too, with the same units; all interactions are another one. There are
far fewer effects than pairs and each averages over several, so they are found sooner; docs/calibration.md has
the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product

import numpy as np

from harness.comparison.design import Factor
from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import Comparison, beaten, compare_rows, usable
from harness.comparison.phrases import finding_words
from harness.comparison.stats import units_of
from harness.comparison.verdict import Grounds, Settings
from harness.comparison.verdict_parts import Effect, Effects
from harness.measures import Floats

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
        (factor, first, second, pairs)
        for place, factor in enumerate(design.factors)
        for first, second in combinations(factor.distinct, 2)
        if len(pairs := _settings_at(cells, (place,), ((first,), (second,)))) >= FEWEST_PAIRS
    ]
    if not planned:
        return Effects()
    planned = [_ordered(matrix, *plan) for plan in planned]
    names = [level for _, better, worse, _ in planned for level in (better, worse)]
    contrasts = _contrasts(matrix, grounds, names, [pairs for *_, pairs in planned])
    main = tuple(
        Effect(factor.name, contrast, pairs, finding_words(contrast, grounds.options.tolerance))
        for contrast, (factor, _, _, pairs) in zip(contrasts, planned, strict=True)
    )
    interactions = _interactions(matrix, grounds, cells)
    levels = None if interactions else _levels(main, grounds)
    return Effects(main, interactions, levels)


def _settings_at(cells: Cells, factors: Sequence[int], levels: Sequence[tuple[str, ...]]) -> Settings:
    """The settings that have each of these ``levels`` of some factors, and all else in common."""
    combined = []
    for cell in cells:
        if tuple(cell[factor] for factor in factors) == levels[0]:
            changes = [dict(zip(factors, at, strict=True)) for at in levels]
            others = [tuple(at.get(place, level) for place, level in enumerate(cell)) for at in changes]
            if all(other in cells for other in others):
                combined.append(tuple(cells[other] for other in others))
    return tuple(combined)


def _halves(matrix: ScoreMatrix, compared: Settings) -> Floats:
    """The mean scores of the first half of every tuple and of the second one, by query, [2, Q]."""
    half = len(compared[0]) // 2
    halves = [
        [name for settings in compared for name in settings[part]]
        for part in (slice(half), slice(half, None))
    ]
    means: Floats = np.stack([np.mean([matrix.row(name) for name in names], axis=0) for names in halves])
    return means


def _ordered(
    matrix: ScoreMatrix, factor: Factor, level: str, other: str, pairs: Settings
) -> tuple[Factor, str, str, Settings]:
    """A contrast with the better level first, or the step before its absence."""
    if factor.absent in (level, other):
        swapped = level == factor.absent
    else:
        first, second = _halves(matrix, pairs)
        swapped = bool(first.mean() < second.mean())
    return (
        (factor, other, level, tuple((b, a) for a, b in pairs)) if swapped else (factor, level, other, pairs)
    )


def _contrasts(
    matrix: ScoreMatrix, grounds: Grounds, names: Sequence[str], planned: Sequence[Settings]
) -> list[Comparison]:
    """The planned contrasts, each of the first half of its settings with the second, as one family."""
    units = units_of(matrix.clusters, len(matrix.query_ids))
    family = [(2 * place, 2 * place + 1) for place in range(len(planned))]
    rows = np.vstack([_halves(matrix, compared) for compared in planned])
    contrasts, _ = compare_rows(names, rows, family, units, grounds.options)
    return [grounds.checked(*contrast, matrix.measure) for contrast in zip(contrasts, planned, strict=True)]


def _interactions(matrix: ScoreMatrix, grounds: Grounds, cells: Cells) -> tuple[str, ...]:
    """Sentences on effects of a factor that are not the same at two levels of another, as one family.

    Levels are compared with the first of their factor, which every interaction can be made from.
    """
    planned = []
    for (f, first), (g, second) in combinations(enumerate(grounds.design.factors), 2):
        for level, other in product(first.distinct[1:], second.distinct[1:]):
            base, across = first.distinct[0], second.distinct[0]
            # the same levels against mixed ones: half the difference of the effects
            corners = ((level, other), (base, across), (level, across), (base, other))
            if compared := _settings_at(cells, (f, g), corners):
                planned.append((corners[0], corners[1], compared))
    if not planned:
        return ()
    names = ["same", "mixed"] * len(planned)
    contrasts = _contrasts(matrix, grounds, names, [compared for *_, compared in planned])
    sentences = []
    for contrast, ((level, other), (base, across), _) in zip(contrasts, planned, strict=True):
        if contrast.real:
            # by how much two effects differ, whichever sign each has
            more = 2 * contrast.difference
            better = f"{abs(more):.3f} {'better' if more > 0 else 'worse'}"
            sentences.append(f"{level} instead of {base} does {better} with {other} than with {across}.")
    return tuple(sentences)


def _levels(main: Sequence[Effect], grounds: Grounds) -> dict[str, str] | None:
    """The level to use of every factor: of those that none is better than, the one that may lose the least.

    A lighter one is taken where both are shown to be equivalent. None if some levels are not compared.
    """
    tolerance = grounds.options.tolerance
    chosen = {}
    for factor in grounds.design.factors:
        levels = factor.distinct
        contrasts = [effect.found for effect in main if effect.factor == factor.name]
        if len(contrasts) < len(levels) * (len(levels) - 1) // 2:
            return None
        if any(
            contrast.finding in _NOT_COMPARED or contrast.low is None or contrast.high is None
            for contrast in contrasts
        ):
            return None
        loss, out = _losses(contrasts, levels), beaten(contrasts)
        left = [level for level in levels if level not in out] or list(levels)
        best = min(left, key=lambda level: loss[level])
        bounds = [
            ({contrast.setting, contrast.against}, max(-(contrast.low or 0.0), contrast.high or 0.0))
            for contrast in contrasts
        ]
        equal = [pair for pair, most in bounds if most <= tolerance]
        alike = [best, *(level for level in left if {level, best} in equal)]
        chosen[factor.name] = min(alike, key=lambda level: (factor.weight.get(level, 0), loss[level]))
    return chosen


def _losses(contrasts: Iterable[Comparison], levels: Iterable[str]) -> dict[str, float]:
    """What each level may lose: the largest upper limit of another one minus it, at least 0."""
    most = dict.fromkeys(levels, 0.0)
    for pair in contrasts:
        if pair.low is not None and pair.high is not None:
            most[pair.setting] = max(most[pair.setting], -pair.low)
            most[pair.against] = max(most[pair.against], pair.high)
    return most
