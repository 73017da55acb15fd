"""Encoders: texts → values, such as vectors, that are computed once and kept by text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models.computing import length_sorted_batches
from harness.models.load import load_bi_encoder, not_finite
from harness.models.local import Load, LocalConfig, LocalModel
from harness.values import StageConfig

Value = NDArray[np.float32] | bytes
"""The encoding of one text: numbers, or bytes that only the retriever it serves has to read."""


class EncoderConfig(StageConfig, ABC):
    """Base configuration of encoders: equal configurations are one encoder."""

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The model's name in the record and on the page."""

    @property
    def runs_here(self) -> bool:
        """Whether the model runs on this machine, so that its files and its tokenizer are available."""
        return True

    @abstractmethod
    def make(self) -> Encoder:
        """The encoder; loads no weights and sends nothing."""


class Encoder(ABC):
    """Texts → values that depend on the text alone. ``bulky``: those of a corpus are too large to hold."""

    bulky = False

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Everything that decides a value besides the text."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """The model, for the run record: its name among the facts."""


class LocalEncoderConfig(LocalConfig, EncoderConfig):
    """Base of the configurations of encoders whose model runs here."""


class LocalEncoder(LocalModel[LocalEncoderConfig], Encoder):
    """An encoder whose model runs here: loaded when the first text has to be encoded, and only then."""

    def batches(self, texts: Sequence[str]) -> list[list[int]]:
        """Indices of ``texts`` in length-sorted batches of at most ``batch_tokens`` tokens."""
        window = self.tokenizer.window or 1 << 30
        lengths = [min(length, window) for length in self.tokenizer.lengths(texts)]
        return length_sorted_batches(lengths, self.config.batch_tokens)

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Iterable[Value]:
        """The values of one batch of texts, in their order."""

    def numbers(self, texts: Sequence[str]) -> Iterable[NDArray[np.float32]]:
        """The values of one batch as numbers, where ``encode`` packs them into bytes too."""
        return cast("Iterable[NDArray[np.float32]]", self.encode(texts))

    def try_out(self) -> None:
        """Load the model and encode a word; raises ModelError if it cannot be used."""
        if not all(np.isfinite(one).all() for one in self.numbers(["word"])):
            raise not_finite(self.model)


class EmbedConfig(LocalEncoderConfig):
    """A bi-encoder, and how it computes."""

    model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="Hub id, local folder, or `embedded:all-MiniLM-L6-v2` (needs no network).",
    )

    def make(self) -> SentenceEncoder:
        """The encoder."""
        return SentenceEncoder(self)


class SentenceEncoder(LocalEncoder):
    """A bi-encoder: one vector per text."""

    @property
    def fingerprint(self) -> str:
        """Everything that decides a vector besides the text."""
        return self.model.computing_in(self.config.dtype, self.config.backend)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of one batch of texts, float32 [texts, dimension], as the model gives them."""
        vectors = self.loaded().encode(
            list(texts), batch_size=max(1, len(texts)), show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(vectors, dtype=np.float32)

    def loader(self) -> Load:
        """The function that loads the weights."""
        return load_bi_encoder
