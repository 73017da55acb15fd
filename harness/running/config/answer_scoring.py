"""The keys of a benchmark that are needed to score answers that exist already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny, ValidationError, model_validator

from harness.measures import AnswerMeasureConfig
from harness.models import EmbedConfig, ModelConfig
from harness.running.config.answers import as_measures, check_measures
from harness.running.config.load import known_below
from harness.running.config.models import DEFAULT_TOKENIZER, STAGES, BenchConfig
from harness.running.config.source import Source, read_source
from harness.values import ConfigError, StageConfig

DEFAULT_MEASURES = ("exact_match", "token_f1")


class AnswerScoringConfig(StageConfig):
    """The measures of answers, and the model and encoder that they ask; as in a benchmark."""

    answer_measures: Annotated[
        tuple[SerializeAsAny[AnswerMeasureConfig], ...], BeforeValidator(as_measures)
    ] = Field(DEFAULT_MEASURES, validate_default=True, min_length=1)
    answer_judge: ModelConfig | None = None
    answer_embedding: EmbedConfig = EmbedConfig(model=DEFAULT_TOKENIZER)
    answer_max_unscored: float = Field(0.1, ge=0, le=1)
    cache: Path = Path(".cache/harness")

    @model_validator(mode="after")
    def _measures_can_be_run(self) -> AnswerScoringConfig:
        check_measures(self.answer_measures, True, self.answer_judge is not None)
        return self


def load_answer_scoring(path: Path | None, measures: Sequence[str] = ()) -> AnswerScoringConfig:
    """The keys in a YAML file, which may be a benchmark's; ``measures`` by kind take the place of its own.

    Of the measures that are named, those that the file configures keep their keys. Raises ConfigError.
    """
    source = read_source(path) if path else Source(Path("--measures"), {}, {})
    data = _own_keys(source)
    if measures:
        data["answer_measures"] = _chosen(measures, data.get("answer_measures", []))
    try:
        return AnswerScoringConfig.model_validate(data)
    except ValidationError as error:
        if path is None:
            what = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise ConfigError(f"--measures: {what}. Put keys of measures into a file for --config.") from None
        raise source.explain((), error, known=known_below(AnswerScoringConfig, error)) from None


def _own_keys(source: Source) -> dict[str, Any]:
    """Ignore keys of a benchmark that do not concern answers; refuse unknown ones."""
    others = {*BenchConfig.model_fields, *STAGES} - set(AnswerScoringConfig.model_fields)
    return {key: value for key, value in source.data.items() if key not in others}


def _chosen(measures: Sequence[str], configured: Any) -> list[Any]:
    known = {}
    for one in configured if isinstance(configured, list) else ():
        if isinstance(one, dict):
            known[str(one.get("name") or one.get("kind"))] = one
    return [known.get(name, name) for name in measures]
