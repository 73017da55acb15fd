"""A sweep as a design: the factors that its settings vary, the levels of each, and their names in words.

A factor is a step that settings do differently (chunks, search, reranker), a level one way of doing it. A
setting is named by its levels: ``500 characters, words + vectors``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.comparison.paired import Comparison
from harness.report import size_of

Section = Mapping[str, Any]

# steps in the order of a pipeline, what each is called as a factor, and what its absence is called
_STEPS = {
    "parse": ("parser", "no parser"),
    "chunk": ("chunking", "no chunks"),
    "context": ("context", "no context"),
    "filter": ("filter", "no filter"),
    "rewrite": ("question", "as asked"),
    "retrieve": ("search", "no search"),
    "rerank": ("reranker", "no reranker"),
    "read": ("text read", "chunks as found"),
    "answer": ("answerer", "no answer"),
}
# those that name a setting where nothing varies
_TELLING = ("chunk", "retrieve", "rerank")
_SEARCHES = {
    "bm25": "words",
    "sparse": "words",
    "learned_sparse": "learned words",
    "multi_vector": "token vectors",
    "concatenated": "words and vectors as one",
    "python": "own search",
    "http": "own search",
}
_RETURNED = "returned"
_OVERLAPS = ("chunk_overlap", "token_overlap", "overlap")
# a language model costs far more than any model that runs here
_LLM_WEIGHT = 10
_LONGEST_VALUE, _LONGEST_ADDRESS = 24, 60


@dataclass(frozen=True, slots=True)
class Factor:
    """One step that settings do differently.

    ``levels`` maps every setting to its level in words, ``absent`` is the level of leaving the step out ('':
    none does), ``weight`` how many models each level runs: the lighter of two equals is the cheaper one.
    """

    name: str
    levels: Mapping[str, str]
    absent: str = ""
    weight: Mapping[str, int] = field(default_factory=dict)

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


@dataclass(frozen=True, slots=True)
class Effect:
    """Two levels of a factor compared: ``found.setting`` and ``found.against`` are levels, not settings.

    ``pairs`` are the settings that were paired, which differ in this factor alone.
    """

    factor: str
    found: Comparison
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Effects:
    """The main effects of a sweep, and sentences on the interactions that are beyond chance.

    ``levels`` has, by factor, the level to use; None where effects do not decide that.
    """

    main: tuple[Effect, ...] = ()
    interactions: tuple[str, ...] = ()
    levels: Mapping[str, str] | None = None


def design_of(settings: Mapping[str, Section]) -> SweepDesign:
    """The design of configured settings, each as ``record.json`` holds it, by name."""
    configured = {name: one for name, one in settings.items() if _is_known(one)}
    sections = {step: {name: _section(one.get(step)) for name, one in configured.items()} for step in _STEPS}
    words = {step: _levels(step, by_setting) for step, by_setting in sections.items()}
    factors = tuple(
        Factor(
            _factor_name(step, levels),
            levels,
            _STEPS[step][1] if _STEPS[step][1] in levels.values() else "",
            {level: _weight(sections[step][name]) for name, level in levels.items()},
        )
        for step, levels in words.items()
        if len(set(levels.values())) > 1
    )
    shown = [one.levels for one in factors] or [words[step] for step in _TELLING if configured]
    absent = {missing for _, missing in _STEPS.values()}
    names = {}
    for name in configured:
        parts = [levels[name] for levels in shown]
        names[name] = ", ".join([one for one in parts if one not in absent] or parts[:1])
    alike = Counter(names.values())
    return SweepDesign(factors, {name: name if alike[text] > 1 else text for name, text in names.items()})


def _is_known(setting: Section) -> bool:
    """Whether a setting says how it searches; one of another pipeline is known by its file alone."""
    search = setting.get("retrieve") or {}
    return bool(search or setting.get("chunk")) and search.get("kind") != _RETURNED


def _factor_name(step: str, levels: Mapping[str, str]) -> str:
    """What a factor is called: chunks that differ in their size alone are a matter of chunk size."""
    sizes = all(len(words := one.split()) == 2 and words[0][0].isdigit() for one in levels.values())
    return "chunk size" if step == "chunk" and sizes else _STEPS[step][0]


def _section(value: Any) -> Any:
    """A section, or several as a tuple; None if the step is left out."""
    if isinstance(value, list | tuple):
        return tuple(value) or None
    return value or None


def _levels(step: str, sections: Mapping[str, Any]) -> dict[str, str]:
    """The level of every setting in words, no two levels the same."""
    known = {json.dumps(one, sort_keys=True, default=str): one for one in sections.values()}
    kinds = {_kind(one) for one in known.values() if one is not None}
    plain = {key: _in_words(step, one, several=len(kinds) > 1) for key, one in known.items()}
    alike = {key: [known[one] for one in plain if plain[one] == text] for key, text in plain.items()}
    told = {key: _told_apart(text, known[key], alike[key]) for key, text in plain.items()}
    # addresses and paths, where nothing shorter does it
    again = [key for key, text in told.items() if [*told.values()].count(text) > 1]
    told |= {key: _told_apart(plain[key], known[key], alike[key], _LONGEST_ADDRESS) for key in again}
    counts, seen = Counter(told.values()), Counter[str]()
    for key, text in told.items():
        seen[text] += 1
        told[key] = f"{text} ({seen[text]})" if counts[text] > 1 else text
    return {name: told[json.dumps(one, sort_keys=True, default=str)] for name, one in sections.items()}


def _kind(section: Any) -> str:
    if isinstance(section, tuple):
        return " + ".join(map(_kind, section))
    return str(section.get("kind", ""))


def _in_words(step: str, section: Any, several: bool) -> str:
    """A level before it is told apart from others; ``several`` kinds are among them."""
    factor, absent = _STEPS[step]
    if section is None:
        return absent
    if step == "chunk":
        size = size_of({"chunk": section})
        parts = [f"{size[1]:,} {size[2]}"] if size else []
        return ", ".join(parts + ([_kind(section).replace("_", " ")] if several or not parts else []))
    if step == "retrieve":
        return _search_in_words(section)
    kind = _kind(section).replace("_", " ")
    if step == "rerank":
        return f"reranked by {kind}" if several else "reranked"
    return kind if step == "parse" else f"{factor} {kind}".strip()


def _search_in_words(section: Section) -> str:
    """What a search goes by: words, vectors, or both."""
    if routes := section.get("routes"):
        words = dict.fromkeys(map(_search_in_words, routes))
        # words first, so that the order of routes gives no second name
        return " + ".join(sorted(words, key=lambda one: (not one.startswith("words"), one)))
    kind = str(section.get("kind"))
    # a kind of another package is what its name says, unless a model makes vectors for it
    dense = bool(section.get("model") or section.get("endpoint"))
    return _SEARCHES.get(kind, "vectors" if dense else kind.replace("_", " "))


def _told_apart(text: str, section: Any, alike: Sequence[Any], longest: int = _LONGEST_VALUE) -> str:
    """A level with the values that tell it from others of the same words, of at most ``longest`` letters."""
    if len(alike) < 2:
        return text
    flat = [_flat(one) for one in alike]
    parts = []
    for key, value in _flat(section).items():
        others = {repr(other.get(key)): other.get(key) for other in flat}
        if len(others) < 2 or not isinstance(value, str | int | float):
            continue
        last = key.rsplit(".", 1)[-1]
        called, told = last.replace("_", " "), str(value)
        if last in _OVERLAPS:
            parts.append(f"overlap {value}" if value else "no overlap")
        elif last == "model":
            # two makers may have a model of the same name
            short = [_short(str(other)) for other in others.values()]
            parts.append(told if short.count(_short(told)) > 1 else _short(told))
        elif isinstance(value, bool) or not told:
            parts.append(f"with {called}" if value else f"no {called}")
        elif len(told) <= longest:
            parts.append(told if last == "kind" else f"{called} {told}")
    return ", ".join([text, *dict.fromkeys(parts)])


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
