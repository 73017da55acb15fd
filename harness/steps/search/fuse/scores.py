"""Fusion by scores: those of each route are rescaled, weighted and summed."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic

from harness.steps.search.fuse.routes import Fusing, Fusion
from harness.values import Ranking


class ScoreFusion(Fusion[Fusing], Generic[Fusing]):
    """The weighted sum of each route's scores, rescaled by a rule.

    The rule sees the scores of one route for one query. A chunk that a route ranked without scoring it
    (NOT_SCORED) counts as absent from that route; it is fused nevertheless, after its equals.
    """

    @abstractmethod
    def rescale(self, scores: Sequence[float]) -> list[float]:
        """The scores [n ≥ 1] of one route on the common scale, in their order."""

    def absent(self, rescaled: Sequence[float]) -> float:
        """The score of a chunk that a route did not find; ``rescaled`` [n ≥ 0] are those it found."""
        return 0.0

    def combine(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> dict[str, float]:
        """The fused score of every chunk that any route ranked."""
        every = dict.fromkeys(chunk_id for ranking in rankings for chunk_id in ranking.chunk_ids)
        fused = dict.fromkeys(every, 0.0)
        for ranking, weight in zip(rankings, weights, strict=True):
            scored = [
                (chunk_id, score)
                for chunk_id, score in zip(ranking.chunk_ids, ranking.scores, strict=True)
                if math.isfinite(score)
            ]
            rescaled = self.rescale([score for _, score in scored]) if scored else []
            nothing = self.absent(rescaled)
            given = dict(zip((chunk_id for chunk_id, _ in scored), rescaled, strict=True))
            for chunk_id in every:
                fused[chunk_id] += weight * given.get(chunk_id, nothing)
        return fused
