"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from harness.steps.search.fuse.routes import Fusion, FusionConfig
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
