"""Items are drawn with chances in proportion to their size, so that the chance of each one is known.

Priority sampling (Duffield, Lund and Thorup, JACM 2007; sequential Poisson sampling, Ohlsson 1998): every
item gets a random number over its size, and those with the smallest are taken. Given the first one that is
not taken, an item was in with probability min(1, size · that number), and no two of them are correlated. So
a batch may end after any of its items.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from harness.stats.arrays import Floats


@dataclass(frozen=True, slots=True)
class Drawn:
    """One item of a batch: its ``size``, and its random number over that, the ``place``."""

    item_id: str
    size: float
    place: float


@dataclass(frozen=True, slots=True)
class Batch:
    """Items in the order in which they are to be graded.

    ``beyond`` is the place of the first item that was not drawn, None where all were. ``error`` is the
    covariance of the settings' sums of scores that was expected of the whole batch, a row a setting.
    ``known`` are the items that had grades when it was drawn and could not be drawn.
    """

    drawn: tuple[Drawn, ...]
    beyond: float | None
    error: tuple[tuple[float, ...], ...]
    known: frozenset[str]

    def done(self, labels: Container[str], skipped: Container[str] = ()) -> int:
        """How many of its items are graded or skipped without a gap from the first."""
        for count, one in enumerate(self.drawn):
            if one.item_id not in labels and one.item_id not in skipped:
                return count
        return len(self.drawn)

    def chances(self, count: int) -> Floats:
        """The chance of each of the first ``count`` items to be among the first ``count``."""
        edge = self.beyond if count == len(self.drawn) else self.drawn[count].place
        if edge is None:
            return np.ones(count)
        return np.minimum(1.0, np.array([one.size for one in self.drawn[:count]]) * edge)

    def error_after(self, count: int) -> Floats:
        """The covariance expected after ``count`` of its items: it falls with their number."""
        return np.array(self.error) * (len(self.drawn) / count)


def draw(
    ids: Sequence[str],
    size: Floats,
    count: int,
    error: Floats,
    known: frozenset[str],
    rng: np.random.Generator,
) -> Batch:
    """Draw ``count`` of the items ``ids``; ``error`` [S, S] and ``known`` are kept with the batch.

    Raises ValueError where there is nothing to draw from or a size is not above 0.
    """
    if not len(ids) or count < 1 or not (size > 0).all():
        raise ValueError("a draw takes items, each of a size above 0")
    places = (1 - rng.random(len(ids))) / size
    order = np.argsort(places, kind="stable")
    drawn = tuple(Drawn(ids[item], float(size[item]), float(places[item])) for item in order[:count])
    beyond = float(places[order[count]]) if count < len(order) else None
    return Batch(drawn, beyond, tuple(tuple(map(float, row)) for row in error), known)
