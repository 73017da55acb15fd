"""A judge by the cosine of two vectors: of the query, and of the passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from harness.judge.calibration import Cuts, Floats
from harness.judge.encoded import EncodedConfig, EncodedJudge
from harness.judge.pair_grades import Labelled, Pair
from harness.values import Run


class CosineConfig(EncodedConfig):
    """A judge that grades by the cosine of the vectors of query and passage."""

    usual_cuts: ClassVar[Cuts] = (0.3, 0.45, 0.6, 0.75)

    kind: Literal["cosine"] = "cosine"

    @property
    def title(self) -> str:
        """How it is named in every table."""
        return f"cosine of {self.model}"


class CosineJudge(EncodedJudge[CosineConfig]):
    """Grades by the cosine."""

    def scores(self, pairs: Sequence[Pair], labels: Sequence[Labelled]) -> Run[Floats]:
        """The cosine of the vectors of query and passage, float64 [pairs]; 0 for a vector of length 0."""
        queries, passages = yield from self.vectors(pairs)
        cosines: Floats = (queries * passages).sum(axis=1)
        return cosines
