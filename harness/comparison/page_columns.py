"""How the settings of a result differ, as the page shows it: columns to choose by, curves by chunk size."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.comparison.design import short_model
from harness.comparison.sweep import STEPS, Dump, config_of, flat, kinds_of, marks_in, overlap_of, size_of
from harness.values import Amount, Ordered, Telling

# What a setting does after its retrieval; two settings that share all before it share their first ranking.
_LATER = frozenset({"name", "rerank", "read"})
MEASURED = "tokens, median measured"
# the step of each column that names kinds
_KINDS = {
    "chunker": ("chunk", "How documents are cut"),
    "context": ("context", "The text put before a passage when it is indexed"),
    "filter": ("filter", "The filter that restricts which documents are searched"),
    "rewriter": ("rewrite", "How a query is rewritten before the search"),
    "reranker": ("rerank", "What reranks the passages"),
    "reader": ("read", "What is done with the passages before they are read"),
}


def board_columns(settings: Sequence[Dump], measured: Sequence[int | None]) -> dict[str, Any]:
    """What the page is given: ``factors``, ``curves`` and ``retrievals`` of configured settings in its order.

    ``measured`` is the median length of each setting's chunks in tokens, None where it is not known.
    """
    return {
        "factors": factor_columns(settings, measured),
        "curves": curves(settings, measured),
        "retrievals": retrievals(settings),
    }


def factor_columns(settings: Sequence[Dump], measured: Sequence[int | None]) -> list[dict[str, Any]]:
    """The factors in which settings differ: ``name``, ``about`` and one value per setting, None for none.

    A value is a number or a word. ``levels`` are the values in their order, where a kind declares one.
    """
    kinds = {
        name: (about, [_kinds(setting.get(step)) for setting in settings])
        for name, (step, about) in _KINDS.items()
    }
    sizes = [size.value if (size := size_of(setting)) else None for setting in settings]
    columns: dict[str, tuple[str, Sequence[str | int | None]]] = {
        "parser": ("The parser of the documents", list(map(_parser, settings))),
        "chunker": kinds.pop("chunker"),
        "size": ("The configured chunk size, in the unit of its chunker", sizes),
        "overlap": (
            "The overlap of neighbouring chunks, in the unit of the chunker",
            list(map(overlap_of, settings)),
        ),
        "median tokens": ("Median length of a chunk", measured),
        **{name: kinds.pop(name) for name in ("context", "filter", "rewriter")},
        "retriever": ("What finds the passages", list(map(_retriever, settings))),
        "embedding": ("The model whose vectors are searched", list(map(_models, settings))),
        **kinds,
    }
    # that a lexical setting has no model says nothing its retriever does not say
    nothing = {"embedding": {None}}
    varying = [
        {"name": name, "about": about, "values": list(values)}
        for name, (about, values) in columns.items()
        if len({*values} - nothing.get(name, set())) > 1
    ]
    return varying + [column for step in STEPS for column in _marked(step, settings)]


def _marked(step: str, settings: Sequence[Dump]) -> list[dict[str, Any]]:
    """A column for every depth, and for every key whose levels are ordered, that varies at a step."""
    sections = [setting.get(step) for setting in settings]
    marks: dict[str, Amount | Ordered] = {}
    abouts: dict[str, str] = {}
    for section in sections:
        for key, mark in marks_in(step, section).items():
            # a route's is no property of the search; of several rerankers the first one tells
            place, _, last = key.rpartition(".")
            if isinstance(mark, Amount | Ordered) and place in ("", "0"):
                marks.setdefault(key, mark)
                abouts.setdefault(key, _about(step, section, last))
    columns = []
    for key, mark in marks.items():
        last = key.rpartition(".")[2]
        values = [flat(section).get(key) for section in sections]
        if len({repr(value) for value in values if value is not None}) > 1:
            name = f"{STEPS[step].factor} {last.replace('_', ' ')}"
            levels = {"levels": list(mark.levels)} if isinstance(mark, Ordered) else {}
            columns.append({"name": name, "about": abouts[key] or name, "values": values, **levels})
    return columns


def _about(step: str, section: Any, key: str) -> str:
    """The first sentence on a key in the reference of its kind; '' where none is here."""
    first = section[0] if isinstance(section, list | tuple) else section
    config = config_of(step, first)
    field = config.model_fields.get(key) if config is not None else None
    return ((field.description if field is not None else "") or "").partition(". ")[0].rstrip(".")


def retrievals(settings: Sequence[Dump]) -> list[int]:
    """For every setting the place of the first one that cuts and retrieves as it does."""
    first: dict[str, int] = {}
    places = []
    for place, setting in enumerate(settings):
        shared = {key: value for key, value in setting.items() if key not in _LATER}
        # a setting whose configuration is not known is like no other
        places.append(first.setdefault(json.dumps(shared, sort_keys=True), place) if shared else place)
    return places


def _kinds(section: Any) -> str | None:
    """The kinds of one step or of several, as ``a + b``; None if there is no such step."""
    return (kinds_of(section) or None) if isinstance(section, Mapping | list | tuple) else None


def _parser(setting: Dump) -> str | None:
    """The kind of parser, with what it calls and what differs from its defaults."""
    section = setting.get("parse")
    kind = _kinds(section)
    if kind is None or not isinstance(section, Mapping):
        return kind
    config, marks = config_of("parse", section), marks_in("parse", section)
    usual = {name: field.default for name, field in config.model_fields.items()} if config is not None else {}
    details = (
        str(value)
        for key, value in section.items()
        if isinstance(marks.get(key), Telling) or (isinstance(usual.get(key), str) and value != usual[key])
    )
    return " ".join([kind, *details])


def _retriever(setting: Dump) -> str | None:
    section = setting.get("retrieve")
    kind = _kinds(section)
    routes = section.get("routes") if isinstance(section, Mapping) else None
    return f"{kind} of {_kinds(routes)}" if kind and routes else kind


def _models(setting: Dump) -> str | None:
    """The models that embed, of the retriever and its routes."""
    section = setting.get("retrieve")
    if not isinstance(section, Mapping):
        return None
    routes = [route for route in section.get("routes") or () if isinstance(route, Mapping)]
    names = [part["model"] for part in (section, *routes) if isinstance(part.get("model"), str)]
    return " + ".join(dict.fromkeys(map(short_model, names))) or None


def _without(section: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A section without a key, which may be dotted."""
    first, _, then = key.partition(".")
    if then:
        return {**section, first: _without(section[first], then)}
    return {name: value for name, value in section.items() if name != key}


def curves(settings: Sequence[Dump], measured: Sequence[int | None] = ()) -> list[dict[str, Any]]:
    """Lines of settings that share everything but the chunk size.

    Where all are ``measured``, lines go by that length: a window of tokens, or short paragraphs, may leave
    chunks far below the size that was asked for. Each line has its ``unit``, and ``points`` as ``[length,
    row of the setting]``, smallest first. Empty where no line has two sizes.
    """
    groups: dict[str, tuple[str, list[list[int]]]] = {}
    for row, setting in enumerate(settings):
        size = size_of(setting)
        if size is None:
            continue
        rest = {step: section for step, section in setting.items() if isinstance(section, Mapping | list)}
        rest["chunk"] = _without(setting["chunk"], size.key)
        _, points = groups.setdefault(json.dumps([rest, size.unit], sort_keys=True), (size.unit, []))
        points.append([size.value, row])
    if all(len({size for size, _ in points}) < 2 for _, points in groups.values()):
        return []
    rows = [row for _, points in groups.values() for _, row in points]
    if measured and all(measured[row] for row in rows):
        groups = {
            key: (MEASURED, [[measured[row] or 0, row] for _, row in points])
            for key, (_, points) in groups.items()
        }
    return [{"unit": unit, "points": sorted(points)} for unit, points in groups.values()]
