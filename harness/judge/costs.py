"""Who the money was spent for: what judging cost each setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SettingCost:
    """``alone``: what the judgments that a setting uses have cost. ``shared``: each split among its users."""

    alone: float
    shared: float


def cost_by_setting(costs: NDArray[np.float64], used: Mapping[str, Sequence[int]]) -> dict[str, SettingCost]:
    """Cost per setting, from the cost of each judged pair and the numbers of the pairs that each uses.

    ``shared`` sums to the cost of all used pairs; ``alone`` is what the setting would have cost by itself.
    Both are NaN for a setting that uses a pair whose cost is unknown (NaN): an unknown cost is not zero.
    """
    numbers = {setting: np.unique(np.asarray(of, dtype=np.int64)) for setting, of in used.items()}
    users = np.zeros(len(costs))
    for of in numbers.values():
        users[of] += 1
    return {
        setting: SettingCost(float(costs[of].sum()), float((costs[of] / users[of]).sum()))
        for setting, of in numbers.items()
    }
