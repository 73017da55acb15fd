"""From a file to a checked configuration: lists in the sections of the steps become a sweep of settings."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from harness import steps
from harness.data import PARSERS
from harness.models import default_tokenizer
from harness.running.config.answer_measures import AnswerScoringConfig
from harness.running.config.models import STAGES, BenchConfig, Setting
from harness.running.config.naming import name_settings
from harness.running.config.ranges import lists_of, numbers_of
from harness.running.config.relevance import RelevanceConfig
from harness.running.config.source import KeyPath, Source, read_source, source_of
from harness.running.config.stored_chunks import as_existing, searches_existing
from harness.running.config.tune_keys import is_range
from harness.values import ConfigError, Kinds, Section, counted, printable, problem_in, quoted

TABLES: dict[str, Kinds[Any]] = {
    "parse": PARSERS,
    "chunk": steps.CHUNKERS,
    "context": steps.CONTEXTS,
    "rewrite": steps.REWRITERS,
    "filter": steps.FILTERS,
    "retrieve": steps.RETRIEVERS,
    "field": steps.FIELDS,
    "rerank": steps.RERANKERS,
    "read": steps.READERS,
    "answer": steps.ANSWERERS,
}
OPTIONAL = frozenset({"context", "rewrite", "filter", "field", "rerank", "read", "answer"})
# sections whose kind alone may stand for them, such as `field: entities`
BY_KIND = frozenset({"field"})
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
        return _points(source, (), {})
    entries = source.data[SETTINGS]
    if not isinstance(entries, list) or not entries:
        raise source.error(
            (SETTINGS,), "must be a list of mappings, each with its own chunk, retrieve or rerank."
        )
    points: list[Stages] = []
    for i, entry in enumerate(entries):
        at = (SETTINGS, i)
        if not isinstance(entry, dict):
            raise source.error(
                at, f"must be a mapping such as {{chunk: {{…}}, rerank: null}}, not {quoted(entry)}."
            )
        source.refuse_unknown(entry, STAGES, at)
        points += _points(source, at, entry)
        _check_size(source, at, [points])
    return points


def _points(source: Source, at: KeyPath, entry: Mapping[str, Any]) -> list[Stages]:
    """The points of one sweep: ``entry`` of `settings` replaces sections of the file."""
    places: dict[str, KeyPath] = {step: (*at, step) if step in entry else (step,) for step in STAGES}
    options = []
    for step in STAGES:
        section = entry if step in entry else source.data
        if step in section:
            alternatives = _alternatives(source, step, places[step], section[step])
        else:
            alternatives = [None] if step in OPTIONAL else _mapping(source, step, places[step], {})
        options.append(_in_tuples(alternatives) if step in SEQUENCES else alternatives)
    _check_size(source, at, options)
    points = [
        as_existing(dict(zip(STAGES, combination, strict=True)))
        for combination in itertools.product(*options)
    ]
    # one collection, however many ways to cut the documents are beside it
    points = [
        point
        for place, point in enumerate(points)
        if not searches_existing(point["retrieve"]) or point not in points[:place]
    ]
    for point in points:
        if any(searches_existing(part) for part in [*point["retrieve"].every()][1:]):
            raise source.error(
                places["retrieve"],
                "an existing collection (existing: true) has passages of its own, so it cannot "
                "be the route of a fusion. Search it by itself.",
            )
        # the routes of a fusion may have their own within the setting's
        if point["filter"] is not None and point["retrieve"].filter is not None:
            raise source.error(
                places["filter"],
                "the retriever of a setting has a filter of its own (retrieve.filter); keep one of them.",
            )
        _check_depth(source, places["rerank"], point)
    return points


def _check_depth(source: Source, at: KeyPath, point: Stages) -> None:
    """A reranker cannot score more than was retrieved."""
    retrieve = point["retrieve"]
    for reranker in point["rerank"] if retrieve.top_chars is None else ():
        if reranker.top_n is not None and reranker.top_n > retrieve.top_k:
            raise source.error(
                (*at, "top_n"),
                f"the reranker scores {counted(reranker.top_n, 'chunk')} (rerank.top_n) but only "
                f"{retrieve.top_k} are retrieved (retrieve.top_k). Lower the first or raise the second.",
            )


def _alternatives(source: Source, step: str, at: KeyPath, value: Any) -> list[Any]:
    """The alternatives of one step, from its section, each a point of the sweep."""
    if not isinstance(value, list):
        return _entry(source, step, at, value)
    if not value:
        raise source.error(at, "the list is empty; name at least one.")
    return [config for i, entry in enumerate(value) for config in _entry(source, step, (*at, i), entry)]


def _entry(source: Source, step: str, at: KeyPath, value: Any) -> list[Any]:
    if value is None and step in OPTIONAL:
        return [None]
    if isinstance(value, list) and step in SEQUENCES:
        return _in_turn(source, step, at, value)
    if isinstance(value, str) and step in BY_KIND:
        value = {"kind": value}
    if not isinstance(value, dict):
        kinds = ", ".join(TABLES[step])
        raise source.error(
            at, f"must be a mapping such as {{kind: …}}, not {quoted(value)}. Known kinds: {kinds}."
        )
    return _mapping(source, step, at, value)


def _in_turn(source: Source, step: str, at: KeyPath, value: list[Any]) -> list[Any]:
    """The combinations of a list whose entries belong together, such as the routes of a fusion."""
    options = [_entry(source, step, (*at, i), entry) for i, entry in enumerate(value)]
    _check_size(source, at, options)
    return list(itertools.product(*options))


def _in_tuples(alternatives: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The alternatives of a step that may come several times in turn, each as a tuple; none for None."""
    return [
        alternative if isinstance(alternative, tuple) else () if alternative is None else (alternative,)
        for alternative in alternatives
    ]


def _mapping(source: Source, step: str, at: KeyPath, value: dict[str, Any]) -> list[Any]:
    """The configurations that a section stands for: the product of its lists, for each kind that it names."""
    fields = {key: part for key, part in value.items() if key != "kind"}
    kinds = value.get("kind", TABLES[step].default)
    configs: list[Any] = []
    for name in kinds if isinstance(kinds, list) else [kinds]:
        model = source.kind(TABLES[step], name, at)
        source.refuse_unknown(fields, model.model_fields, at, model.gone)
        choices = [
            _choices(source, (*at, key), model.model_fields[key], field) for key, field in fields.items()
        ]
        _check_size(source, at, choices)
        for values in itertools.product(*choices):
            chosen = dict(zip(fields, values, strict=True))
            configs.append(source.validated(model, chosen, at, chosen))
    return configs


def _check_size(source: Source, at: KeyPath, choices: Sequence[Sequence[Any]]) -> None:
    """Refuse a sweep so large that it must be a mistake, before it fills the memory."""
    count = math.prod(map(len, choices))
    if count > MOST_SETTINGS:
        raise source.error(at, f"this makes {count:,} settings; a sweep has at most {MOST_SETTINGS:,}.")


def _choices(source: Source, at: KeyPath, field: FieldInfo, value: Any) -> Sequence[Any]:
    """The values of one key: a list is a sweep, unless the field is itself a list; then one of lists is."""
    section = next((mark for mark in field.metadata if isinstance(mark, Section)), None)
    if section is not None and section.stage in SEQUENCES:
        return _in_tuples(_alternatives(source, section.stage, at, value))
    takes_list = any(
        get_origin(one) in (list, tuple) for one in (field.annotation, *get_args(field.annotation))
    )
    several = isinstance(value, list) and all(isinstance(part, list) for part in value)
    if section is not None and not takes_list:
        return [None] if value is None else _alternatives(source, section.stage, at, value)
    if section is not None:
        if not isinstance(value, list) or not value:
            default = TABLES[section.stage].default
            raise source.error(at, f"must be a list of mappings such as {{kind: {default}}}.")
        # the parts of each list belong together
        lists = [((*at, i), part) for i, part in enumerate(value)] if several else [(at, value)]
        return [point for place, part in lists for point in _in_turn(source, section.stage, place, part)]
    if takes_list and isinstance(value, list) and value:
        lists = [((*at, i), part) for i, part in enumerate(value)] if several else [(at, value)]
        return [entries for place, part in lists for entries in lists_of(source, place, field, part)]
    if not isinstance(value, list):
        return numbers_of(source, at, field, value) if is_range(value) else [value]
    if not value:
        raise source.error(at, "the list is empty; name at least one value.")
    return value


def load_config(given: Path | Mapping[str, Any]) -> BenchConfig:
    """Read and check a benchmark's YAML file; raises ConfigError naming file, line, key and remedy.

    Instead of a file, a mapping may hold its keys. Paths are relative to the folder the command is run in.
    """
    source = source_for(given)
    return config_of(source, settings_of(source, expand(source)))


def source_for(given: Path | Mapping[str, Any]) -> Source:
    """A file or a mapping, read and without unknown keys at its top."""
    source = source_of(given) if isinstance(given, Mapping) else read_source(given)
    source.refuse_unknown(source.data, [*BenchConfig.model_fields, *STAGES])
    return source


def config_of(source: Source, settings: Sequence[Setting]) -> BenchConfig:
    """The benchmark of some settings by the other keys of a file."""
    data: dict[str, Any] = {key: value for key, value in source.data.items() if key not in STAGES}
    data["settings"] = settings
    if "relevance" in data:
        data["relevance"] = source.validated(RelevanceConfig, data["relevance"], ("relevance",))
    config = source.validated(BenchConfig, data)
    config._file_sha256 = source.sha256
    return config


def settings_of(source: Source, points: Sequence[Stages], among: Sequence[Stages] = ()) -> list[Setting]:
    """The settings of some points, with names that say what differs; no two may be the same.

    A setting without a model of its own is cut in the tokens of the first model of ``among``, of which the
    points are a part; without it, of the points.
    """
    names = name_settings(points)
    for name, count in Counter(names).items():
        if count > 1:
            raise ConfigError(
                f"{source.path}: two settings of the sweep are the same: {printable(name)}. Remove one."
            )
    tokenizers = _tokenizers(source.data.get("tokenizer"), points, among or points)
    return [
        source.validated(Setting, {"name": name, "tokenizer": tokenizer, **point})
        for name, tokenizer, point in zip(names, tokenizers, points, strict=True)
    ]


def _tokenizers(stated: Any, points: Sequence[Stages], among: Sequence[Stages]) -> list[str]:
    """The model whose tokens count in each setting: the one stated, its own encoder or the first one."""
    if isinstance(stated, str):
        return [stated] * len(points)
    first = next(filter(None, map(_encoder, among)), None) or default_tokenizer()
    return [_encoder(point) or first for point in points]


def _encoder(point: Stages) -> str | None:
    """The first model of a point that computes vectors here."""
    return next((each.model_name for each in point["retrieve"].encoders() if each.runs_here), None)


def load_answer_scoring(path: Path | None, measures: Sequence[str] = ()) -> AnswerScoringConfig:
    """The keys that score answers in a YAML file, which may be a benchmark's, whose other keys are ignored.

    ``measures`` by kind take the place of its own; those of them that the file configures keep their keys.
    Raises ConfigError.
    """
    source = read_source(path) if path else Source(Path("--measures"), {}, {})
    others = {*BenchConfig.model_fields, *STAGES} - set(AnswerScoringConfig.model_fields)
    data = {key: value for key, value in source.data.items() if key not in others}
    if measures:
        listed = data.get("answer_measures")
        sections = (
            [section for section in listed if isinstance(section, dict)] if isinstance(listed, list) else []
        )
        configured = {str(section.get("name") or section.get("kind")): section for section in sections}
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
