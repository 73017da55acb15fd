"""Fusion by ranks (`rrf`), or by scores: those of each route are rescaled, weighted and summed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import Field

from harness.steps.search.fuse import Fusion, FusionConfig
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
        return reciprocal_ranks(rankings, weights, self.config.k)


def reciprocal_ranks(rankings: Sequence[Ranking], weights: Sequence[float], k: float) -> dict[str, float]:
    """The sum of weight / (k + rank), rank 1 first, for every chunk that any route ranked."""
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, chunk_id in enumerate(ranking.chunk_ids, start=1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + weight / (k + rank)
    return scores


class MinMaxConfig(FusionConfig):
    """The sum of scores scaled to 0..1: the best that a route found for a query is 1, the last 0."""

    kind: Literal["minmax"] = "minmax"


class MinMax(Fusion[MinMaxConfig]):
    """(score − lowest) / (highest − lowest), over what the route found for the query.

    Fox and Shaw's CombSUM over scores scaled as by Lee (SIGIR 1997). An absent chunk gets 0, as the last one
    found does: retrieve deeper by the routes than by the fusion. Where all scores are equal, a single hit
    among them, each is the best, 1.
    """

    def combine(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> dict[str, float]:
        """The weighted sum of scores in 0..1."""
        return weighted_sum(rankings, weights, to_unit)


class WeightedConfig(FusionConfig):
    """The weighted sum of the routes' own scores, for routes whose scores can be compared between queries."""

    kind: Literal["weighted"] = "weighted"


class Weighted(Fusion[WeightedConfig]):
    """The score itself."""

    def combine(self, rankings: Sequence[Ranking], weights: Sequence[float]) -> dict[str, float]:
        """The weighted sum of the scores."""
        return weighted_sum(rankings, weights, list)


def to_unit(scores: Sequence[float]) -> list[float]:
    """Scores [n ≥ 1] scaled to 0..1; all 1 where they are equal."""
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def weighted_sum(
    rankings: Sequence[Ranking],
    weights: Sequence[float],
    rescale: Callable[[Sequence[float]], Sequence[float]],
) -> dict[str, float]:
    """The weighted sum of each route's scores for one query, rescaled, for every chunk that any ranked.

    A chunk that a route ranked without scoring it (NOT_SCORED) counts as absent from that route; it is fused
    nevertheless, after its equals. An absent chunk gets 0, or the lowest that the route gave where that is
    less: 0 would put it above all that a route with negative scores (`distance: l2`) found.
    """
    fused = dict.fromkeys((chunk_id for ranking in rankings for chunk_id in ranking.chunk_ids), 0.0)
    for ranking, weight in zip(rankings, weights, strict=True):
        pairs = zip(ranking.chunk_ids, ranking.scores, strict=True)
        scored = {chunk_id: score for chunk_id, score in pairs if math.isfinite(score)}
        rescaled = rescale(list(scored.values())) if scored else ()
        rescaled_scores = dict(zip(scored, rescaled, strict=True))
        absent = min([0.0, *rescaled])
        for chunk_id in fused:
            fused[chunk_id] += weight * rescaled_scores.get(chunk_id, absent)
    return fused
