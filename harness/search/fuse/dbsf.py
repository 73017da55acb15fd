"""Distribution-based score fusion (Mazzeschi 2023), as Qdrant computes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from harness.search.fuse.routes import FusionConfig
from harness.search.fuse.scores import ScoreFusion


class DbsfConfig(FusionConfig):
    """The sum of scores scaled so that three standard deviations below the mean are 0 and above it 1."""

    kind: Literal["dbsf"] = "dbsf"


class Dbsf(ScoreFusion[DbsfConfig]):
    """(score − (mean − 3σ)) / 6σ, over what the route found for the query; σ² is divided by n − 1.

    An absent chunk gets 0. Where all scores are equal, a single hit among them, each gets 0.5. Scores beyond
    three σ are not cut: they are above 1, or below 0.
    """

    def rescale(self, scores: Sequence[float]) -> list[float]:
        """Scores about 0.5, nearly all within 0..1."""
        values = np.array(scores)
        spread = 6 * float(values.std(ddof=1)) if min(scores) < max(scores) else 0.0
        return ((values - values.mean()) / spread + 0.5).tolist() if spread else [0.5] * len(scores)
