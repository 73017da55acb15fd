"""Which setting to use: what each may lose to the others at most, and which are worth their price.

Multiple comparisons with the best (Hsu, Annals of Statistics 1981; Multiple Comparisons, 1996), from the
intervals of all pairs of settings: with the confidence of these no setting loses more than its bound to any
other, whichever is the best and whichever is chosen. Hsu's own limits, one-sided and against the best alone,
are nearer, but not those shown of the pairs, and could call a setting best that the pairs leave open.

Which setting is named is a second matter, and no bound depends on it. It is the one with the highest mean,
unless another one within the tolerance of it has a bound that is smaller by more than the tolerance: within
such an indifference zone means are as good as each other (Bechhofer, Annals of Mathematical Statistics 1954).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.comparison.paired import Comparison, Options, beaten
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
    known = [(cost[name], value, name) for name, value in quality.items()]
    known = [one for one in known if one[1] > 0] or known

    def beaten_by(one: tuple[float, float, str], other: tuple[float, float, str]) -> bool:
        (paid, good, _), (theirs, better, _) = one, other
        if better > good and better * paid > good * theirs:
            return True
        return theirs <= paid and better >= good and (theirs, better) != (paid, good)

    left = [one for one in known if not any(beaten_by(one, other) for other in known)]
    return [name for *_, name in sorted(left, key=lambda one: one[:2])]


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
    itself, or if prices are unknown.
    """

    setting: str
    regret: float
    among: tuple[str, ...]
    cheaper: Cheaper | None


def regrets(found: Iterable[Comparison], among: Iterable[str] | None = None) -> dict[str, float]:
    """The regret bound of every setting: the largest upper limit of another one minus it, at least 0.

    ``among`` some of them if given; else settings that can be compared with none are left out.
    """
    bounds = dict.fromkeys(among or (), 0.0)
    for one in found:
        apart = among is not None and not {one.setting, one.against} <= bounds.keys()
        if apart or one.finding not in _COMPARED or one.low is None or one.high is None:
            continue
        for setting, most in ((one.setting, -one.low), (one.against, one.high)):
            bounds[setting] = max(bounds.get(setting, 0.0), most)
    return bounds


def advise(
    order: Sequence[str], found: Sequence[Comparison], prices: Mapping[str, float] | None, options: Options
) -> Advice | None:
    """The setting to use, from all pairs ``found`` of the settings in ``order`` (the highest mean first).

    None if a pair cannot be compared, or no setting is within the price limit. How a setting that is shown to
    be worse than another compares with a third one does not matter.
    """
    out = beaten(found)
    apart = [one for one in found if one.finding not in _COMPARED]
    if any(one.finding != "unread" or not {one.setting, one.against} & out for one in apart):
        return None
    among = tuple(order)
    if prices is not None and options.price_limit is not None:
        among = tuple(name for name in order if prices[name] <= options.price_limit)
    bounds = regrets(found, among)
    if not among:
        return None
    chosen = _chosen(among, found, bounds, options.tolerance)
    cheaper = None
    if prices is not None:
        enough = [name for name in among if bounds[name] <= options.tolerance]
        least = min(enough, key=lambda name: prices[name], default=chosen)
        cheaper = Cheaper(least, bounds[least]) if prices[least] < prices[chosen] else None
    return Advice(chosen, bounds[chosen], among, cheaper)


def _chosen(
    among: Sequence[str], found: Sequence[Comparison], bounds: Mapping[str, float], tolerance: float
) -> str:
    """The first of the settings, or one as good that may lose far less (see the module)."""
    behind = {
        one.against if one.setting == among[0] else one.setting: abs(one.difference)
        for one in found
        if among[0] in (one.setting, one.against) and not one.real
    }
    near = [among[0], *(name for name in among[1:] if behind.get(name, np.inf) <= tolerance)]
    surest = min(near, key=lambda name: bounds[name])
    return surest if bounds[among[0]] - bounds[surest] > tolerance else among[0]
