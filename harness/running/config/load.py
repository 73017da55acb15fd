"""From a file to a checked configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from harness.judge import JUDGES
from harness.models import Prompt
from harness.running.config.models import DEFAULT_TOKENIZER, STAGES, BenchConfig, RelevanceConfig, Setting
from harness.running.config.naming import name_settings
from harness.running.config.source import Source, first_problem, no_such_key, read_source
from harness.running.config.sweep import Stages, expand, refuse_moved
from harness.running.config.yaml_loader import KeyPath
from harness.values import ConfigError, Kind, StageConfig, counted, printable, quoted


def load_config(path: Path) -> BenchConfig:
    """Read and check a benchmark's YAML file; raises ConfigError naming file, line, key and remedy.

    Paths in it are relative to the folder the command is run in.
    """
    source = read_source(path)
    refuse_moved(source)
    known = [*BenchConfig.model_fields, *STAGES]
    for key in source.data:
        if key not in known:
            raise source.error((str(key),), no_such_key(str(key), known))
    data: dict[str, Any] = {key: value for key, value in source.data.items() if key not in STAGES}
    data["settings"] = _settings(source)
    if "relevance" in data:
        data["relevance"] = _relevance(source, data["relevance"])
    try:
        config = BenchConfig.model_validate(data)
    except ValidationError as error:
        raise source.explain((), error, known=known_below(BenchConfig, error)) from None
    config._file_sha256 = source.sha256
    return config


def _settings(source: Source) -> list[Setting]:
    combinations = expand(source)
    names = name_settings(combinations)
    for name, count in Counter(names).items():
        if count > 1:
            raise ConfigError(
                f"{source.path}: two settings of the sweep are the same: {printable(name)}. Remove one."
            )
    for combination in combinations:
        _check_depth(source, combination)
        _check_filter(source, combination)
    tokenizers = _tokenizers(source.data.get("tokenizer"), combinations)
    return [
        Setting.model_validate({"name": name, "tokenizer": tokenizer, **combination})
        for name, tokenizer, combination in zip(names, tokenizers, combinations, strict=True)
    ]


def _tokenizers(stated: Any, combinations: Sequence[Stages]) -> list[str]:
    """The model whose tokens count in each setting: the one stated, its own encoder or the first one."""
    if isinstance(stated, str):
        return [stated] * len(combinations)
    encoders = [one["retrieve"].encoders() for one in combinations]
    own = [next((each.model_name for each in some if each.runs_here), None) for some in encoders]
    first = next(filter(None, own), DEFAULT_TOKENIZER)
    return [name or first for name in own]


def _check_depth(source: Source, combination: Stages) -> None:
    """A reranker cannot score more than was retrieved."""
    retrieve = combination["retrieve"]
    if retrieve.top_chars is not None:
        return
    for reranker in combination["rerank"]:
        top_k, top_n = retrieve.top_k, reranker.top_n
        if top_n is not None and top_n > top_k:
            written = source.keys("top_n", top_n) or source.keys("top_k", top_k)
            at = written[0] if written else ("retrieve", "top_k")
            raise source.error(
                at,
                f"the reranker scores {counted(top_n, 'chunk')} (rerank.top_n) but only {top_k} are "
                f"retrieved (retrieve.top_k). Lower the first or raise the second.",
            )


def _check_filter(source: Source, combination: Stages) -> None:
    """A retriever has one filter; the routes of a fusion may have their own within the setting's."""
    if combination["filter"] is not None and combination["retrieve"].filter is not None:
        raise source.error(
            ("filter",),
            "the retriever of a setting has a filter of its own (retrieve.filter); keep one of them.",
        )


def _relevance(source: Source, value: Any) -> RelevanceConfig:
    """The section `relevance`: its own keys, and next to them those of the judge it names."""
    at: KeyPath = ("relevance",)
    if not isinstance(value, dict):
        raise source.error(at, f"must be a mapping such as {{judge: labels}}, not {quoted(value)}.")
    try:
        kind = JUDGES.find(value.get("judge", JUDGES.default))
    except ConfigError as error:
        raise ConfigError(f"{source.where((*at, 'judge'))}: {error}") from None
    own = [*RelevanceConfig.model_fields]
    known = [*own, *(key for key in kind.config.model_fields if key != "kind")]
    for key in value:
        if key not in known:
            raise source.error((*at, str(key)), _no_such_key_of_judge(str(key), known))
    judge = _judge(source, at, kind, {key: its for key, its in value.items() if key not in own})
    fields = {key: its for key, its in value.items() if key in own}
    try:
        return RelevanceConfig.model_validate({**fields, "judge": judge})
    except ValidationError as error:
        raise source.explain(at, error, known=known) from None


def _judge(source: Source, at: KeyPath, kind: Kind[Any, Any], fields: dict[str, Any]) -> StageConfig:
    try:
        judge: StageConfig = kind.config.model_validate(fields)
    except ValidationError as error:
        raise source.explain(at, error, known=known_below(kind.config, error)) from None
    except ConfigError as error:
        # raised where the value must not be repeated: it may be a key
        raise ConfigError(f"{source.where((*at, 'endpoint'))}: {error}") from None
    return judge


def _no_such_key_of_judge(key: str, known: list[str]) -> str:
    owners = [name for name, kind in JUDGES.items() if key in kind.config.model_fields and key != "kind"]
    if owners:
        return f"this key belongs to relevance: {{judge: {' or '.join(owners)}}}."
    return no_such_key(key, known)


def known_below(model: type[StageConfig], error: ValidationError) -> list[str]:
    """The keys of the section of ``model`` in which pydantic met an unknown one."""
    for part in first_problem(error)["loc"][:-1]:
        field = model.model_fields.get(str(part))
        # below a mapping with free keys, such as prices, a part is such a key
        model = (section_of(field.annotation) if field else None) or model
    return [*model.model_fields]


def section_of(annotation: Any) -> type[StageConfig] | None:
    """The one model within an annotation such as ``Pool``, ``Azure | None`` or ``dict[str, Price]``.

    A prompt is a file of its own and no section.
    """
    if isinstance(annotation, type) and issubclass(annotation, StageConfig):
        return None if issubclass(annotation, Prompt) else annotation
    return next((found for arg in get_args(annotation) if (found := section_of(arg))), None)
