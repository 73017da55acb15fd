"""A sweep as a design: the factors that its settings vary, the levels of each, and their names in words.

A factor is a step that settings do differently (search, reranker), or one key of it where a sweep crosses
several (chunk size × overlap); a level is one way of doing it. A setting is named by its levels:
``500 characters, keyword + vector search``.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness import steps
from harness.report import size_of

Section = Mapping[str, Any]

# steps in the order of a pipeline, what each is called as a factor, what its absence is called, and the table
# of its kinds at the door of `steps`
_STEPS = {
    "parse": ("parser", "no parser", ""),
    "chunk": ("chunking", "no chunks", "CHUNKERS"),
    "context": ("context", "no context", "CONTEXTS"),
    "filter": ("filter", "no filter", "FILTERS"),
    "rewrite": ("query", "as asked", "REWRITERS"),
    "retrieve": ("search", "no search", "RETRIEVERS"),
    "rerank": ("reranker", "no reranker", "RERANKERS"),
    "read": ("text read", "chunks as found", "READERS"),
    "answer": ("answerer", "no answer", "ANSWERERS"),
}
# those that name a setting where nothing varies
_TELLING = ("chunk", "retrieve", "rerank")
# the keys that say most of a level, the first that varies
_LEADING = ("chunk_size", "tokens_per_chunk", "kind", "model", "endpoint")
OVERLAPS = ("chunk_overlap", "token_overlap", "overlap")
# of two levels that are shown to be equivalent, less of these is cheaper
_DEARER = (*OVERLAPS, "top_k", "top_chars", "depth")
# a language model costs far more than any model that runs here
_LLM_WEIGHT = 10
_LONGEST_VALUE, _LONGEST_ADDRESS = 24, 60


@dataclass(frozen=True, slots=True)
class Factor:
    """One choice that settings make differently: a step, or a key of it.

    ``levels`` maps every setting to its level in words, ``absent`` is the level of leaving the step out ('':
    none does), ``weight`` how many models each level runs, or how much it reads: the lighter of two equals is
    the cheaper one.
    """

    name: str
    levels: Mapping[str, str]
    absent: str = ""
    weight: Mapping[str, float] = field(default_factory=dict)

    @property
    def distinct(self) -> tuple[str, ...]:
        """The levels, in the order in which settings have them."""
        return tuple(dict.fromkeys(self.levels.values()))


@dataclass(frozen=True, slots=True)
class SweepDesign:
    """The ``factors`` that the configured settings vary, and the ``names`` of the settings in words."""

    factors: tuple[Factor, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def words(self, setting: str) -> str:
        """A setting in words; its technical name where its configuration is unknown."""
        return self.names.get(setting, setting)

    def cells(self, settings: Sequence[str]) -> dict[tuple[str, ...], str]:
        """The setting at every combination of levels.

        Empty where a setting is not in the design, or two have the same levels.
        """
        if not self.factors or any(name not in self.names for name in settings):
            return {}
        found = {tuple(one.levels[name] for one in self.factors): name for name in settings}
        return found if len(found) == len(settings) else {}


def design_of(settings: Mapping[str, Section]) -> SweepDesign:
    """The design of configured settings, each as ``record.json`` holds it, by name."""
    configured = {name: one for name, one in settings.items() if _is_known(one)}
    sections = {step: {name: one.get(step) or None for name, one in configured.items()} for step in _STEPS}
    factors = tuple(one for step, by_setting in sections.items() for one in _factors_of(step, by_setting))
    shown = [one.levels for one in factors]
    if not shown and configured:
        shown = [_levels(step, sections[step]) for step in _TELLING]
    absent = {missing for _, missing, _ in _STEPS.values()}
    names = {}
    for name in configured:
        parts = [levels[name] for levels in shown]
        names[name] = ", ".join([one for one in parts if one not in absent] or parts[:1])
    alike = Counter(names.values())
    # results side by side may have the same setting
    told = {name: f"{text} ({name})" if alike[text] > 1 else text for name, text in names.items()}
    return SweepDesign(factors, told)


def design_in(record: Mapping[str, Any]) -> SweepDesign:
    """The design of the settings of one result, from its run record."""
    return design_of({one["name"]: one for one in record["config"].get("settings", []) if "name" in one})


def _is_known(setting: Section) -> bool:
    """Whether a setting says how it searches; the file of another pipeline is known by its name."""
    search = setting.get("retrieve") or {}
    return bool(search or setting.get("chunk")) and "file" not in search


def _factors_of(step: str, sections: Mapping[str, Any]) -> tuple[Factor, ...]:
    """The factors of a step: each group of keys that is crossed with the others, or the step as one."""
    distinct = {json.dumps(one, sort_keys=True, default=str): one for one in sections.values()}
    groups = _crossed(list(distinct.values()))
    names = [_factor_name(step, keys, _leads(keys, groups)) for keys in groups]
    if len(set(names)) < len(groups):
        groups = ()
    found = []
    for keys, name in zip(groups or ((),), names if groups else ("",), strict=True):
        levels = _levels(step, sections, keys, bool(keys) and not _leads(keys, groups))
        if len(set(levels.values())) > 1:
            called = name or _step_name(step, levels)
            absent = _STEPS[step][1] if _STEPS[step][1] in levels.values() else ""
            found.append(Factor(called, levels, absent, _weights(sections, levels, keys)))
    return tuple(found)


def _crossed(sections: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    """The groups of keys of which ``sections``, all different, have every combination of values.

    Keys that vary together are one group. Empty where there are not two, or a combination is missing.
    """
    if any(one is None for one in sections):
        return ()
    flat = [_with_units(_flat(one)) for one in sections]
    splits: dict[str, tuple[str, ...]] = {
        key: tuple(repr(one.get(key)) for one in flat)
        for key in dict.fromkeys(k for one in flat for k in one)
    }
    splits = {key: values for key, values in splits.items() if len(set(values)) > 1}
    # what another key decides belongs to that one, as the keys of a kind do to `kind`
    heads: dict[str, list[str]] = {}
    for key in sorted(splits, key=lambda one: -len(set(splits[one]))):
        of = next((head for head in heads if _decides(splits[head], splits[key])), key)
        heads.setdefault(of, []).extend((key, "unit") if key == "chunk_size" else (key,))
    product = math.prod(len(set(splits[head])) for head in heads)
    if len(heads) < 2 or product != len(sections):
        return ()
    order = [*splits, "unit"]
    groups = [tuple(sorted(keys, key=order.index)) for keys in heads.values()]
    return tuple(sorted(groups, key=lambda keys: (_rank(keys), order.index(keys[0]))))


def _decides(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the values of a key say those of another."""
    return len(set(zip(one, other, strict=True))) == len(set(one))


def _with_units(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a section, a chunk size with its unit: 500 characters are no 500 tokens."""
    size, unit = flat.get("chunk_size"), flat.get("unit")
    if size is None or unit is None:
        return dict(flat)
    return {key: value for key, value in flat.items() if key != "unit"} | {"chunk_size": (size, unit)}


def _rank(keys: Sequence[str]) -> int:
    """How much a group of keys says of a level: the less, the more."""
    ends = [key.rpartition(".")[2] for key in keys]
    return min(_LEADING.index(one) if one in _LEADING else len(_LEADING) for one in ends)


def _leads(keys: Sequence[str], groups: Sequence[Sequence[str]]) -> bool:
    """Whether a group is the one whose levels are told by the step, such as ``vector search``."""
    return keys == groups[0] and _rank(keys) < len(_LEADING)


def _factor_name(step: str, keys: Sequence[str], leads: bool) -> str:
    """What a factor that is part of a step is called."""
    key = min(keys, key=lambda one: (_rank([one]), len(one))).rpartition(".")[2]
    own = "overlap" if key in OVERLAPS else key.replace("_", " ")
    if step == "chunk":
        return "chunker" if key == "kind" else own
    return _STEPS[step][0] if leads else f"{_STEPS[step][0]} {own}"


def _step_name(step: str, levels: Mapping[str, str]) -> str:
    """What a whole step is called: chunks that differ in their size alone are a matter of chunk size."""
    sizes = all(len(words := one.split()) == 2 and words[0][0].isdigit() for one in levels.values())
    return "chunk size" if step == "chunk" and sizes else _STEPS[step][0]


def _weights(sections: Mapping[str, Any], levels: Mapping[str, str], keys: Sequence[str]) -> dict[str, float]:
    """What each level costs beside others of its factor."""
    (key,) = keys if len(keys) == 1 else ("",)
    weights: dict[str, float] = {}
    for name, level in levels.items():
        value = _flat(sections[name]).get(key) if key.rpartition(".")[2] in _DEARER else None
        own = float(value) if isinstance(value, int | float) else float(_weight(sections[name]))
        weights[level] = min(own, weights.get(level, own))
    return weights


def _levels(
    step: str, sections: Mapping[str, Any], keys: Sequence[str] = (), bare: bool = False
) -> dict[str, str]:
    """The level of every setting in words, no two levels the same.

    ``keys`` are those of the factor, where it is not all of the step; ``bare`` levels do not name the step.
    """

    def own(section: Any) -> str:
        flat = _flat(section)
        return json.dumps({key: flat.get(key) for key in keys or flat}, sort_keys=True, default=str)

    known = {own(one): one for one in sections.values()}
    kinds = {_kind(one) for one in known.values() if one is not None}
    several = len(kinds) > 1 and (not keys or any(key.rpartition(".")[2] == "kind" for key in keys))
    plain = {key: "" if bare else _in_words(step, one, several, keys) for key, one in known.items()}
    alike = {key: [known[one] for one in plain if plain[one] == text] for key, text in plain.items()}
    told = {key: _told_apart(text, known[key], alike[key], keys) for key, text in plain.items()}
    # addresses and paths, where nothing shorter does it
    again = [key for key, text in told.items() if [*told.values()].count(text) > 1]
    told |= {key: _told_apart(plain[key], known[key], alike[key], keys, _LONGEST_ADDRESS) for key in again}
    counts, seen = Counter(told.values()), Counter[str]()
    for key, text in told.items():
        seen[text] += 1
        told[key] = f"{text} ({seen[text]})".strip() if counts[text] > 1 else text
    return {name: told[own(one)] for name, one in sections.items()}


def _kind(section: Any, words: Callable[[str], str] = str) -> str:
    """The kind of a section, or of each in a list, in ``words``."""
    if isinstance(section, list | tuple):
        return " + ".join(_kind(one, words) for one in section)
    return words(str(section.get("kind", "")))


def _kind_in_words(step: str, section: Any) -> str:
    """What a kind calls itself; its name where it is of a package that is not here."""
    table = _STEPS[step][2]
    return _kind(section, getattr(steps, table).words if table else lambda kind: kind.replace("_", " "))


def _in_words(step: str, section: Any, several: bool, keys: Sequence[str]) -> str:
    """A level before it is told apart from others; ``several`` kinds are among them."""
    factor, absent, _ = _STEPS[step]
    if section is None:
        return absent
    if step == "chunk":
        size = size_of({"chunk": section})
        parts = [f"{size[1]:,} {size[2]}"] if size and (not keys or size[0] in keys) else []
        named = several or not (parts or keys)
        return ", ".join(parts + ([_kind_in_words(step, section)] if named else []))
    if step == "retrieve":
        return _search_in_words(section)
    kind = _kind_in_words(step, section)
    if step == "rerank":
        return f"reranked by {kind}" if several else "reranked"
    return kind if step == "parse" else f"{factor} {kind}".strip()


def _search_in_words(section: Section) -> str:
    """What a search goes by: keywords, vectors, or both; what all routes end with is said once."""
    if routes := section.get("routes"):
        words = dict.fromkeys(map(_search_in_words, routes))
        # keywords first, so that the order of routes gives no second name
        found = sorted(words, key=lambda one: (not one.startswith("keyword"), one))
        last = " search" if all(one.endswith(" search") for one in found) else ""
        return " + ".join(one.removesuffix(last) for one in found) + last
    return _kind_in_words("retrieve", section)


def _told_apart(
    text: str, section: Any, alike: Sequence[Any], keys: Sequence[str] = (), longest: int = _LONGEST_VALUE
) -> str:
    """A level with the values that tell it from others of the same words, of at most ``longest`` letters.

    They are values of ``keys``, if there are any.
    """
    if len(alike) < 2:
        return text
    flat = [_flat(one) for one in alike]
    # what only another kind has, or lacks, goes without saying where the kind is said
    said = not keys or "kind" in keys
    peers = [_flat(one) for one in alike if _kind(one) == _kind(section)] if said else flat
    parts = []
    for key, value in _flat(section).items():
        others = {repr(other.get(key)): other.get(key) for other in (flat if key == "kind" else peers)}
        if (keys and key not in keys) or len(others) < 2 or not isinstance(value, str | int | float):
            continue
        last = key.rpartition(".")[2]
        called, told = last.replace("_", " "), str(value)
        if last in OVERLAPS:
            parts.append(f"overlap {value}" if value else "no overlap")
        elif last == "model":
            # two makers may have a model of the same name
            short = [_short(str(other)) for other in others.values()]
            parts.append(told if short.count(_short(told)) > 1 else _short(told))
        elif isinstance(value, bool) or not told:
            parts.append(f"with {called}" if value else f"no {called}")
        elif len(told) <= longest:
            parts.append(told if last == "kind" else f"{called} {told}")
    return ", ".join(filter(None, (text, *dict.fromkeys(parts))))


def _short(model: str) -> str:
    return model.rsplit("/", 1)[-1].removeprefix("embedded:")


def _flat(section: Any, before: str = "") -> dict[str, Any]:
    """The plain values of nested sections by their dotted keys."""
    if isinstance(section, Mapping):
        items = list(section.items())
    elif isinstance(section, list | tuple):
        items = list(enumerate(section))
    else:
        return {before: section}
    flat: dict[str, Any] = {}
    for key, value in items:
        flat |= _flat(value, f"{before}.{key}" if before else str(key))
    return flat


def _weight(section: Any) -> int:
    """How many models a section runs; a language model counts as ten."""
    if isinstance(section, list | tuple):
        return sum(map(_weight, section))
    if not isinstance(section, Mapping):
        return 0
    inner = sum(map(_weight, (section.get("routes"), section.get("rewrite"), section.get("filter"))))
    if "llm" in str(section.get("kind")):
        return inner + _LLM_WEIGHT
    return inner + bool(section.get("model") or section.get("endpoint"))


def routes_in_words(settings: Iterable[Section]) -> dict[str, str]:
    """What the routes of fusions search by, by their steps: ``retrieve.chroma`` is ``vector search``."""
    words: dict[str, str] = {}

    def visit(step: str, section: Section) -> None:
        seen: Counter[str] = Counter()
        for route in section.get("routes") or ():
            kind = str(route.get("kind"))
            seen[kind] += 1
            # named as the search names them
            dash = "-" if kind[-1:].isdigit() else ""
            name = f"{step}.{kind}{dash}{seen[kind]}" if seen[kind] > 1 else f"{step}.{kind}"
            again = f" ({seen[kind]})" if seen[kind] > 1 else ""
            words.setdefault(name, _search_in_words(route) + again)
            visit(name, route)

    for setting in settings:
        visit("retrieve", setting.get("retrieve") or {})
    return words
