"""Fusion of standard scores (Montague and Aslam, CIKM 2001: zero mean, unit variance)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from harness.search.fuse.routes import FusionConfig
from harness.search.fuse.scores import ScoreFusion

_ABSENT = -2.0


class ZScoreConfig(FusionConfig):
    """The sum of standard scores: how many standard deviations above the mean of its route a chunk is."""

    kind: Literal["zscore"] = "zscore"


class ZScore(ScoreFusion[ZScoreConfig]):
    """(score − mean) / standard deviation, over what the route found for the query (all of it: divided by n).

    An absent chunk gets −2, or the lowest that the route gave where that is less: the mean, 0, would put it
    above half of what was found. Where all scores are equal, each is the mean, 0.
    """

    def rescale(self, scores: Sequence[float]) -> list[float]:
        """Standard scores."""
        values = np.array(scores)
        spread = float(values.std()) if min(scores) < max(scores) else 0.0
        return ((values - values.mean()) / spread).tolist() if spread else [0.0] * len(scores)

    def absent(self, rescaled: Sequence[float]) -> float:
        """−2, or the lowest."""
        return min([_ABSENT, *rescaled])
