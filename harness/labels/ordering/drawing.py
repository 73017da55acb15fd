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

from harness.comparison import Bools, Floats

STORED = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """One item of a batch: its ``size``, and its random number over that, the ``place``."""

    item_id: str
    size: float
    place: float


@dataclass(frozen=True, slots=True)
class Batch:
    """Items in the order in which they are to be graded.

    ``beyond`` is the place of the first item that was not drawn, None if all were. ``sizes`` are those of
    all items of the pool in the order of their ids, as 32-bit numbers, little end first; items that could
    not be drawn have the size that they would have had. ``known`` are the items that had grades when it was
    drawn and could not be drawn.
    """

    drawn: tuple[DrawnItem, ...]
    beyond: float | None
    sizes: bytes
    known: frozenset[str]

    def done(self, labels: Container[str], skipped: Container[str] = ()) -> int:
        """How many of its items are graded or skipped without a gap from the first."""
        for count, one in enumerate(self.drawn):
            if one.item_id not in labels and one.item_id not in skipped:
                return count
        return len(self.drawn)

    def chances(self, count: int) -> Floats:
        """The chance of each of the first ``count`` items to be among the first ``count``."""
        edge = self._edge(count)
        if edge is None:
            return np.ones(count)
        return np.minimum(1.0, np.array([one.size for one in self.drawn[:count]]) * edge)

    def chances_of_all(self, count: int) -> Floats:
        """The same of every item of the pool [P], in the order of their ids, as if none had been known."""
        sizes = np.frombuffer(self.sizes, STORED).astype(np.float64)
        edge = self._edge(count)
        return np.ones(len(sizes)) if edge is None else np.minimum(1.0, sizes * edge)

    def _edge(self, count: int) -> float | None:
        return self.beyond if count == len(self.drawn) else self.drawn[count].place


def draw(
    ids: Sequence[str],
    size: Floats,
    count: int,
    open_: Bools,
    known: frozenset[str],
    rng: np.random.Generator,
) -> Batch:
    """Draw ``count`` of the items ``ids`` [P] that are ``open_`` [P]; ``known`` is kept with the batch.

    Raises ValueError if there is nothing to draw from or a size is not above 0.
    """
    stored = np.asarray(size, dtype=STORED)
    if not open_.any() or count < 1 or not (stored > 0).all():
        raise ValueError("a draw takes items, each of a size above 0")
    exact = stored.astype(np.float64)
    places = np.where(open_, (1 - rng.random(len(ids))) / exact, np.inf)
    order = np.argsort(places, kind="stable")[: int(open_.sum())]
    drawn = tuple(DrawnItem(ids[item], float(exact[item]), float(places[item])) for item in order[:count])
    beyond = float(places[order[count]]) if count < len(order) else None
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    return Batch(drawn, beyond, stored[by_id].tobytes(), known)
