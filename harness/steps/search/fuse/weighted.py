"""Fusion of scores as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.steps.search.fuse.routes import FusionConfig
from harness.steps.search.fuse.scores import ScoreFusion


class WeightedConfig(FusionConfig):
    """The weighted sum of the routes' own scores, for routes whose scores can be compared between queries."""

    kind: Literal["weighted"] = "weighted"


class Weighted(ScoreFusion[WeightedConfig]):
    """The score itself.

    An absent chunk gets 0, or the lowest that the route gave where that is less: 0 would put it above all
    that a route with negative scores (`distance: l2`) found.
    """

    def rescale(self, scores: Sequence[float]) -> list[float]:
        """The scores."""
        return list(scores)

    def absent(self, rescaled: Sequence[float]) -> float:
        """0, or the lowest."""
        return min([0.0, *rescaled])
