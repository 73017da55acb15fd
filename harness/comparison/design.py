"""A sweep as a design: the factors that its settings vary, the levels of each, and their names in words.

A factor is a step that settings do differently (search, reranker), or one key of it where a sweep crosses
several (chunk size × overlap); a level is one way of doing it. A setting is named by its levels:
``500 characters, keyword + vector search``.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harness.comparison.sweep import (
    STEPS,
    Dump,
    beside,
    flat,
    kind_words,
    kinds_of,
    marks_in,
    models_run,
    search_words,
    size_of,
    weight_at,
)
from harness.values import KeyMark, Ordered, Overlap, Quiet, Size, Telling

# those that name a setting where nothing varies
_TELLING_STEPS = ("chunk", "retrieve", "rerank")
# after sizes, the keys that say most of a level, the first that varies
_LEADING = ("kind", "model", "endpoint")
_LAST_RANK = 2 + len(_LEADING)
_LONGEST_VALUE, _LONGEST_ADDRESS = 24, 60


@dataclass(frozen=True, slots=True)
class Factor:
    """One choice that settings make differently: a step, or a key of it.

    ``levels`` maps every setting to its level in words, ``absent`` is the level of leaving the step out ('':
    none does), ``weight`` how many models each level runs, or how much it reads: the lighter of two equals is
    the cheaper one. ``order`` are the levels in their order, where the kind of the step declares one.
    """

    name: str
    levels: Mapping[str, str]
    absent: str = ""
    weight: Mapping[str, float] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    @property
    def distinct(self) -> tuple[str, ...]:
        """The levels, in their order, else in that in which settings have them."""
        return self.order or tuple(dict.fromkeys(self.levels.values()))


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
        cells = {tuple(factor.levels[name] for factor in self.factors): name for name in settings}
        return cells if len(cells) == len(settings) else {}


def design_of(settings: Mapping[str, Dump]) -> SweepDesign:
    """The design of configured settings, each as ``record.json`` holds it, by name."""
    configured = {name: setting for name, setting in settings.items() if _is_known(setting)}
    sweeps = {
        step: StepSweep(step, {name: setting.get(step) or None for name, setting in configured.items()})
        for step in STEPS
    }
    factors = tuple(factor for sweep in sweeps.values() for factor in sweep.factors)
    shown = [factor.levels for factor in factors]
    if not shown and configured:
        shown = [sweeps[step].levels() for step in _TELLING_STEPS]
    absent = {step.absent for step in STEPS.values()}
    names = {}
    for name in configured:
        parts = [levels[name] for levels in shown]
        names[name] = ", ".join([part for part in parts if part not in absent] or parts[:1])
    alike = Counter(names.values())
    # results side by side may have the same setting
    unique = {name: f"{text} ({name})" if alike[text] > 1 else text for name, text in names.items()}
    return SweepDesign(factors, unique)


def design_in(record: Mapping[str, Any]) -> SweepDesign:
    """The design of the settings of one result, from its run record."""
    settings = record["config"].get("settings", [])
    return design_of({setting["name"]: setting for setting in settings if "name" in setting})


def _is_known(setting: Dump) -> bool:
    """Whether a setting says how it searches; the file of another pipeline is known by its name."""
    search = setting.get("retrieve") or {}
    return bool(search or setting.get("chunk")) and "file" not in search


@dataclass(frozen=True)
class StepSweep:
    """What settings do at one ``step``: the section of each by name, None for a setting without the step."""

    step: str
    sections: Mapping[str, Any]

    @cached_property
    def marks(self) -> dict[str, KeyMark]:
        """What the keys of all sections mean."""
        marks: dict[str, KeyMark] = {}
        for section in self._distinct:
            marks = marks_in(self.step, section) | marks
        return marks

    @cached_property
    def _distinct(self) -> list[Any]:
        by_text = {
            json.dumps(section, sort_keys=True, default=str): section for section in self.sections.values()
        }
        return list(by_text.values())

    @cached_property
    def _values(self) -> list[dict[str, Any]]:
        """The values of every distinct section."""
        return [flat(section) for section in self._distinct]

    @cached_property
    def _units(self) -> dict[str, str]:
        """By size the key of its unit, where a section has one."""
        sizes = [
            (key, mark.unit_key)
            for key, mark in self.marks.items()
            if isinstance(mark, Size) and mark.unit_key
        ]
        units = ((key, beside(values, key, unit)) for key, unit in sizes for values in self._values)
        return {key: unit for key, unit in units if unit}

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The factors of the step: each group of keys that is crossed with the others, or the step as one."""
        groups = self._crossed()
        names = [self._factor_name(keys, self._leads(keys, groups)) for keys in groups]
        if len(set(names)) < len(groups):
            groups = ()
        factors = []
        for keys, name in zip(groups or ((),), names if groups else ("",), strict=True):
            levels = self.levels(keys, bool(keys) and not self._leads(keys, groups))
            if len(set(levels.values())) > 1:
                absent = STEPS[self.step].absent
                factors.append(
                    Factor(
                        name or self._whole_name(levels),
                        levels,
                        absent if absent in levels.values() else "",
                        self._weights(levels, keys),
                        self._order(levels, keys),
                    )
                )
        return tuple(factors)

    def _crossed(self) -> tuple[tuple[str, ...], ...]:
        """The groups of keys of which the sections, all different, have every combination of values.

        Keys that vary together are one group. Empty where there are not two, or a combination is missing.
        """
        if any(section is None for section in self._distinct):
            return ()
        rows = [self._with_units(values) for values in self._values]
        splits: dict[str, tuple[str, ...]] = {
            key: tuple(repr(values.get(key)) for values in rows)
            for key in dict.fromkeys(key for values in rows for key in values)
        }
        splits = {key: split for key, split in splits.items() if len(set(split)) > 1}
        # what another key decides belongs to that one, as the keys of a kind do to `kind`
        heads: dict[str, list[str]] = {}
        for key in sorted(splits, key=lambda key: -len(set(splits[key]))):
            of = next((head for head in heads if _decides(splits[head], splits[key])), key)
            heads.setdefault(of, []).extend((key, self._units[key]) if key in self._units else (key,))
        product = math.prod(len(set(splits[head])) for head in heads)
        if len(heads) < 2 or product != len(self._distinct):
            return ()
        order = [*splits, *self._units.values()]
        groups = [tuple(sorted(keys, key=order.index)) for keys in heads.values()]
        return tuple(sorted(groups, key=lambda keys: (self._rank(keys), order.index(keys[0]))))

    def _with_units(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a section, a size with its unit: 500 characters are no 500 tokens."""
        merged = dict(values)
        for size, unit in self._units.items():
            if values.get(size) is not None and values.get(unit) is not None:
                merged[size] = (values[size], values[unit])
                merged.pop(unit, None)
        return merged

    def _rank(self, keys: Sequence[str]) -> int:
        """How much a group of keys says of a level: the less, the more."""
        return min(map(self._rank_of, keys))

    def _rank_of(self, key: str) -> int:
        if isinstance(mark := self.marks.get(key), Size):
            return int(mark.again)
        last = key.rpartition(".")[2]
        return 2 + _LEADING.index(last) if last in _LEADING else _LAST_RANK

    def _leads(self, keys: Sequence[str], groups: Sequence[Sequence[str]]) -> bool:
        """Whether a group is the one whose levels are told by the step, such as ``vector search``."""
        return keys == groups[0] and self._rank(keys) < _LAST_RANK

    def _factor_name(self, keys: Sequence[str], leads: bool) -> str:
        """What a factor that is part of the step is called."""
        dotted = min(keys, key=lambda key: (self._rank_of(key), len(key)))
        key = dotted.rpartition(".")[2]
        called = "overlap" if isinstance(self.marks.get(dotted), Overlap) else key.replace("_", " ")
        if any("context" in part.split(".") for part in keys):
            called = "context"
        if self.step == "chunk":
            return "chunker" if key == "kind" else called
        factor = STEPS[self.step].factor
        return factor if leads else f"{factor} {called}"

    def _whole_name(self, levels: Mapping[str, str]) -> str:
        """What the whole step is called: where chunks differ in their size alone, it is the chunk size."""
        sizes = all(len(words := level.split()) == 2 and words[0][0].isdigit() for level in levels.values())
        return "chunk size" if self.step == "chunk" and sizes else STEPS[self.step].factor

    def _weights(self, levels: Mapping[str, str], keys: Sequence[str]) -> dict[str, float]:
        """What each level costs beside others of its factor."""
        weights: dict[str, float] = {}
        for name, level in levels.items():
            weight = self._key_weight(name, keys)
            if weight is None:
                weight = float(models_run(self.step, self.sections[name]))
            weights[level] = min(weight, weights.get(level, weight))
        return weights

    def _key_weight(self, setting: str, keys: Sequence[str]) -> float | None:
        """What the value of a factor's only key costs; None where the key does not say so."""
        key = self._only(keys)
        return weight_at(self.marks.get(key), flat(self.sections[setting]).get(key)) if key else None

    def _only(self, keys: Sequence[str]) -> str:
        """The one key of a factor, or the one that varies in all of the step; '' where there are several."""
        varying = keys or {
            key
            for values in self._values
            for key in values
            if repr(values[key]) != repr(self._values[0].get(key))
        }
        return next(iter(varying)) if len(varying) == 1 else ""

    def _order(self, levels: Mapping[str, str], keys: Sequence[str]) -> tuple[str, ...]:
        """The levels in the order that their key declares; () without one."""
        if not isinstance(self.marks.get(self._only(keys)), Ordered):
            return ()
        weights = {level: self._key_weight(name, keys) for name, level in levels.items()}
        if None in weights.values():
            return ()
        return tuple(sorted(weights, key=lambda level: weights[level] or 0.0))

    def levels(self, keys: Sequence[str] = (), bare: bool = False) -> dict[str, str]:
        """The level of every setting in words, no two levels the same.

        ``keys`` are those of the factor, where it is not all of the step; ``bare`` levels leave out what the
        step is called.
        """

        def identity(section: Any) -> str:
            values = flat(section)
            return json.dumps({key: values.get(key) for key in keys or values}, sort_keys=True, default=str)

        levels = {identity(section): section for section in self.sections.values()}
        kinds = {kinds_of(section) for section in levels.values() if section is not None}
        several = len(kinds) > 1 and (not keys or any(key.rpartition(".")[2] == "kind" for key in keys))
        plain = {
            key: ("" if "kind" not in keys else kind_words(self.step, section))
            if bare
            else self._in_words(section, several, keys)
            for key, section in levels.items()
        }
        alike = {key: [levels[peer] for peer in plain if plain[peer] == text] for key, text in plain.items()}
        apart = {key: self._told_apart(text, levels[key], alike[key], keys) for key, text in plain.items()}
        # addresses and paths, where nothing shorter does it
        again = [key for key, text in apart.items() if [*apart.values()].count(text) > 1]
        apart |= {
            key: self._told_apart(plain[key], levels[key], alike[key], keys, _LONGEST_ADDRESS)
            for key in again
        }
        counts, seen = Counter(apart.values()), Counter[str]()
        for key, text in apart.items():
            seen[text] += 1
            apart[key] = f"{text} ({seen[text]})".strip() if counts[text] > 1 else text
        return {name: apart[identity(section)] for name, section in self.sections.items()}

    def _in_words(self, section: Any, several: bool, keys: Sequence[str]) -> str:
        """A level before it is told apart from others; ``several`` kinds are among them."""
        if section is None:
            return STEPS[self.step].absent
        if self.step == "chunk":
            size = size_of({"chunk": section})
            parts = [f"{size.value:,} {size.unit}"] if size and (not keys or size.key in keys) else []
            named = several or not (parts or keys)
            return ", ".join(parts + ([kind_words(self.step, section)] if named else []))
        if self.step == "retrieve":
            return search_words(section, keys)
        kind = kind_words(self.step, section)
        if self.step == "rerank":
            return f"reranked by {kind}" if several else "reranked"
        return kind if self.step == "parse" else f"{STEPS[self.step].factor} {kind}".strip()

    def _told_apart(
        self,
        text: str,
        section: Any,
        alike: Sequence[Any],
        keys: Sequence[str] = (),
        longest: int = _LONGEST_VALUE,
    ) -> str:
        """A level with the values that tell it from others of the same words, of at most ``longest`` letters.

        They are values of ``keys``, if there are any.
        """
        if len(alike) < 2:
            return text
        every = [flat(peer) for peer in alike]
        # what only another kind has, or lacks, goes without saying where the kind is said
        kind_said = not keys or "kind" in keys
        peers = [flat(peer) for peer in alike if kinds_of(peer) == kinds_of(section)] if kind_said else every
        parts: list[str] = []
        quiet: list[str] = []
        for key, value in flat(section).items():
            others = {repr(peer.get(key)): peer.get(key) for peer in (every if key == "kind" else peers)}
            if (keys and key not in keys) or len(others) < 2 or not isinstance(value, str | int | float):
                continue
            words = self._value_in_words(key, value, list(others.values()), longest)
            if words:
                (quiet if isinstance(self.marks.get(key), Quiet) else parts).append(words)
        return ", ".join(filter(None, (text, *dict.fromkeys(parts or quiet))))

    def _value_in_words(self, key: str, value: str | float, others: Sequence[Any], longest: int) -> str:
        """The value of a key that varies, as part of a name; '' for one that is too long."""
        mark, last, text = self.marks.get(key), key.rpartition(".")[2], str(value)
        called = last.replace("_", " ")
        if isinstance(mark, Overlap):
            return f"overlap {value}" if value else "no overlap"
        if last == "model":
            # two makers may have a model of the same name
            short = [short_model(str(other)) for other in others]
            return text if short.count(short_model(text)) > 1 else short_model(text)
        if isinstance(value, bool) or not text:
            return f"with {called}" if value else f"no {called}"
        if len(text) > longest:
            return ""
        return text if last == "kind" or isinstance(mark, Telling) else f"{called} {text}"


def _decides(values: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the values of a key say those of another."""
    return len(set(zip(values, others, strict=True))) == len(set(values))


def short_model(model: str) -> str:
    """The name of a model without its maker."""
    return model.rsplit("/", 1)[-1].removeprefix("embedded:")
