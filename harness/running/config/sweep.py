"""Lists in the sections of the steps become the product of their values: the settings of a sweep."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_origin

import yaml
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from harness.data import PARSERS
from harness.running.config.models import STAGES
from harness.running.config.source import Source, no_such_key
from harness.running.config.yaml_loader import KeyPath
from harness.steps import (
    ANSWERERS,
    CHUNKERS,
    CONTEXTS,
    FEEDBACKS,
    FILTERS,
    READERS,
    RERANKERS,
    RETRIEVERS,
    REWRITERS,
)
from harness.values import ConfigError, Kinds, Section, StageConfig, quoted

TABLES: dict[str, Kinds[Any]] = {
    "parse": PARSERS,
    "chunk": CHUNKERS,
    "context": CONTEXTS,
    "rewrite": REWRITERS,
    "feedback": FEEDBACKS,
    "filter": FILTERS,
    "retrieve": RETRIEVERS,
    "rerank": RERANKERS,
    "read": READERS,
    "answer": ANSWERERS,
}
OPTIONAL = frozenset({"context", "rewrite", "filter", "feedback", "rerank", "read", "answer"})
SEQUENCES = frozenset({"context", "rerank"})

SETTINGS = "settings"
MOST_SETTINGS = 1000

Stages = dict[str, Any]
"""A configuration by step, None for a step that is left out; for those in ``SEQUENCES`` a tuple of them."""


def expand(source: Source) -> list[Stages]:
    """Every combination of step configurations that the file asks for, in the order of the file.

    Under `settings` each entry is a sweep of its own, with the sections of the file except those it names.
    """
    if SETTINGS not in source.data:
        return _product_of_stages(source, {})
    entries = source.data[SETTINGS]
    if not isinstance(entries, list) or not entries:
        raise source.error(
            (SETTINGS,), "must be a list of mappings, each with its own chunk, retrieve or rerank."
        )
    found: list[Stages] = []
    for i in range(len(entries)):
        found += _product_of_stages(source, _own(source, i))
        _check_size(source, (SETTINGS, i), [found])
    return found


def _own(source: Source, index: int) -> dict[str, KeyPath]:
    """The places of the sections that an entry of `settings` replaces."""
    entry, at = source.data[SETTINGS][index], (SETTINGS, index)
    if not isinstance(entry, dict):
        raise source.error(
            at, f"must be a mapping such as {{chunk: {{…}}, rerank: null}}, not {quoted(entry)}."
        )
    refuse_moved(source, entry, at)
    for key in entry:
        if key not in STAGES:
            raise source.error((*at, str(key)), no_such_key(str(key), STAGES))
    return {stage: (*at, stage) for stage in entry}


def _product_of_stages(source: Source, own: Mapping[str, KeyPath]) -> list[Stages]:
    options = [_section(source, stage, own.get(stage, (stage,))) for stage in STAGES]
    _check_size(source, next(iter(own.values()), ())[:2], options)
    return [dict(zip(STAGES, combination, strict=True)) for combination in itertools.product(*options)]


def _section(source: Source, stage: str, at: KeyPath) -> list[Any]:
    """The alternatives of one step, from its section, each a point of the sweep."""
    found: list[Any]
    if at == (stage,) and stage not in source.data:
        found = [None] if stage in OPTIONAL else _mapping(source, stage, at, {})
    else:
        value: Any = source.data
        for key in at:
            value = value[key]
        found = _alternatives(source, stage, at, value)
    return [_sequence(one) for one in found] if stage in SEQUENCES else found


def _sequence(config: Any) -> tuple[StageConfig, ...]:
    return config if isinstance(config, tuple) else () if config is None else (config,)


def _alternatives(source: Source, stage: str, at: KeyPath, value: Any) -> list[Any]:
    if not isinstance(value, list):
        return _entry(source, stage, at, value)
    if not value:
        raise source.error(at, "the list is empty; name at least one.")
    return [config for i, entry in enumerate(value) for config in _entry(source, stage, (*at, i), entry)]


def _entry(source: Source, stage: str, at: KeyPath, value: Any) -> list[Any]:
    if value is None and stage in OPTIONAL:
        return [None]
    if isinstance(value, list) and stage in SEQUENCES:
        return _in_turn(source, stage, at, value)
    if not isinstance(value, dict):
        kinds = ", ".join(TABLES[stage])
        raise source.error(
            at, f"must be a mapping such as {{kind: …}}, not {quoted(value)}. Known kinds: {kinds}."
        )
    return _mapping(source, stage, at, value)


def _in_turn(source: Source, stage: str, at: KeyPath, value: list[Any]) -> list[Any]:
    """The combinations of a list whose entries belong together, such as the routes of a fusion."""
    options = [_entry(source, stage, (*at, i), entry) for i, entry in enumerate(value)]
    _check_size(source, at, options)
    return list(itertools.product(*options))


def _mapping(source: Source, stage: str, at: KeyPath, value: dict[str, Any]) -> list[Any]:
    table = TABLES[stage]
    kinds = value.get("kind", table.default)
    configs: list[Any] = []
    for name in kinds if isinstance(kinds, list) else [kinds]:
        try:
            kind = table.find(name)
        except ConfigError as error:
            raise ConfigError(f"{source.where((*at, 'kind'))}: {error}") from None
        configs += _product(source, at, kind.config, {k: v for k, v in value.items() if k != "kind"})
    return configs


def _product(source: Source, at: KeyPath, model: type[StageConfig], fields: dict[str, Any]) -> list[Any]:
    for key in fields:
        if key not in model.model_fields:
            raise source.error((*at, key), no_such_key(key, [*model.model_fields]))
    choices = [_choices(source, (*at, key), model.model_fields[key], value) for key, value in fields.items()]
    _check_size(source, at, choices)
    configs = []
    for values in itertools.product(*choices):
        chosen = dict(zip(fields, values, strict=True))
        try:
            configs.append(model.model_validate(chosen))
        except ValidationError as error:
            raise source.explain(at, error, chosen) from None
    return configs


def _check_size(source: Source, at: KeyPath, choices: Sequence[Sequence[Any]]) -> None:
    """Refuse a sweep so large that it must be a mistake, before it fills the memory."""
    count = math.prod(map(len, choices))
    if count > MOST_SETTINGS:
        raise source.error(at, f"this makes {count:,} settings; a sweep has at most {MOST_SETTINGS:,}.")


def _choices(source: Source, at: KeyPath, field: FieldInfo, value: Any) -> Sequence[Any]:
    """The values of one key: a list is a sweep, unless the field is itself a list; then one of lists is."""
    section = next((one for one in field.metadata if isinstance(one, Section)), None)
    several = isinstance(value, list) and all(isinstance(one, list) for one in value)
    if section is not None:
        return _nested(source, section.stage, at, field, value)
    if not isinstance(value, list) or (_takes_list(field) and value and not several):
        return [value]
    if not value:
        raise source.error(at, "the list is empty; name at least one value.")
    return value


def _nested(source: Source, stage: str, at: KeyPath, field: FieldInfo, value: Any) -> list[Any]:
    """The values of a key that holds a section of another step, or a list of them that belong together."""
    if not _takes_list(field):
        return [None] if value is None else _alternatives(source, stage, at, value)
    if not isinstance(value, list) or not value:
        raise source.error(at, f"must be a list of mappings such as {{kind: {TABLES[stage].default}}}.")
    if not all(isinstance(one, list) for one in value):
        return _in_turn(source, stage, at, value)
    return [one for i, part in enumerate(value) for one in _in_turn(source, stage, (*at, i), part)]


def _takes_list(field: FieldInfo) -> bool:
    """Whether the values of a field are lists."""
    annotations = [field.annotation, *get_args(field.annotation)]
    return any(get_origin(one) in (list, tuple) for one in annotations)


def refuse_moved(source: Source, section: Mapping[Any, Any] | None = None, at: KeyPath = ()) -> None:
    """Raise ConfigError with the new form where a section has the key ``embed`` or ``parser``.

    ``section`` is the whole file unless given, and is ``at`` a place in it.
    """
    holder = source.data if section is None else section
    if "parser" in holder:
        new = holder["parser"] if isinstance(holder["parser"], dict) else {"kind": "pypdf"}
        raise source.error(
            (*at, "parser"),
            f"the parser is now a step of every setting, and can be swept. Write parse: {_as_mapping(new)}",
        )
    if "embed" in holder:
        _refuse_embed(source, holder["embed"], holder.get("retrieve", {}), (*at, "embed"))


def _refuse_embed(source: Source, embed: Any, retrieve: Any, where: KeyPath) -> None:
    if isinstance(embed, dict) and isinstance(retrieve, dict):
        merged = {"kind": retrieve.get("kind", "chroma"), **embed, **retrieve}
        raise source.error(
            where, f"an embedding model now belongs to its retriever. Write retrieve: {_as_mapping(merged)}"
        )
    raise source.error(
        where,
        "an embedding model now belongs to its retriever: move these keys into each section of retrieve, "
        "such as retrieve: {kind: chroma, model: …}.",
    )


def _as_mapping(section: Mapping[Any, Any]) -> str:
    return yaml.safe_dump(
        dict(section), default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf
    ).strip()
