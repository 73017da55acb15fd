"""Settings that differ in their chunk size alone: the lines of the chunk-size curves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def size_of(setting: Mapping[str, Any]) -> tuple[str, int, str] | None:
    """The key, the value and the unit of a setting's chunk size; None for chunkers without one."""
    chunk = setting.get("chunk") or {}
    if "chunk_size" in chunk:
        unit = str(chunk.get("unit", "characters"))
        return "chunk_size", int(chunk["chunk_size"]), "characters" if unit == "characters" else "tokens"
    if "tokens_per_chunk" in chunk:
        return "tokens_per_chunk", int(chunk["tokens_per_chunk"]), "tokens"
    return None


MEASURED = "tokens, median measured"


def curves(
    settings: Sequence[Mapping[str, Any]], measured: Sequence[int | None] = ()
) -> list[dict[str, Any]]:
    """Lines of settings that share everything but the chunk size.

    ``measured`` is the median length of each setting's chunks in tokens. Where all are known, lines go by
    it: a window of tokens, or short paragraphs, may leave chunks far below the size that was asked for. Each
    line has a ``label`` that says what tells it from the others, its ``unit``, and ``points`` as ``[length,
    row of the setting]``, smallest first. Empty where no line has two sizes.
    """
    groups: dict[str, tuple[dict[str, Any], str, list[list[int]]]] = {}
    for row, setting in enumerate(settings):
        size = size_of(setting)
        if size is None:
            continue
        key, value, unit = size
        rest = _sections(setting)
        rest["chunk"].pop(key)
        _, _, points = groups.setdefault(json.dumps([rest, unit], sort_keys=True), (rest, unit, []))
        points.append([value, row])
    if all(len({size for size, _ in points}) < 2 for _, _, points in groups.values()):
        return []
    rows = [row for _, _, points in groups.values() for _, row in points]
    if measured and all(measured[row] for row in rows):
        groups = {
            key: (rest, MEASURED, [[measured[row] or 0, row] for _, row in points])
            for key, (rest, _, points) in groups.items()
        }
    flat = [_flat(rest) for rest, _, _ in groups.values()]
    return [
        {"label": _label(one, _varying(one, flat)), "unit": unit, "points": sorted(points)}
        for one, (_, unit, points) in zip(flat, groups.values(), strict=True)
    ]


def _sections(setting: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The sections of a setting by the names of its steps, rerankers numbered from the second on."""
    found: dict[str, dict[str, Any]] = {}
    for step, section in setting.items():
        if isinstance(section, Mapping):
            found[step] = dict(section)
        elif isinstance(section, list | tuple):
            for place, one in enumerate(section, start=1):
                found[step if place == 1 else f"{step}{place}"] = dict(one)
    return found


def _varying(one: Mapping[str, Any], flat: Sequence[Mapping[str, Any]]) -> set[str]:
    """The keys in which a line differs from lines with the same kind of that step; kinds count always."""

    def alike(key: str) -> list[Mapping[str, Any]]:
        kind = f"{key.partition('.')[0]}.kind"
        return [other for other in flat if key == kind or other.get(kind) == one.get(kind)]

    return {key for key in one if len({repr(other.get(key)) for other in alike(key)}) > 1}


def _flat(rest: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{stage}.{key}": value for stage, section in rest.items() for key, value in section.items()}


def _label(one: Mapping[str, Any], varying: set[str]) -> str:
    """The kind of chunker and what else varies among lines of that kind, in short."""
    parts = [str(one.get("chunk.kind", "chunks"))]
    for key, value in one.items():
        stage, _, name = key.partition(".")
        if key not in varying or name in _NOT_SAID or isinstance(value, list):
            continue
        if isinstance(value, Mapping):
            size = size_of({"chunk": value})
            parts.append(" ".join([str(value.get("kind", name)), *([str(size[1])] if size else [])]))
        elif name == "kind":
            if stage != "chunk":
                parts.append(str(value))
        elif name == "model":
            parts.append(str(value).rsplit("/", 1)[-1].removeprefix("embedded:"))
        else:
            parts.append(f"{name.replace('chunk_', '').replace('_', ' ')} {value}")
    return ", ".join(parts)


# They differ between kinds of chunkers or follow from the size, so they do not help the reader.
_NOT_SAID = frozenset({"strip", "unit", "whole_words", "tokens_per_chunk", "separators", "batch_tokens"})
