"""Rerankers whose model runs here: loaded once, when the first pair has to be scored."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from harness.models import Model, ModelTokenizer, resolve
from harness.models.computing import ComputingConfig
from harness.models.load import not_finite
from harness.search.rerank.scorer import PairScorer
from harness.search.step import RerankerConfig


class LocalModelConfig(ComputingConfig, RerankerConfig):
    """Base of the configurations of rerankers whose model runs here."""

    model: str

    @property
    def model_name(self) -> str:
        """The model."""
        return self.model


Configured = TypeVar("Configured", bound=LocalModelConfig)


class LocalModelScorer(PairScorer, Generic[Configured]):
    """Scores pairs with a model that runs here."""

    def __init__(self, config: Configured) -> None:
        self.config = config
        self.model: Model = resolve(config.model)
        self.tokenizer = ModelTokenizer(self.model)
        self._loaded: Any = None

    @property
    def fingerprint(self) -> str:
        """Everything that decides a score besides the pair."""
        return f"{self.config.kind}:{self.model.computing_in(self.config.dtype, self.config.backend)}"

    def describe(self) -> dict[str, str]:
        """The model, for the run record."""
        return self.model.describe()

    def try_out(self) -> None:
        """Load the model and score a pair; raises ModelError if it cannot be used."""
        if not np.isfinite(self.score([("word", "word")])).all():
            raise not_finite(self.model)

    @abstractmethod
    def load(self) -> Any:
        """The model with its weights."""

    def loaded(self) -> Any:
        """The same, loaded once."""
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded
