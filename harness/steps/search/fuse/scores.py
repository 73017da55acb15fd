"""Fusion by ranks (`rrf`), or by scores: those of each route are rescaled, weighted and summed."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, Literal

from pydantic import Field

from harness.steps.search.fuse import Fusing, Fusion, FusionConfig
from harness.values import Ranking


class RrfConfig(FusionConfig):
    """Reciprocal rank fusion: ranks count, scores do not."""

    kind: Literal["rrf"] = "rrf"
    k: float = Field(
        60.0, ge=0, description="The constant added to a rank; a larger one makes ranks count more equally."
    )


class Rrf(Fusion[RrfConfig]):
    """A chunk earns weight / (k + rank) from every route that ranked it."""

    def combine(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> dict[str, float]:
        """The sum of reciprocal ranks; an absent chunk earns nothing."""
        scores: dict[str, float] = {}
        for ranking, weight in zip(rankings, weights, strict=True):
            for rank, chunk_id in enumerate(ranking.chunk_ids, start=1):
                scores[chunk_id] = scores.get(chunk_id, 0.0) + weight / (self.config.k + rank)
        return scores


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
        fused = dict.fromkeys((chunk_id for ranking in rankings for chunk_id in ranking.chunk_ids), 0.0)
        for ranking, weight in zip(rankings, weights, strict=True):
            scored = {
                chunk_id: score
                for chunk_id, score in zip(ranking.chunk_ids, ranking.scores, strict=True)
                if math.isfinite(score)
            }
            rescaled = self.rescale(list(scored.values())) if scored else []
            nothing = self.absent(rescaled)
            given = dict(zip(scored, rescaled, strict=True))
            for chunk_id in fused:
                fused[chunk_id] += weight * given.get(chunk_id, nothing)
        return fused


class MinMaxConfig(FusionConfig):
    """The sum of scores scaled to 0..1: the best that a route found for a query is 1, the last 0."""

    kind: Literal["minmax"] = "minmax"


class MinMax(ScoreFusion[MinMaxConfig]):
    """(score − lowest) / (highest − lowest), over what the route found for the query.

    Fox and Shaw's CombSUM over scores scaled as by Lee (SIGIR 1997). An absent chunk gets 0, as the last one
    found does: retrieve deeper by the routes than by the fusion. Where all scores are equal, a single hit
    among them, each is the best, 1.
    """

    def rescale(self, scores: Sequence[float]) -> list[float]:
        """Scores in 0..1."""
        low, high = min(scores), max(scores)
        return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


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
