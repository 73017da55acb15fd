"""Readable names for the settings of a sweep: only the values that vary.

Which keys are a size and its overlap, and what a key that is left out means, are declared by the kinds
(``KeyMark``); all else follows from the values.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from harness.comparison import marks_in
from harness.values import CHARACTERS, Amount, KeyMark, Overlap, Size, StageConfig, Unset, text_sha256

ONLY = "base"
_UNSAFE = re.compile(r"[^\w.,=+@~()\[\]-]")
# bytes; a file system allows 255, and the names of a stage and of the format come on top
_LONGEST = 160
_SHORT_WORD = re.compile(r"\w{1,16}")
# English prose has some four and a half characters a token, other text fewer.
_CHARACTERS_A_TOKEN = 5
_ROUTES, _ROUTE = "routes", "route"

Dump = Mapping[str, Any] | None


def name_settings(combinations: Sequence[Mapping[str, Any]]) -> list[str]:
    """One name per combination; a sweep of a single point is called ``base``.

    A combination has a configuration by step, None if the step is left out, or a tuple of configurations
    where a step may come several times; all have the same steps in the same order.
    """
    parts: list[list[tuple[str, str]]] = [[] for _ in combinations]
    absent: list[list[str]] = [[] for _ in combinations]
    for stage in combinations[0] if combinations else ():
        for place, configs in enumerate(_places([combination[stage] for combination in combinations])):
            word = stage if place == 0 else f"{stage}{place + 1}"
            differing = _labels(word, stage, [_dump(config) for config in configs])
            several = any(config is not None for config in configs)
            for config, name, missing, label in zip(configs, parts, absent, differing, strict=True):
                name += [(stage, text) for text in label]
                missing += [f"{word}=none"] if config is None and several else []
    labels = [[label for _, label in name] for name in parts]
    if len(set(map(tuple, labels))) < len(set(map(tuple, parts))):
        # a kind of two steps, such as the `llm` of a rewriter and of a filter, is named with its step
        steps = Counter(label for _, label in set(itertools.chain.from_iterable(parts)))
        labels = [
            [f"{stage}={label}" if steps[label] > 1 and "=" not in label else label for stage, label in name]
            for name in parts
        ]
    # a step that is left out is named only where nothing else distinguishes the setting
    return [" ".join(name or missing[:1]) or ONLY for name, missing in zip(labels, absent, strict=True)]


def short_names(stage: str, configs: Sequence[StageConfig]) -> list[str]:
    """How the configurations of one step differ from each other; ``base`` for a single one."""
    return [" ".join(label) or ONLY for label in _labels(stage, stage, [_dump(config) for config in configs])]


def _places(values: Sequence[Any]) -> list[tuple[StageConfig | None, ...]]:
    """The first configuration of every combination, the second, and so on."""
    tuples = [value if isinstance(value, tuple) else (value,) for value in values]
    return list(itertools.zip_longest(*tuples)) or [(None,) * len(values)]


def file_names(settings: Sequence[str]) -> dict[str, str]:
    """For every setting the part of a file name that stands for it, no two the same.

    Letters, digits and a few marks stay, ``/`` becomes ``-`` and what else there is ``_``. Where that takes
    more than a slash or a blank from a name, or leaves two alike, a hash of the name follows.
    """
    plain = {setting: setting.replace("/", "-").replace(" ", "_") for setting in settings}
    # some file systems take a and A for one
    alike = Counter(name.casefold() for name in plain.values())
    names = {}
    for setting, name in plain.items():
        safe = not _UNSAFE.search(name) and not name.startswith(".") and 0 < len(name.encode()) <= _LONGEST
        if not safe or alike[name.casefold()] > 1:
            kept = _UNSAFE.sub("_", name).lstrip(".").encode()[:_LONGEST].decode(errors="ignore")
            name = f"{kept}-{text_sha256(setting)[:12]}"
        names[setting] = name
    return names


def _dump(config: StageConfig | None) -> Dump:
    return None if config is None else config.model_dump(mode="json")


def _labels(word: str, stage: str, dumps: Sequence[Dump]) -> list[list[str]]:
    """How configurations of a step differ; ``word`` is what the step is called among several of it."""
    kinds = [None if dump is None else dump.get("kind") for dump in dumps]
    varying = {kind: _varying(dumps, kind) for kind in set(kinds)}
    several = len(set(kinds)) > 1
    routes = _routes(dumps)
    labels: list[list[str]] = []
    for dump, kind, inner in zip(dumps, kinds, routes, strict=True):
        if dump is None:
            labels.append([])
            continue
        marks = marks_in(stage, dump)
        shown = {
            key: _unset(marks.get(key)) if dump[key] is None else _value(dump[key], varying[kind][key])
            for key in varying[kind]
            if key != _ROUTES
        }
        named = [f"{kind}({inner})"] if inner else [str(kind)] if several and kind else []
        labels.append(named + _fields(word, dump, shown, marks))
    return labels


def _unset(mark: KeyMark | None) -> str:
    """What a key that is left out is called."""
    return mark.unset if isinstance(mark, Amount | Unset) else "none"


def _routes(dumps: Sequence[Dump]) -> list[str]:
    """The routes of each fusion in short, such as ``bm25+chroma``; '' where all of its kind have the same."""
    out = [""] * len(dumps)
    for kind in {dump.get("kind") for dump in dumps if dump is not None and _ROUTES in dump}:
        rows = [i for i, dump in enumerate(dumps) if dump is not None and dump.get("kind") == kind]
        routes = [dict(dumps[i] or {})[_ROUTES] for i in rows]
        if all(route == routes[0] for route in routes):
            continue
        names: list[list[str]] = [[] for _ in rows]
        for place in itertools.zip_longest(*routes):
            for name, dump, label in zip(names, place, _labels(_ROUTE, "retrieve", place), strict=True):
                if dump is not None:
                    kinds = [] if label and label[0].startswith(dump["kind"]) else [dump["kind"]]
                    name.append(",".join([*kinds, *label]))
        for i, name in zip(rows, names, strict=True):
            out[i] = "+".join(name)
    return out


def _varying(dumps: Sequence[Dump], kind: Any) -> dict[str, list[Any]]:
    """The fields in which the configurations of one kind differ, and the values of each."""
    values: dict[str, dict[str, Any]] = {}
    for dump in dumps:
        if dump is not None and dump.get("kind") == kind:
            for key, value in dump.items():
                values.setdefault(key, {})[repr(value)] = value
    return {key: list(distinct.values()) for key, distinct in values.items() if len(distinct) > 1}


def _fields(
    word: str, dump: Mapping[str, Any], shown: Mapping[str, str], marks: Mapping[str, KeyMark]
) -> list[str]:
    """``shown`` maps the keys that vary to their values, shortened; a size comes with its overlap."""
    names = []
    varying = set(shown)
    sizes = {key: mark for key, mark in marks.items() if isinstance(mark, Size) and key in dump}
    overlaps = {mark.of: key for key, mark in marks.items() if isinstance(mark, Overlap) and key in dump}
    for key in sorted(sizes, key=lambda size: sizes[size].again):
        overlap = overlaps.get(key, "")
        if {key, overlap} & varying:
            mark = marks.get(overlap)
            in_words = isinstance(mark, Overlap) and (mark.shown or overlap in varying)
            names.append(f"{sizes[key].short or key}={dump[key]}{f'/{dump[overlap]}' if in_words else ''}")
            varying -= {key, overlap}
            again = [other for other in sizes if sizes[other].again and other != key]
            names += [
                f"window={dump[window]}"
                for window in again
                if not {window, overlaps.get(window)} & varying and _capped(dump, key, sizes[key], window)
            ]
    return names + [f"{_short(word, key)}={shown[key]}" for key in dump if key in varying]


def _capped(dump: Mapping[str, Any], key: str, size: Size, window: str) -> bool:
    """Whether a size in characters is more than a window of tokens can hold of most text."""
    in_characters = CHARACTERS in (size.unit, dump.get(size.unit_key, CHARACTERS))
    return in_characters and dump[key] > _CHARACTERS_A_TOKEN * dump[window]


def _short(word: str, key: str) -> str:
    if key == "chunk":
        return word
    return {"retrieve": "embed", _ROUTE: "model"}.get(word, word) if key == "model" else key


def _value(value: Any, others: Sequence[Any]) -> str:
    """A value in short: of a path as many of its last parts as distinguish it from the other values."""
    # a section is named by its kind, an endpoint by its model
    named = next((key for key in ("kind", "model") if isinstance(value, Mapping) and key in value), None)
    if named is not None:
        sections = [other for other in others if isinstance(other, Mapping)]
        alike = [other for other in sections if other.get(named) == value[named]]
        if named == "kind":
            return str(value["kind"]) + (_difference(value, alike) if len(alike) > 1 else "")
        return _last_parts(value["model"], 1) + (_mark(value) if len(alike) > 1 else "")
    if isinstance(value, list) and all(isinstance(part, Mapping) and "kind" in part for part in value):
        # a list of sections is named by theirs
        distinct = {repr(part): part for other in others if isinstance(other, list) for part in other}
        return "+".join(_value(part, [*distinct.values()]) for part in value) or "none"
    others_in_words = [_in_words(other) for other in others if repr(other) != repr(value)]
    if (words := _in_words(value)) and words not in others_in_words:
        return words
    depths = range(1, max(len(PurePosixPath(_text(other)).parts) for other in others) + 1)
    for depth in depths:
        short = _last_parts(value, depth)
        if not any(_last_parts(other, depth) == short for other in others if _text(other) != _text(value)):
            return short
    # they differ only in white space, or in no part of a path
    return f"{_on_one_line(_text(value))}{_mark(value)}"


def _in_words(value: Any) -> str:
    """A mapping of plain values as ``key=value,…``; '' for all else."""
    if not isinstance(value, Mapping) or not all(map(_is_plain, value.values())):
        return ""
    return ",".join(f"{key}={content}" for key, content in value.items())


def _is_plain(value: Any) -> bool:
    """Whether a value reads well within a name: a number or a short word."""
    return isinstance(value, int | float) or bool(isinstance(value, str) and _SHORT_WORD.fullmatch(value))


def _difference(value: Mapping[str, Any], alike: Sequence[Mapping[str, Any]]) -> str:
    """A short name for the differences of a section from others of its kind: short values, else a hash."""
    keys = [key for key in value if len({repr(other.get(key)) for other in alike}) > 1]
    if all(_is_plain(value[key]) or _SHORT_WORD.fullmatch(str(value[key])) for key in keys):
        return f"({','.join(f'{key}={value[key]}' for key in keys)})"
    return _mark(value)


def _mark(value: Any) -> str:
    return f"~{text_sha256(_text(value))[:6]}"


def _last_parts(value: Any, count: int) -> str:
    text = _text(value)
    return _on_one_line("/".join(PurePosixPath(text).parts[-count:]) if "/" in text else text)


def _on_one_line(text: str) -> str:
    return "".join("_" if letter.isspace() else letter for letter in text.replace("embedded:", "")) or "none"


def _text(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(item, int | float) for item in value):
        return ",".join(repr(item).removesuffix(".0") for item in value)
    if isinstance(value, list) and all(
        isinstance(item, str) and _SHORT_WORD.fullmatch(item) for item in value
    ):
        return "+".join(value)
    return value if isinstance(value, str) else repr(value)
