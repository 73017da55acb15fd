"""A sparse vector: the weights of some dimensions, as stores keep them and sparse encoders make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class SparseVector:
    """The weights of some dimensions, each named once; all others are 0."""

    dimensions: tuple[int, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> SparseVector:
        """That of weights by dimension."""
        return cls(tuple(weights), tuple(map(float, weights.values())))

    @classmethod
    def read(cls, value: bytes) -> SparseVector:
        """That of a sparse encoder, as it is kept: dimensions and weights [2, n]."""
        dimensions, weights = np.frombuffer(value, dtype=np.float32).reshape(2, -1)
        return cls(tuple(map(int, dimensions)), tuple(map(float, weights)))

    def cosine(self, other: SparseVector) -> float:
        """The cosine of the angle between two; 0 where one of them is empty."""
        theirs = dict(zip(other.dimensions, other.weights, strict=True))
        product = sum(
            weight * theirs.get(at, 0.0) for at, weight in zip(self.dimensions, self.weights, strict=True)
        )
        lengths = float(np.linalg.norm(self.weights) * np.linalg.norm(other.weights))
        return product / lengths if lengths else 0.0

    def share_in(self, other: SparseVector) -> float:
        """The share of its dimensions that the other has too; 0 where it has none."""
        return len({*self.dimensions} & {*other.dimensions}) / max(1, len(self.dimensions))
