"""One description of the steps of settings: what steps and kinds are called, and what their keys mean.

Settings are as ``record.json`` holds them. A key means what its kind says of it (``KeyMark``). Where the
kind is not installed here, has no such key any more, or is of a package and says nothing of it, the key means
what it means in our kinds. Names of settings, factors, columns of the page and next steps follow from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from harness import data, steps
from harness.values import (
    CHARACTERS,
    TOKENS,
    Amount,
    KeyMark,
    Kinds,
    Ordered,
    Overlap,
    Section,
    Size,
    StageConfig,
    marks_of,
)

Dump = Mapping[str, Any]
"""A section of a configuration as plain values."""


@dataclass(frozen=True, slots=True)
class StepWords:
    """What a step is called as a factor, what its absence is called, and where the table of its kinds is."""

    factor: str
    absent: str
    table: str


# in the order of a pipeline
STEPS = {
    "parse": StepWords("parser", "no parser", "PARSERS"),
    "chunk": StepWords("chunking", "no chunks", "CHUNKERS"),
    "context": StepWords("context", "no context", "CONTEXTS"),
    "filter": StepWords("filter", "no filter", "FILTERS"),
    "rewrite": StepWords("query", "as asked", "REWRITERS"),
    "retrieve": StepWords("search", "no search", "RETRIEVERS"),
    "rerank": StepWords("reranker", "no reranker", "RERANKERS"),
    "read": StepWords("text read", "chunks as found", "READERS"),
    "answer": StepWords("answerer", "no answer", "ANSWERERS"),
}
_ROUTES = "routes"
# kinds of other packages that say nothing of their keys may call it so
_ALSO: dict[str, dict[str, KeyMark]] = {"chunk": {"overlap": Overlap()}}
# a language model costs far more than any model that runs here
_LANGUAGE_MODEL_WEIGHT = 10


def table_of(stage: str) -> Kinds[Any]:
    """The kinds of a step, or of a section within one."""
    if stage == "parse":
        return data.PARSERS
    table: Kinds[Any] = steps.FIELDS if stage == "field" else getattr(steps, STEPS[stage].table)
    return table


def config_of(stage: str, section: Dump) -> type[StageConfig] | None:
    """The model of the configuration of a section; None where its kind is not known here."""
    return table_of(stage).config(str(section.get("kind", "")))


def flat(section: Any, before: str = "") -> dict[str, Any]:
    """The plain values of nested sections by their dotted keys; a list of plain values is one value."""
    if isinstance(section, Mapping):
        items = list(section.items())
    elif isinstance(section, list | tuple) and not any(map(_is_nested, section)):
        # values of which a row has one are no proportion
        alternatives = ".only." in f".{before}"
        return {before: " or ".join(map(str, section)) if alternatives else _listed(section)}
    elif isinstance(section, list | tuple):
        items = list(enumerate(section))
    else:
        return {before: section}
    values: dict[str, Any] = {}
    for key, value in items:
        values |= flat(value, f"{before}.{key}" if before else str(key))
    return values


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _listed(values: Sequence[Any]) -> str:
    """Plain values as one: numbers as a proportion, such as ``0.3:0.7``; no comma, which parts levels."""
    if values and all(isinstance(value, int | float) for value in values):
        return ":".join(f"{value:g}" for value in values)
    return " + ".join(map(str, values))


def marks_in(stage: str, section: Any) -> dict[str, KeyMark]:
    """The marks of the keys of a section, of each of a list and of those within it, keyed as in `flat`."""
    if isinstance(section, list | tuple):
        return _within({str(place): marks_in(stage, part) for place, part in enumerate(section)})
    if not isinstance(section, Mapping):
        return {}
    config = config_of(stage, section)
    declared = dict(marks_of(config)) if config is not None else {}
    ours = config is not None and config.__module__.startswith("harness.")
    for key in section:
        declares = config is not None and key in config.model_fields
        if key not in declared and not (ours and declares) and key in _usual(stage):
            declared[key] = _usual(stage)[key]
    nested = ((key, _stage_of(config, key), value) for key, value in section.items() if _is_nested(value))
    return declared | _within({key: marks_in(inside, value) for key, inside, value in nested if inside})


def _within(marks: Mapping[str, Mapping[str, KeyMark]]) -> dict[str, KeyMark]:
    return {f"{key}.{name}": mark for key, inner in marks.items() for name, mark in inner.items()}


def _stage_of(config: type[StageConfig] | None, key: str) -> str:
    """The step whose kinds a section within another one has; '' where it has none."""
    field = config.model_fields.get(key) if config is not None else None
    if field is not None:
        return next((mark.stage for mark in field.metadata if isinstance(mark, Section)), "")
    return "retrieve" if key == _ROUTES else key if key in (*STEPS, "field") else ""


@cache
def _usual(stage: str) -> Mapping[str, KeyMark]:
    """The marks of keys of a step by name, in the first of our kinds that has such a key."""
    usual: dict[str, KeyMark] = {}
    table = table_of(stage)
    for name in table.ours:
        config = table.config(name)
        for key, mark in marks_of(config).items() if config is not None else ():
            if "." not in key:
                usual.setdefault(key, mark)
    return _ALSO.get(stage, {}) | usual


def beside(values: Mapping[str, Any], key: str, name: str) -> str:
    """The dotted key of ``name`` in the section of ``key``, or in the nearest around it; '' for none."""
    parts = key.split(".")[:-1]
    for end in range(len(parts), -1, -1):
        if (dotted := ".".join([*parts[:end], name])) in values:
            return dotted
    return ""


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """How long chunks are: the dotted ``key``, and its ``value`` in ``unit``.

    ``overlap_key`` is the key of the overlap, '' where there is none; ``unit`` is `characters` or `tokens`.
    """

    key: str
    value: int
    unit: str
    overlap_key: str = ""


def size_of(setting: Dump) -> ChunkSize | None:
    """The size of the chunks of a setting; None for chunkers without one."""
    sizes = _sizes(setting.get("chunk"))
    return sizes[0] if sizes else None


def overlap_of(setting: Dump) -> int | None:
    """How much neighbouring chunks share, in the unit of the chunker; None for nothing."""
    section = setting.get("chunk")
    values, marks = flat(section), marks_in("chunk", section)
    sizes = [size.overlap_key for size in _sizes(section)]
    others = [key for key, mark in marks.items() if isinstance(mark, Overlap) and key not in sizes]
    overlaps = (values.get(key) for key in (*sizes, *others))
    return next((value for value in overlaps if _is_whole(value) and value), None)


def _sizes(section: Any) -> list[ChunkSize]:
    """The sizes in a section, that of the chunks first."""
    values, marks = flat(section), marks_in("chunk", section)
    sizes = [
        (key, mark) for key, mark in marks.items() if isinstance(mark, Size) and _is_whole(values.get(key))
    ]
    sizes.sort(key=lambda size: size[1].again)
    overlaps = {
        (key.rpartition(".")[0], mark.of): key for key, mark in marks.items() if isinstance(mark, Overlap)
    }
    described = []
    for key, mark in sizes:
        inside, _, name = key.rpartition(".")
        overlap = overlaps.get((inside, name)) or overlaps.get((inside, ""), "")
        described.append(ChunkSize(key, values[key], _unit(key, mark, values), overlap))
    return described


def _unit(key: str, size: Size, values: Mapping[str, Any]) -> str:
    if any(values.get(beside(values, key, other)) in those for other, those in size.in_tokens.items()):
        return TOKENS
    unit = values.get(beside(values, key, size.unit_key), CHARACTERS) if size.unit_key else size.unit
    return CHARACTERS if unit == CHARACTERS else TOKENS


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def depths_of(stage: str, section: Any) -> dict[str, Any]:
    """The depths of one section by key, those that its kind adds last; without those that have no effect.

    Such a depth is not set, or another one takes its place.
    """
    if not isinstance(section, Mapping):
        return {}
    amounts = amounts_in(stage, section)
    replaced = {mark.instead_of for key, mark in amounts.items() if section.get(key)}
    return {key: section[key] for key in amounts if section.get(key) and key not in replaced}


def amounts_in(stage: str, section: Mapping[str, Any]) -> dict[str, Amount]:
    """The keys that say how much the step of a section takes, set or not."""
    marks = marks_in(stage, section)
    return {key: mark for key, mark in marks.items() if isinstance(mark, Amount) and "." not in key}


def weight_at(mark: KeyMark | None, value: Any) -> float | None:
    """What the value of a key costs beside its other values; None where the key does not say so."""
    if isinstance(mark, Ordered):
        return float(mark.levels.index(value)) if value in mark.levels else None
    if not isinstance(mark, Overlap | Amount):
        return None
    if value is None and isinstance(mark, Amount) and mark.unset != Amount().unset:
        # no limit is the most
        return float("inf")
    return float(value) if isinstance(value, int | float) else None


def models_run(stage: str, section: Any) -> int:
    """How many models a section runs; a language model counts as ten."""
    if isinstance(section, list | tuple):
        return sum(models_run(stage, part) for part in section)
    if not isinstance(section, Mapping):
        return 0
    within = {
        "retrieve": section.get(_ROUTES),
        "rewrite": section.get("rewrite"),
        "filter": section.get("filter"),
        "context": section.get("context"),
    }
    inner = sum(models_run(inside, part) for inside, part in within.items())
    config = config_of(stage, section)
    if config is not None and config.asks_language_model:
        return inner + _LANGUAGE_MODEL_WEIGHT
    return inner + bool(section.get("model") or section.get("endpoint"))


def kinds_of(section: Any, words: Callable[[str], str] = str) -> str:
    """The kind of a section, or of each in a list, in ``words``."""
    if isinstance(section, list | tuple):
        return " + ".join(kinds_of(part, words) for part in section)
    return words(str(section.get("kind", "")))


def kind_words(stage: str, section: Any) -> str:
    """What a kind calls itself, or each in a list; its name where it is of a package that is not here."""
    return kinds_of(section, table_of(stage).words)


def search_words(section: Dump, keys: Sequence[str] = (), at: str = "") -> str:
    """What a search goes by: keywords, vectors, or both; what all routes end with is said once.

    Of the contexts of its routes those that ``keys`` name are said, or all without any. ``at`` is the place
    of a route in the keys.
    """
    contexts, around = section.get("context"), ""
    if contexts is not None and (not keys or any(key.startswith(f"{at}context") for key in keys)):
        around = f" with context {kind_words('context', contexts)}" if contexts else " without context"
    if not (routes := section.get(_ROUTES)):
        return kind_words("retrieve", section) + around
    # keywords first, so that the order of routes gives no second name
    by_words = {
        search_words(route, keys, f"{at}{_ROUTES}.{place}."): _by_words(route)
        for place, route in enumerate(routes)
    }
    names = sorted(by_words, key=lambda name: (not by_words[name], name))
    last = " search" if all(name.endswith(" search") for name in names) else ""
    return " + ".join(name.removesuffix(last) for name in names) + last + around


def _by_words(section: Dump) -> bool:
    return any("words" in searched_by(leaf) for leaf in leaves(section))


def searched_by(section: Dump) -> set[str]:
    """What a search without routes finds passages by: ``words``, ``vectors`` or both; nothing if unknown."""
    by = set(table_of("retrieve").by(str(section.get("kind", ""))))
    return by or ({"vectors"} if section.get("model") or section.get("endpoint") else set())


def leaves(*sections: Any) -> list[Dump]:
    """The sections in those given, each of a list and the routes of a fusion apart."""
    parts: list[Dump] = []
    for section in sections:
        if isinstance(section, list | tuple):
            parts += leaves(*section)
        elif isinstance(section, Mapping):
            parts += leaves(*section[_ROUTES]) if section.get(_ROUTES) else [section]
    return parts


def routes_in_words(settings: Iterable[Dump]) -> dict[str, str]:
    """What the routes of fusions search by, by their steps: ``retrieve.chroma`` is ``vector search``."""
    words: dict[str, str] = {}

    def visit(step: str, section: Dump) -> None:
        seen: Counter[str] = Counter()
        for route in section.get("routes") or ():
            kind = str(route.get("kind"))
            seen[kind] += 1
            # named as the search names them
            dash = "-" if kind[-1:].isdigit() else ""
            name = f"{step}.{kind}{dash}{seen[kind]}" if seen[kind] > 1 else f"{step}.{kind}"
            again = f" ({seen[kind]})" if seen[kind] > 1 else ""
            words.setdefault(name, search_words(route) + again)
            visit(name, route)

    for setting in settings:
        visit("retrieve", setting.get("retrieve") or {})
    return words
