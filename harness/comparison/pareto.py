"""Quality against cost: which settings are worth their price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from harness.comparison.stats.arrays import Bools, Floats
from harness.values import HarnessError


@dataclass(frozen=True, slots=True)
class FrontStep:
    """A setting on the front, and what its quality costs beyond the next cheaper one on it.

    ``price`` is the extra cost per point of quality, a point being 0.01; None for the cheapest setting.
    """

    setting: str
    cost: float
    quality: float
    price: float | None


def on_front(cost: Floats, quality: Floats) -> Bools:
    """Which settings no other one beats: none is as cheap and as good, and better in one of the two (Pareto).

    Equals are on the front together.
    """
    no_worse = (cost[:, None] <= cost) & (quality[:, None] >= quality)
    better = (cost[:, None] < cost) | (quality[:, None] > quality)
    front: Bools = np.logical_not((no_worse & better).any(axis=0))
    return front


def refuse_missing(cost: Mapping[str, float], settings: Iterable[str]) -> None:
    """Raise HarnessError where a setting has no cost, or one that is not a finite number."""
    missing = [name for name in settings if not np.isfinite(cost.get(name, np.nan))]
    if missing:
        raise HarnessError(f"No cost is given for {', '.join(missing)}. Give one for every setting.")


def front(cost: Mapping[str, float], quality: Mapping[str, float]) -> list[FrontStep]:
    """The front from the cheapest setting to the best; raises HarnessError if a cost is missing or NaN.

    Costs are of any unit (seconds, tokens, dollars), but one and the same.
    """
    refuse_missing(cost, quality)
    names = [name for name, value in quality.items() if np.isfinite(value)]
    costs = np.array([cost[name] for name in names], dtype=np.float64)
    values = np.array([quality[name] for name in names], dtype=np.float64)
    chosen = np.flatnonzero(on_front(costs, values)) if names else np.array([], dtype=np.int64)
    steps: list[FrontStep] = []
    for i in sorted(chosen.tolist(), key=lambda i: (costs[i], values[i])):
        gained = values[i] - steps[-1].quality if steps else 0.0
        price = (costs[i] - steps[-1].cost) / (100 * gained) if gained > 0 else None
        steps.append(FrontStep(names[i], float(costs[i]), float(values[i]), price))
    return steps
