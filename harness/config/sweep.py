"""Lists in the sections of the stages become the product of their values: the settings of a sweep."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, get_origin

from pydantic import ValidationError

from harness.chunk import KINDS as CHUNKERS
from harness.config.explain import explain, no_such_key
from harness.config.models import STAGES
from harness.config.source import Source
from harness.config.yaml_loader import KeyPath
from harness.errors import ConfigError
from harness.kinds import Kind, StageConfig, find_kind
from harness.models.encoder import EmbedConfig, SentenceEncoder
from harness.printable import quoted
from harness.search.rerank import KINDS as RERANKERS
from harness.search.retrieve import KINDS as RETRIEVERS

TABLES: dict[str, Mapping[str, Kind]] = {
    "chunk": CHUNKERS,
    "embed": {"sentence_encoder": Kind(EmbedConfig, SentenceEncoder)},
    "retrieve": RETRIEVERS,
    "rerank": RERANKERS,
}
DEFAULT_KIND = {stage: next(iter(table)) for stage, table in TABLES.items()}

SETTINGS = "settings"
MOST_SETTINGS = 1000

Stages = dict[str, StageConfig | None]


def expand(source: Source) -> list[Stages]:
    """Every combination of stage configurations that the file asks for, in the order of the file.

    Under `settings` each entry is a sweep of its own, with the sections of the file but for those it names.
    """
    if SETTINGS not in source.data:
        return _product_of_stages(source, {})
    entries = source.data[SETTINGS]
    if not isinstance(entries, list) or not entries:
        raise source.error(
            (SETTINGS,), "must be a list of mappings, each with its own chunk, embed, retrieve or rerank."
        )
    found: list[Stages] = []
    for i in range(len(entries)):
        found += _product_of_stages(source, _own(source, i))
        _check_size(source, (SETTINGS, i), [found])
    return found


def _own(source: Source, index: int) -> dict[str, KeyPath]:
    """Where the sections stand that one entry of `settings` has of its own."""
    entry, at = source.data[SETTINGS][index], (SETTINGS, index)
    if not isinstance(entry, dict):
        raise source.error(
            at, f"must be a mapping such as {{chunk: {{…}}, rerank: null}}, not {quoted(entry)}."
        )
    for key in entry:
        if key not in STAGES:
            raise source.error((*at, str(key)), no_such_key(str(key), STAGES))
    return {stage: (*at, stage) for stage in entry}


def _product_of_stages(source: Source, own: Mapping[str, KeyPath]) -> list[Stages]:
    options = [_section(source, stage, own.get(stage, (stage,))) for stage in STAGES]
    _check_size(source, next(iter(own.values()), ())[:2], options)
    return [dict(zip(STAGES, combination, strict=True)) for combination in itertools.product(*options)]


def _section(source: Source, stage: str, at: KeyPath) -> list[StageConfig | None]:
    if at == (stage,) and stage not in source.data:
        return [None] if stage == "rerank" else _mapping(source, stage, at, {})
    value: Any = source.data
    for key in at:
        value = value[key]
    if not isinstance(value, list):
        return _entry(source, stage, at, value)
    if not value:
        raise source.error(at, "the list is empty; name at least one.")
    return [config for i, entry in enumerate(value) for config in _entry(source, stage, (*at, i), entry)]


def _entry(source: Source, stage: str, at: KeyPath, value: Any) -> list[StageConfig | None]:
    if value is None and stage == "rerank":
        return [None]
    if not isinstance(value, dict):
        kinds = ", ".join(TABLES[stage])
        raise source.error(
            at, f"must be a mapping such as {{kind: …}}, not {quoted(value)}. Known kinds: {kinds}."
        )
    return _mapping(source, stage, at, value)


def _mapping(source: Source, stage: str, at: KeyPath, value: dict[str, Any]) -> list[StageConfig | None]:
    kinds = value.get("kind", DEFAULT_KIND[stage])
    configs: list[StageConfig | None] = []
    for name in kinds if isinstance(kinds, list) else [kinds]:
        try:
            kind = find_kind(stage, TABLES[stage], name)
        except ConfigError as error:
            raise ConfigError(f"{source.where((*at, 'kind'))}: {error}") from None
        configs += _product(source, at, kind.config, {k: v for k, v in value.items() if k != "kind"})
    return configs


def _product(source: Source, at: KeyPath, model: type[StageConfig], fields: dict[str, Any]) -> list[Any]:
    for key in fields:
        if key not in model.model_fields:
            raise source.error((*at, key), no_such_key(key, [*model.model_fields]))
    choices = [_choices(source, (*at, key), model, key, value) for key, value in fields.items()]
    _check_size(source, at, choices)
    configs = []
    for values in itertools.product(*choices):
        chosen = dict(zip(fields, values, strict=True))
        try:
            configs.append(model.model_validate(chosen))
        except ValidationError as error:
            raise explain(source, at, error, chosen) from None
    return configs


def _check_size(source: Source, at: KeyPath, choices: Sequence[Sequence[Any]]) -> None:
    """Refuse a product that nobody means before it fills the memory."""
    count = math.prod(map(len, choices))
    if count > MOST_SETTINGS:
        raise source.error(at, f"this makes {count:,} settings; a sweep has at most {MOST_SETTINGS:,}.")


def _choices(source: Source, at: KeyPath, model: type[StageConfig], key: str, value: Any) -> Sequence[Any]:
    """The values of one key: a list is a sweep, unless the field is itself a list; then one of lists is."""
    takes_list = get_origin(model.model_fields[key].annotation) in (list, tuple)
    if not isinstance(value, list) or (takes_list and not all(isinstance(v, list) for v in value)):
        return [value]
    if not value:
        raise source.error(at, "the list is empty; name at least one value.")
    return value
