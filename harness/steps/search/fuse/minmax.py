"""Min-max fusion (Fox and Shaw's CombSUM over scores scaled as by Lee, SIGIR 1997)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.steps.search.fuse.routes import FusionConfig
from harness.steps.search.fuse.scores import ScoreFusion


class MinMaxConfig(FusionConfig):
    """The sum of scores scaled to 0..1: the best that a route found for a query is 1, the last 0."""

    kind: Literal["minmax"] = "minmax"


class MinMax(ScoreFusion[MinMaxConfig]):
    """(score − lowest) / (highest − lowest), over what the route found for the query.

    An absent chunk gets 0, as the last one found does: retrieve deeper by the routes than by the fusion.
    Where all scores are equal, a single hit among them, each is the best, 1.
    """

    def rescale(self, scores: Sequence[float]) -> list[float]:
        """Scores in 0..1."""
        low, high = min(scores), max(scores)
        return [(score - low) / (high - low) if high > low else 1.0 for score in scores]
