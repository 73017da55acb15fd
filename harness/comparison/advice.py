"""Which setting to use: what each may lose to the others at most, and which are worth their price.

The bounds are those of one-sided comparisons with the best (``regret``): with their confidence no setting
loses more than its bound to any other, whichever is the best and whichever is chosen.

Which setting is named is a second matter, and no bound depends on it. It is the one with the highest mean,
unless another one within the tolerance of it has a bound that is smaller by more than the tolerance, falls
less far behind others under longer and shorter labels, or costs less: within such an indifference zone means
are as good as each other (Bechhofer, Annals of Mathematical Statistics 1954).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.comparison.matrix import ScoreMatrix
from harness.comparison.paired import Comparison, Options, beaten
from harness.comparison.regret import losses
from harness.comparison.stats import units_of
from harness.measures import family_of

# Below this mean all settings lose more than two thirds of what a perfect ranking has: none is to be used as
# it is, however sure its lead.
POOR = 0.3


def ends_at_one(measure: str) -> bool:
    """Whether a perfect ranking has 1, so that a mean says how good it is; of unknown ones nobody knows."""
    family = family_of(measure)
    return family is not None and not family.below_one


def is_poor(best: float, measure: str) -> bool:
    """Whether even the ``best`` mean by a measure is not good enough to be used."""
    return round(best, 2) < POOR and ends_at_one(measure)


def front(cost: Mapping[str, float], quality: Mapping[str, float]) -> list[str]:
    """The settings that no other one beats, from the cheapest to the best (Pareto).

    None is as cheap and as good, and better in one of the two; nor is one better that gives more for each
    unit of its cost, so that what finds nothing is not on the front for being cheap. Equals are on the front
    together. Costs are of any unit (seconds, tokens, dollars), but one and the same.
    """
    points = [(cost[name], value, name) for name, value in quality.items()]
    points = [point for point in points if point[1] > 0] or points

    def beaten_by(point: tuple[float, float, str], other: tuple[float, float, str]) -> bool:
        (paid, good, _), (other_cost, better, _) = point, other
        if better > good and better * paid > good * other_cost:
            return True
        return other_cost <= paid and better >= good and (other_cost, better) != (paid, good)

    left = [point for point in points if not any(beaten_by(point, other) for other in points)]
    return [name for *_, name in sorted(left, key=lambda point: point[:2])]


Rule = Literal["mean", "bound", "labels", "price", "effects"]
# A price that is less than a tenth lower decides nothing between settings that are as good as each other.
_CHEAPER = 0.9
_COMPARED = frozenset(("real", "equivalent", "open", "turns"))


@dataclass(frozen=True, slots=True)
class Cheaper:
    """A ``setting`` at a lower price that loses at most ``regret``, which is within the tolerance."""

    setting: str
    regret: float


@dataclass(frozen=True, slots=True)
class Advice:
    """The ``setting`` to use, which loses at most ``regret`` to any other.

    Where documents are too few, that is for more queries on the same ones. ``among`` are
    the settings it was chosen from, all or those within the price limit, and the regret is to these.
    ``cheaper`` is the cheapest of them that loses no more than the tolerance; None if that is the setting
    itself, or if prices are unknown. ``bounds`` has the regret of each of ``among``. ``rule`` is what
    decided: the highest ``mean``; or, among settings within the tolerance of it, the smaller ``bound``, what
    stays good under longer and shorter ``labels``, the lower ``price``, or the ``effects`` of the factors.
    """

    setting: str
    regret: float
    among: tuple[str, ...]
    cheaper: Cheaper | None
    bounds: Mapping[str, float]
    rule: Rule = "mean"


def regrets(
    matrix: ScoreMatrix, pairs: Iterable[Comparison], options: Options, among: Iterable[str] | None = None
) -> dict[str, float]:
    """The regret bound of every setting of ``matrix``, whose comparisons are ``pairs``: at least 0.

    ``among`` some of them if given; else settings that can be compared with none are left out.
    """
    matrix = matrix.defined()
    place = {name: at for at, name in enumerate(matrix.settings)}
    compared = np.zeros((len(place), len(place)), dtype=np.bool_)
    names = [*place] if among is None else [*among]
    kept = {*names}
    for pair in pairs:
        if pair.finding in _COMPARED and {pair.setting, pair.against} <= kept:
            row, other = place[pair.setting], place[pair.against]
            compared[row, other] = compared[other, row] = True
    units = units_of(matrix.clusters, len(matrix.query_ids))
    bounds = losses(matrix.values, compared, units, options.level, options.resamples, options.seed)
    finite = {name: float(bounds[place[name]]) for name in names if np.isfinite(bounds[place[name]])}
    return finite if among is None else dict.fromkeys(names, 0.0) | finite


def affordable(order: Sequence[str], prices: Mapping[str, float] | None, options: Options) -> tuple[str, ...]:
    """The settings in ``order`` that are within the price limit; all where there is none or no price."""
    if prices is None or options.price_limit is None:
        return tuple(order)
    return tuple(name for name in order if prices[name] <= options.price_limit)


def advise(
    among: Sequence[str],
    pairs: Sequence[Comparison],
    bounds: Mapping[str, float],
    prices: Mapping[str, float] | None,
    drawn: Mapping[str, Sequence[float]],
    options: Options,
) -> Advice | None:
    """The setting to use ``among`` some, the highest mean first, by ``pairs`` of them and their ``bounds``.

    ``drawn`` are the means of every setting by the ways of drawing the labels, empty if these are unknown.
    None if a pair cannot be compared, or there is no setting. How a setting that is shown to be worse than
    another compares with a third one does not matter.
    """
    out = beaten(pairs)
    apart = [pair for pair in pairs if pair.finding not in _COMPARED]
    if any(pair.finding != "unread" or not {pair.setting, pair.against} & out for pair in apart):
        return None
    if not among:
        return None
    chosen, rule = _chosen(among, pairs, bounds, prices, drawn, options.tolerance)
    cheaper = None
    if prices is not None:
        enough = [name for name in among if bounds[name] <= options.tolerance]
        least = min(enough, key=lambda name: prices[name], default=chosen)
        cheaper = Cheaper(least, bounds[least]) if prices[least] < prices[chosen] else None
    regret = {name: bounds[name] for name in among}
    return Advice(chosen, bounds[chosen], tuple(among), cheaper, regret, rule)


def _chosen(
    among: Sequence[str],
    pairs: Sequence[Comparison],
    bounds: Mapping[str, float],
    prices: Mapping[str, float] | None,
    drawn: Mapping[str, Sequence[float]],
    tolerance: float,
) -> tuple[str, Rule]:
    """The first of the settings, or one as good that another rule prefers (see the module), and the rule."""
    behind = {
        pair.against if pair.setting == among[0] else pair.setting: abs(pair.difference)
        for pair in pairs
        if among[0] in (pair.setting, pair.against) and not pair.real
    }
    near = [among[0], *(name for name in among[1:] if behind.get(name, np.inf) <= tolerance)]
    least = min(near, key=lambda name: bounds[name])
    chosen = among[0]
    rule: Rule = "mean"
    if bounds[among[0]] - bounds[least] > tolerance:
        chosen, rule = least, "bound"
    steady = [name for name in near if bounds[name] - bounds[least] <= tolerance]
    if drawn:
        short = shortfalls({name: drawn[name] for name in among})
        steadiest = min(short[name] for name in steady)
        steady = [name for name in steady if short[name] - steadiest <= tolerance]
        if chosen not in steady:
            chosen, rule = steady[0], "labels"
    if prices is not None:
        # that it is not shown to be worse does not make a cheap one as good
        sure = [name for name in steady if bounds[name] <= tolerance]
        cheapest = min(sure, key=lambda name: prices[name], default=chosen)
        if prices[cheapest] < _CHEAPER * prices[chosen]:
            chosen, rule = cheapest, "price"
    return chosen, rule


def shortfalls(drawn: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """How far every setting falls behind the best at most, under any way of drawing the labels."""
    means = np.array(list(drawn.values()))
    behind = (means.max(axis=0) - means).max(axis=1)
    return dict(zip(drawn, behind.tolist(), strict=True))
