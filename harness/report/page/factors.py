"""How the settings of a result differ: the columns that filter the leader board, and chunk-size curves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Setting = Mapping[str, Any]
# What a setting does after its retrieval; two settings that share all before it share their first ranking.
_LATER = frozenset({"name", "rerank", "read"})
MEASURED = "tokens, median measured"
_OVERLAPS = ("chunk_overlap", "token_overlap", "overlap")


def factors(settings: Sequence[Setting], measured: Sequence[int | None]) -> list[dict[str, Any]]:
    """The factors in which settings differ: ``name``, ``about`` and one value per setting, None for none.

    ``measured`` is the median length of each setting's chunks in tokens. A value is a number or a word.
    """
    known = [{**one, MEASURED: length} for one, length in zip(settings, measured, strict=True)]
    found: list[dict[str, Any]] = [
        {"name": name, "about": about, "values": [value(one) for one in known]}
        for name, about, value in _FACTORS
    ]
    # that a lexical setting has no model says nothing its retriever does not say
    nothing = {"embedding": {None}}
    return [one for one in found if len({*one["values"]} - nothing.get(one["name"], set())) > 1]


def retrievals(settings: Sequence[Setting]) -> list[int]:
    """For every setting the place of the first one that cuts and retrieves as it does."""
    first: dict[str, int] = {}
    out = []
    for place, one in enumerate(settings):
        shared = {key: value for key, value in one.items() if key not in _LATER}
        # a setting whose configuration is not known is like no other
        out.append(first.setdefault(json.dumps(shared, sort_keys=True), place) if shared else place)
    return out


def _kinds(section: Any) -> str | None:
    """The kinds of one step or of several, as ``a + b``; None if there is no such step."""
    if isinstance(section, Mapping):
        return str(section["kind"]) if section.get("kind") else None
    if isinstance(section, list | tuple):
        return " + ".join(kind for one in section if (kind := _kinds(one))) or None
    return None


def _parser(setting: Setting) -> str | None:
    """The kind of parser, with its mode and its call."""
    section = setting.get("parse")
    kind = _kinds(section)
    if kind is None or not isinstance(section, Mapping):
        return kind
    mode = section.get("extraction_mode", "plain")
    parts = [kind, "" if mode == "plain" else str(mode), str(section.get("call", ""))]
    return " ".join(filter(None, parts))


def _retriever(setting: Setting) -> str | None:
    section = setting.get("retrieve")
    kind = _kinds(section)
    routes = section.get("routes") if isinstance(section, Mapping) else None
    return f"{kind} of {_kinds(routes)}" if kind and routes else kind


def _model(setting: Setting) -> str | None:
    """The models that embed, of the retriever and its routes."""
    section = setting.get("retrieve")
    if not isinstance(section, Mapping):
        return None
    routes = [one for one in section.get("routes") or () if isinstance(one, Mapping)]
    names = [one["model"] for one in (section, *routes) if isinstance(one.get("model"), str)]
    short = (name.rsplit("/", 1)[-1].removeprefix("embedded:") for name in names)
    return " + ".join(dict.fromkeys(short)) or None


def _size(setting: Setting) -> int | None:
    found = size_of(setting)
    return found[1] if found else None


def _overlap(setting: Setting) -> int | None:
    chunk = setting.get("chunk") or {}
    return next((chunk[key] for key in _OVERLAPS if isinstance(chunk.get(key), int) and chunk[key]), None)


def _step(name: str) -> Callable[[Setting], str | None]:
    return lambda setting: _kinds(setting.get(name))


_FACTORS: tuple[tuple[str, str, Callable[[Setting], str | int | None]], ...] = (
    ("parser", "The parser of the documents", _parser),
    ("chunker", "How documents are cut", _step("chunk")),
    ("size", "The configured chunk size, in the unit of its chunker", _size),
    ("overlap", "The overlap of neighbouring chunks, in the unit of the chunker", _overlap),
    ("median tokens", "Median length of a chunk", lambda setting: setting[MEASURED]),
    ("context", "The text put before a passage when it is indexed", _step("context")),
    ("filter", "The filter that restricts which documents are searched", _step("filter")),
    ("rewriter", "How a query is rewritten before the search", _step("rewrite")),
    ("retriever", "What finds the passages", _retriever),
    ("embedding", "The model whose vectors are searched", _model),
    ("reranker", "What reranks the passages", _step("rerank")),
    ("reader", "What is done with the passages before they are read", _step("read")),
)


def size_of(setting: Mapping[str, Any]) -> tuple[str, int, str] | None:
    """The key, the value and the unit of a setting's chunk size; None for chunkers without one."""
    chunk = setting.get("chunk") or {}
    if "chunk_size" in chunk:
        unit = str(chunk.get("unit", "characters"))
        return "chunk_size", int(chunk["chunk_size"]), "characters" if unit == "characters" else "tokens"
    if "tokens_per_chunk" in chunk:
        return "tokens_per_chunk", int(chunk["tokens_per_chunk"]), "tokens"
    return None


def curves(
    settings: Sequence[Mapping[str, Any]], measured: Sequence[int | None] = ()
) -> list[dict[str, Any]]:
    """Lines of settings that share everything but the chunk size.

    ``measured`` is the median length of each setting's chunks in tokens. Where all are known, lines go by
    it: a window of tokens, or short paragraphs, may leave chunks far below the size that was asked for. Each
    line has its ``unit``, and ``points`` as ``[length, row of the setting]``, smallest first. Empty where no
    line has two sizes.
    """
    groups: dict[str, tuple[str, list[list[int]]]] = {}
    for row, setting in enumerate(settings):
        size = size_of(setting)
        if size is None:
            continue
        key, value, unit = size
        rest = {step: one for step, one in setting.items() if isinstance(one, Mapping | list)}
        rest["chunk"] = {name: one for name, one in setting["chunk"].items() if name != key}
        _, points = groups.setdefault(json.dumps([rest, unit], sort_keys=True), (unit, []))
        points.append([value, row])
    if all(len({size for size, _ in points}) < 2 for _, points in groups.values()):
        return []
    rows = [row for _, points in groups.values() for _, row in points]
    if measured and all(measured[row] for row in rows):
        groups = {
            key: (MEASURED, [[measured[row] or 0, row] for _, row in points])
            for key, (_, points) in groups.items()
        }
    return [{"unit": unit, "points": sorted(points)} for unit, points in groups.values()]
