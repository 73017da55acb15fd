"""What a run lends to measures of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.llm import Form, ModelConfig
from harness.llm.asking import Request
from harness.models.encoder import EncoderConfig
from harness.running.tools import RunTools
from harness.types import Answered


class Measuring(Protocol):
    """Whom measures of answers may ask: a benchmark's configuration, or one that only scores."""

    @property
    def answer_judge(self) -> ModelConfig | None:
        """The language model."""

    @property
    def answer_embedding(self) -> EncoderConfig:
        """The encoder."""


@dataclass(frozen=True, slots=True)
class MeasuringTools:
    """``harness.answer.AnswerTools`` over a run: the model and the encoder that the configuration names."""

    config: Measuring
    tools: RunTools

    def ask(
        self, form: Form, texts: Sequence[tuple[str, tuple[str, ...]]], name: str, sample: int = 0
    ) -> list[Answered]:
        """The model's answers, from the ledger first; raises ConfigError where no model is named."""
        if self.config.answer_judge is None:
            raise ConfigError(f"{name} asks a language model: name it in `answer_judge: {{endpoint: …}}`.")
        return self.tools.answers(Request(self.config.answer_judge, form, texts, name, "measuring", sample))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension], from the cache where they are known."""
        return self.tools.vectors(texts, self.config.answer_embedding)
