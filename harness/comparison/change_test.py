"""Has the mean of bounded values changed since the first look? A test for as many looks as one likes.

Bets, as of Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024. For
a mean m, who bets that values are above m until some look, and below it from there on, multiplies a capital
of 1 by 1 + λ(x − m) and then by 1 − λ(x − m). If m is the mean throughout, no bets gain on average, whatever
the look and the stakes λ; so neither does the average of capitals over all looks and stakes, and it ever
reaches 1/α with a chance of at most α (Ville's inequality). A fall is found when every m from 0 to 1 has lost
its case in this way. Averaging over the looks at which a change may begin is the idea of e-detectors (Shin,
Ramdas and Rinaldo, New England Journal of Statistics in Data Science 2024), with weights that sum to 1: that
bounds the chance of any false alarm, ever, rather than the time between two.

The mean must be the same, given what came before, for each value; or for the whole look where the same
queries are asked each time and vary independently (by the inequality of the means, the product of
1 + λ(μ − m) over them is at most 1 where the μ average to m). Values must be from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2
from typing import Literal

import numpy as np

from harness.measures import Floats

CELLS = 500
"""Into how many cells the means from 0 to 1 are divided; each is judged by the worst case within it."""
# shares of the largest stake that cannot lose everything
_STAKES = np.array([0.02, 0.06, 0.18, 0.45, 0.9])[:, None]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is more than chance: the look that showed it, and the one that it probably began with.

    ``before`` and ``after`` are the means of the values before ``began`` and from there to ``shown``.
    """

    direction: Literal["fall", "rise"]
    shown: int
    began: int
    before: float
    after: float


class FallTest:
    """The evidence that the mean has fallen at some look; see the module."""

    def __init__(self, cells: int = CELLS) -> None:
        edges = np.linspace(0, 1, cells + 1)
        self._low, self._high = edges[:-1], edges[1:]
        # [stake, cell]: the log capital of bets above m from the first look on, and of bets below m
        self._above = np.zeros((len(_STAKES), cells))
        self._below = np.zeros((len(_STAKES), cells))
        # [stake, cell]: the log of the sum, over the looks of a change so far, of what was won before it
        # times its weight, divided by the capital of bets below m at that look
        self._switched = np.full((len(_STAKES), cells), -np.inf)
        self._looks = 0
        self._bets_on: dict[float, tuple[Floats, Floats]] = {}

    def look(self, values: Floats) -> float:
        """Take the values of the next look, from 0 to 1; returns the log of the evidence after it.

        The chance that it ever reaches log(1/α) without a fall is at most α.
        """
        self._looks += 1
        weight = 1 / log2(self._looks + 1) - 1 / log2(self._looks + 2)
        before = _log_mean(self._above)
        self._switched = np.logaddexp(self._switched, log(weight) + before - self._below)
        for value, count in zip(*np.unique(values, return_counts=True), strict=True):
            above, below = self._bets(float(value))
            self._above += count * above
            self._below += count * below
        # a change at a look to come: so far all bets are above m
        later = -log(log2(self._looks + 2)) + _log_mean(self._above)
        return float(np.logaddexp(_log_mean(self._switched + self._below), later).min())

    def _bets(self, value: float) -> tuple[Floats, Floats]:
        """The log factors of a value, above and below m, at the edge of each cell that is worse for them."""
        if (bets := self._bets_on.get(value)) is None:
            above = np.log1p(_STAKES / self._high * (value - self._high))
            below = np.log1p(-_STAKES / (1 - self._low) * (value - self._low))
            bets = above, below
            # binary and graded values repeat, others do not
            if len(self._bets_on) < 32:
                self._bets_on[value] = bets
        return bets


def changes(looks: Sequence[Floats], level: float = 0.05, cells: int = CELLS) -> list[Change]:
    """The changes of the mean over the looks, each an array of values from 0 to 1 that may be empty.

    The chance of a false alarm before the first change, over all looks there will ever be, is at most
    ``level``; after a change the test starts anew with the next look, with the same promise.
    """
    threshold = log(2 / level)
    shown: list[Change] = []
    start = 0
    fall, rise = FallTest(cells), FallTest(cells)
    for place, values in enumerate(looks):
        if not len(values):
            continue
        falls, rises = fall.look(values) >= threshold, rise.look(1 - values) >= threshold
        if falls or rises:
            shown.append(_placed(looks, start, place, "fall" if falls else "rise"))
            start = place + 1
            fall, rise = FallTest(cells), FallTest(cells)
    return shown


def _placed(looks: Sequence[Floats], start: int, shown: int, direction: Literal["fall", "rise"]) -> Change:
    """Where it probably began: the split of the looks that sets the two means apart most, by their sizes."""
    sums = np.array([values.sum() for values in looks[start : shown + 1]])
    sizes = np.array([len(values) for values in looks[start : shown + 1]])
    left, count = sums.cumsum()[:-1], sizes.cumsum()[:-1]
    rest, others = sums.sum() - left, sizes.sum() - count
    possible = (count > 0) & (others > 0)
    if not possible.any():
        mean = float(sums.sum() / sizes.sum())
        return Change(direction, shown, start, mean, mean)
    left, count, rest, others = (part[possible] for part in (left, count, rest, others))
    fallen = (left / count - rest / others) * (1 if direction == "fall" else -1)
    best = int(np.argmax(fallen * np.sqrt(count * others / (count + others))))
    began = start + 1 + int(np.flatnonzero(possible)[best])
    return Change(direction, shown, began, float(left[best] / count[best]), float(rest[best] / others[best]))


def _log_mean(logs: Floats) -> Floats:
    """The log of the mean over stakes [stake, cell] of what is given as logs."""
    largest = logs.max(axis=0)
    means: Floats = largest + np.log(np.exp(logs - largest).mean(axis=0))
    return means
