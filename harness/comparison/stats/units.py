"""The sampling units: single queries, or whole clusters of them.

Questions on one document are alike, so tests and intervals go by whole clusters (Cameron and Miller, Journal
of Human Resources 2015). Where they are worth fewer than six of equal size such a test finds next to nothing,
and one by queries is far too sure of new clusters: what it finds is of these clusters alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.measures import Floats, Ints

# The signs of five agree by chance in 1 of 16 studies, so no test at 5 % finds anything; from six on tests by
# clusters hold their level and have power (docs/statistics.md has the simulation).
FEWEST_CLUSTERS = 6

Kind = Literal["clusters", "few clusters", "queries", "unknown"]


@dataclass(frozen=True, slots=True)
class Units:
    """The units of Q queries: ``of`` [Q] says which unit a query is in, ``sizes`` [G] how many are in each.

    ``kind``: ``clusters`` are the units; there are too ``few clusters``, so queries are the units, and what
    is found holds for more queries on these clusters alone; every query is a cluster of its own
    (``queries``); the clusters are ``unknown``, so queries are the units. ``clusters`` is how many there are,
    0 if unknown; ``effective`` how many units of equal size would be worth as much, n² / Σ size² (Kish 1965).
    """

    kind: Kind
    of: Ints
    sizes: Floats
    clusters: int
    effective: float

    @property
    def count(self) -> int:
        """The number of units, G."""
        return len(self.sizes)

    def shares(self, values: Floats) -> Floats:
        """Rows of query values [S, Q] as rows of units [S, G] with the same means: sums times G / Q."""
        if self.kind != "clusters":
            return values
        member = np.zeros((len(self.of), self.count))
        member[np.arange(len(self.of)), self.of] = self.count / len(self.of)
        shared: Floats = values @ member
        return shared

    def residuals(self, shares: Floats) -> Floats:
        """``shares`` [P, G] without the mean of the row per query: the spread.

        Large units are expected to hold more of the sum, so their size is taken out (the linearised ratio of
        survey sampling; Cochran, Sampling Techniques, 1977, ch. 6).
        """
        weights = self.sizes * (self.count / self.sizes.sum())
        left: Floats = shares - shares.mean(axis=1, keepdims=True) * weights
        return left


def units_of(clusters: Sequence[str], n: int) -> Units:
    """The units of n queries; ``clusters`` names each query's, '' for none; empty if unknown."""
    alone = np.arange(n, dtype=np.int64)
    if not any(clusters):
        return Units("unknown", alone, np.ones(n), 0, float(n))
    whole = whole_clusters(clusters)
    if whole.count == n:
        return Units("queries", alone, np.ones(n), n, float(n))
    if whole.effective < FEWEST_CLUSTERS:
        return Units("few clusters", alone, np.ones(n), whole.count, float(n))
    return whole


def whole_clusters(clusters: Sequence[str]) -> Units:
    """The named clusters as units, however few they are."""
    of, counts = _numbered(clusters)
    sizes = counts.astype(np.float64)
    return Units("clusters", of, sizes, len(sizes), float(len(of) ** 2 / (sizes**2).sum()))


def icc(values: Floats, clusters: Sequence[str]) -> float | None:
    """How alike the values [Q] of one cluster are: the intraclass correlation by analysis of variance.

    The share of the variance that lies between clusters (Donner, International Statistical Review 1986), with
    the size of unequal clusters averaged as there; not above 1, and 0 if clusters differ by no more than
    chance would have them. None if no cluster has two queries, or there is only one cluster.
    """
    of, counts = _numbered(clusters)
    n, groups = len(values), len(counts)
    if groups < 2 or groups == n:
        return None
    means = np.bincount(of, weights=values) / counts
    between = float((counts * (means - values.mean()) ** 2).sum()) / (groups - 1)
    within = float(((values - means[of]) ** 2).sum()) / (n - groups)
    size = (n - float((counts.astype(np.float64) ** 2).sum()) / n) / (groups - 1)
    spread = between + (size - 1) * within
    return max(0.0, min(1.0, (between - within) / spread)) if spread > 0 else 0.0


def _numbered(clusters: Sequence[str]) -> tuple[Ints, Ints]:
    """The number of every query's cluster [Q], and how many queries each has [G].

    A query without a cluster is one of its own.
    """
    place: dict[str | int, int] = {}
    of = np.array(
        [place.setdefault(name or i, len(place)) for i, name in enumerate(clusters)], dtype=np.int64
    )
    return of, np.bincount(of).astype(np.int64)
