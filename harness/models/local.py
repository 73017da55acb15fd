"""A model that runs on this machine: loaded once, when the first text has to be read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from harness.models.computing import ComputingConfig
from harness.models.model_files import ModelFiles, resolve
from harness.models.tokenizer import ModelTokenizer

Load = Callable[[ModelFiles, str | None, str, str], Any]
"""Loads the weights of a model, given device, dtype and backend."""


class LocalConfig(ComputingConfig):
    """Base of the configurations that name a model which runs here."""

    model: str

    @property
    def model_name(self) -> str:
        """The model."""
        return self.model


Configured = TypeVar("Configured", bound=LocalConfig)


class LocalModel(ABC, Generic[Configured]):
    """Base of encoders and rerankers whose model runs here."""

    def __init__(self, config: Configured) -> None:
        self.config = config
        self.model = resolve(config.model)
        self.tokenizer = ModelTokenizer(self.model)
        self._loaded: Any = None

    def describe(self) -> dict[str, str]:
        """The model and what it computes in, for the run record."""
        return {**self.model.describe(), "dtype": self.config.dtype, "backend": self.config.backend}

    @abstractmethod
    def loader(self) -> Load:
        """What loads the weights."""

    def loaded(self) -> Any:
        """The model with its weights."""
        if self._loaded is None:
            c = self.config
            self._loaded = self.loader()(self.model, c.device, c.dtype, c.backend)
        return self._loaded
