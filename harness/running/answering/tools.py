"""The measures of answers that a configuration asks for, and the parts of a run they may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.measures import ANSWER_MEASURES, AnswerMeasure
from harness.models import Form, Request
from harness.running.config.answers import AnswerScoringConfig
from harness.running.context import Context
from harness.running.tools import RunTools
from harness.steps import PendingCalls, PendingCallsError
from harness.values import ConfigError, LlmAnswer


@dataclass(frozen=True, slots=True)
class MeasuringTools:
    """``AnswerTools`` over a run: the model and the encoder that the configuration names."""

    config: AnswerScoringConfig
    context: Context

    def ask(
        self, form: Form, texts: Sequence[tuple[str, tuple[str, ...]]], name: str, sample: int = 0
    ) -> list[LlmAnswer]:
        """The model's answers, from the ledger first; raises ConfigError if no model is named."""
        if self.config.answer_judge is None:
            raise ConfigError(f"{name} asks a language model: name it in `answer_judge: {{endpoint: …}}`.")
        request = Request(self.config.answer_judge, form, texts, name, "measuring", sample)
        return RunTools(self.context).answers(request)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension], from the cache where they are known."""
        return RunTools(self.context).vectors(texts, self.config.answer_embedding)


def measures_of(config: AnswerScoringConfig) -> list[AnswerMeasure[Any]]:
    """The measures that the configuration asks for."""
    return [ANSWER_MEASURES.make(one) for one in config.answer_measures]


def pending_calls(attempts: Iterable[Callable[[], object]]) -> tuple[PendingCalls, ...]:
    """The first calls that models would get, in a context that may not ask; each call once."""
    missing: dict[str, PendingCalls] = {}
    for attempt in attempts:
        try:
            attempt()
        except PendingCallsError as error:
            missing |= {one.key: one for one in error.missing}
    return tuple(missing.values())
