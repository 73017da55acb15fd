"""Rerankers whose model runs here: loaded once, when the first pair has to be scored."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from harness.models import LocalConfig, LocalModel, not_finite
from harness.steps.search.rerank.scorer import PairScorer
from harness.steps.search.step import RerankerConfig


class LocalModelConfig(LocalConfig, RerankerConfig):
    """Base of the configurations of rerankers whose model runs here."""


Configured = TypeVar("Configured", bound=LocalModelConfig)


class LocalModelScorer(LocalModel[Configured], PairScorer, Generic[Configured]):
    """Scores pairs with a model that runs here."""

    @property
    def fingerprint(self) -> str:
        """Everything that decides a score besides the pair."""
        return f"{self.config.kind}:{self.model.computing_in(self.config.dtype, self.config.backend)}"

    def try_out(self) -> None:
        """Load the model and score a pair; raises ModelError if it cannot be used."""
        if not np.isfinite(self.score([("word", "word")])).all():
            raise not_finite(self.model)
