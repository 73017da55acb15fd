"""What measures of answers ask for: answers of a model, vectors and scores of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.measures import PairModel
from harness.models import Form, ModelConfig, Request
from harness.running.config.answer_measures import AnswerScoringConfig
from harness.running.passes import scores_of_pairs
from harness.steps import Pair, Prompts, Talked, Texts
from harness.values import ConfigError, LlmAnswer, Part, Run, Together, ask


@dataclass(frozen=True, slots=True)
class MeasuringTools:
    """``AnswerTools``: the needs of measures of the model and the encoder that a configuration names."""

    config: AnswerScoringConfig

    def ask(
        self,
        form: Form,
        texts: Sequence[tuple[str, tuple[str, ...]]],
        name: str,
        samples: int = 1,
        voters: Sequence[ModelConfig] = (),
    ) -> Run[list[LlmAnswer] | int]:
        """The models' answers; raises ConfigError if no model is named."""
        models = voters or ((self.config.answer_judge,) if self.config.answer_judge else ())
        if not models:
            raise ConfigError(f"{name} asks a language model: name it in `answer_judge: {{endpoint: …}}`.")
        needs = [Prompts(Request(model, form, texts, name, "measuring", samples)) for model in models]
        talks: list[list[Talked]] | None = yield Part(ask(Together(needs)), guess=lambda: None)
        if talks is None:
            return max(model.endpoint.longest_answer for model in models)
        return [talk.answers[0] for own in talks for talk in own]

    def vectors(self, texts: Sequence[str]) -> Run[NDArray[np.float32]]:
        """The vectors of the texts, float32 [texts, dimension]."""
        return ask(Texts(self.config.answer_embedding.embed, texts, "queries"))

    def pair_scores(self, pairs: Sequence[Pair], model: PairModel) -> Run[list[float]]:
        """The scores of pairs of texts."""
        return scores_of_pairs(pairs, model)
