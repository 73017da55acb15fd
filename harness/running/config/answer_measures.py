"""Measures of answers as a configuration names them: by kind, or as a section with the kind's keys."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from harness import measures, steps
from harness.models import EMBEDDED, BiEncoderConfig, ModelConfig
from harness.values import ConfigError, StageConfig, quoted

DEFAULT_TOKENIZER = "embedded:all-MiniLM-L6-v2"


def _measure(value: Any) -> Any:
    """A measure of answers from its kind, or from a section with the kind and its keys.

    The name of a built-in aspect stands for a critic of it.
    """
    if isinstance(value, measures.AnswerMeasure):
        return value
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, dict) or "kind" not in value:
        raise ValueError(
            "must be a kind such as exact_match, or a mapping such as {kind: token_f1}, "
            f"not {quoted(value)}"
        )
    if (aspect := value["kind"]) in tuple(measures.ASPECTS):
        value = {"aspect": aspect, **value, "kind": "aspect_critic"}
    kind = value["kind"]
    if not isinstance(kind, str) or kind not in measures.ANSWER_MEASURES:
        raise ValueError(measures.ANSWER_MEASURES.unknown(kind))
    try:
        return measures.ANSWER_MEASURES.find(kind).config.model_validate(value)
    except ConfigError as error:
        raise ValueError(str(error)) from error


def reranker_of(model: measures.PairModel) -> steps.RerankerConfig:
    """The configuration of the reranker that a cross-encoder of measures is."""
    kind, key = ("cross_encoder", "model") if isinstance(model, str) else ("endpoint", "endpoint")
    if model in EMBEDDED:
        kind = "late_interaction"
    config: steps.RerankerConfig = steps.RERANKERS.find(kind).config(**{key: model})
    return config


if TYPE_CHECKING:
    from harness.measures import AnswerMeasure
else:
    # ``_measure`` lets no other configuration pass
    AnswerMeasure = StageConfig
AnswerMeasures = tuple[Annotated[SerializeAsAny[AnswerMeasure], BeforeValidator(_measure)], ...]


class AnswerScoringConfig(StageConfig):
    """The measures of answers, and the model and encoder that they ask; as in a benchmark."""

    answer_measures: AnswerMeasures = Field(("exact_match", "token_f1"), validate_default=True)
    answer_judge: ModelConfig | None = None
    answer_embedding: BiEncoderConfig = BiEncoderConfig(model=DEFAULT_TOKENIZER)
    answer_max_unscored: float = Field(0.1, ge=0, le=1)
    cache: Path = Path(".cache/harness")

    @model_validator(mode="after")
    def _measures_can_be_run(self) -> AnswerScoringConfig:
        names = [measure.label for measure in self.answer_measures]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"answer_measures has {', '.join(twice)} twice: give one of them a `name`")
        asking = [measure.label for measure in self.answer_measures if "llm" in measure.needs]
        if asking and self.answer_judge is None:
            raise ValueError(
                f"{', '.join(asking)} needs a language model: configure it in `answer_judge: {{endpoint: …}}`"
            )
        return self


def prompts_of(answer_measures: Iterable[AnswerMeasure]) -> dict[str, Any]:
    """The prompts of every measure of answers that asks a language model, by the name of the measure."""
    asking = [
        answer_measure
        for answer_measure in answer_measures
        if isinstance(answer_measure, measures.LlmMeasure) and answer_measure.may_cost
    ]
    return {asker.label: asker.record() for asker in asking}
