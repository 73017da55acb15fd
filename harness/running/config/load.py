"""From a file to a checked configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.running.config.answers import DEFAULT_TOKENIZER, AnswerScoringConfig
from harness.running.config.models import STAGES, BenchConfig, RelevanceConfig, Setting
from harness.running.config.naming import name_settings
from harness.running.config.source import Source, read_source, source_of
from harness.running.config.sweep import Stages, expand
from harness.values import ConfigError, printable, problem_in


def load_config(given: Path | Mapping[str, Any]) -> BenchConfig:
    """Read and check a benchmark's YAML file; raises ConfigError naming file, line, key and remedy.

    Instead of a file, a mapping may hold its keys. Paths are relative to the folder the command is run in.
    """
    source = source_of(given) if isinstance(given, Mapping) else read_source(given)
    source.refuse_unknown(source.data, [*BenchConfig.model_fields, *STAGES])
    data: dict[str, Any] = {key: value for key, value in source.data.items() if key not in STAGES}
    data["settings"] = _settings(source)
    if "relevance" in data:
        data["relevance"] = source.validated(RelevanceConfig, data["relevance"], ("relevance",))
    config = source.validated(BenchConfig, data)
    config._file_sha256 = source.sha256
    return config


def _settings(source: Source) -> list[Setting]:
    points = expand(source)
    names = name_settings(points)
    for name, count in Counter(names).items():
        if count > 1:
            raise ConfigError(
                f"{source.path}: two settings of the sweep are the same: {printable(name)}. Remove one."
            )
    tokenizers = _tokenizers(source.data.get("tokenizer"), points)
    return [
        Setting.model_validate({"name": name, "tokenizer": tokenizer, **point})
        for name, tokenizer, point in zip(names, tokenizers, points, strict=True)
    ]


def _tokenizers(stated: Any, points: Sequence[Stages]) -> list[str]:
    """The model whose tokens count in each setting: the one stated, its own encoder or the first one."""
    if isinstance(stated, str):
        return [stated] * len(points)
    encoders = [point["retrieve"].encoders() for point in points]
    names = [next((each.model_name for each in some if each.runs_here), None) for some in encoders]
    first = next(filter(None, names), DEFAULT_TOKENIZER)
    return [name or first for name in names]


def load_answer_scoring(path: Path | None, measures: Sequence[str] = ()) -> AnswerScoringConfig:
    """The keys that score answers in a YAML file, which may be a benchmark's, whose other keys are ignored.

    ``measures`` by kind take the place of its own; those of them that the file configures keep their keys.
    Raises ConfigError.
    """
    source = read_source(path) if path else Source(Path("--measures"), {}, {})
    others = {*BenchConfig.model_fields, *STAGES} - set(AnswerScoringConfig.model_fields)
    data = {key: value for key, value in source.data.items() if key not in others}
    if measures:
        given = data.get("answer_measures")
        sections = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
        configured = {str(one.get("name") or one.get("kind")): one for one in sections}
        data["answer_measures"] = [configured.get(name, name) for name in measures]
    if path is not None:
        config = source.validated(AnswerScoringConfig, data)
        if not config.answer_measures:
            raise source.error(("answer_measures",), "the list is empty; name at least one measure.")
        return config
    try:
        return AnswerScoringConfig.model_validate(data)
    except ValidationError as error:
        raise ConfigError(
            f"--measures: {problem_in(error)}. Put keys of measures into a file for --config."
        ) from None
