"""What threshold judges need of models that run here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class Encoder(Protocol):
    """Turns texts into vectors, one row each."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of shape (texts, dimensions)."""


class PairScorer(Protocol):
    """Scores (query, passage) texts, one number each, higher for more relevant."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """One score per pair."""
