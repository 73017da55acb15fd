"""What a sampler proposes settings from: the ranges of a configuration, and the combinations of its lists."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.running.config.load import Stages, config_of, expand, load_config, settings_of, source_for
from harness.running.config.models import BenchConfig, Setting
from harness.running.config.source import KeyPath, Source
from harness.running.config.tune_keys import Range, TuneConfig
from harness.values import ConfigError

Values = dict[str, float]
"""A proposal: a number by the key of each range, such as ``chunk.chunk_size``, and the ``COMBINATION``."""

COMBINATION = "combination"
# This many times the settings needed are drawn: some numbers make none, or the same one.
_DRAWS = 50


@dataclass(frozen=True, slots=True)
class Space:
    """The ``ranges`` by key, and the number of ``combinations`` of lists, of which a proposal has one."""

    ranges: Mapping[str, Range]
    combinations: int
    _source: Source
    _examples: Sequence[Stages]
    """One point of every combination, at some numbers."""

    def point(self, values: Values) -> Stages:
        """The steps of a proposal; ConfigError where it makes none: an overlap longer than its chunk."""
        return _expanded(self._source, lambda key, _: values[key])[int(values.get(COMBINATION, 0))]

    def settings(self, proposals: Sequence[Values]) -> list[Setting]:
        """The settings of some proposals, which are all different, named by what differs among them."""
        return settings_of(self._source, list(map(self.point, proposals)), self._examples)

    def drawn(self, count: int, seed: int) -> list[Values]:
        """Up to ``count`` different proposals, drawn evenly; fewer where the ranges hold no more."""
        rng = random.Random(seed)
        proposals: list[Values] = []
        points: list[Stages] = []
        for _ in range(_DRAWS * count):
            if len(proposals) == count:
                break
            values = {key: span.at(rng.random()) for key, span in self.ranges.items()}
            if self.combinations > 1:
                values[COMBINATION] = rng.randrange(self.combinations)
            try:
                point = self.point(values)
            except ConfigError:
                continue
            # numbers of a range that a combination does not use make the same point
            if point not in points:
                points.append(point)
                proposals.append(values)
        return proposals


def load_tuning(given: Path | Mapping[str, Any]) -> tuple[BenchConfig, Space | None]:
    """The configuration of a tuning, and with `strategy: tpe` what its sampler proposes settings from.

    Its settings are then as many as will be proposed, drawn evenly, so that a plan can count what they take.
    Raises ConfigError, also with `strategy: tpe` where there is no range.
    """
    source = source_for(given)
    tuning = source.validated(TuneConfig, source.data.get("tune") or {}, ("tune",))
    if tuning.strategy == "grid":
        return load_config(given), None
    space = _space(source, tuning.seed)
    # every combination is checked, also one that is not drawn
    config_of(source, settings_of(source, space._examples))
    return config_of(source, space.settings(space.drawn(tuning.trials, tuning.seed))), space


@dataclass(slots=True)
class _Drawing:
    """Collects the ranges of a configuration, and draws a number from each."""

    rng: random.Random
    ranges: dict[str, Range] = field(default_factory=dict)
    values: Values = field(default_factory=dict)

    def number(self, key: str, span: Range) -> float:
        """The number of a range in this drawing."""
        self.ranges[key] = span
        return self.values.setdefault(key, span.at(self.rng.random()))


def _space(source: Source, seed: int) -> Space:
    drawing = _Drawing(random.Random(seed))
    for left in reversed(range(_DRAWS)):
        drawing.values.clear()
        try:
            examples = _expanded(source, drawing.number)
        except ConfigError:
            # these numbers do not go together, but others may
            if not left or not drawing.ranges:
                raise
            continue
        break
    if not drawing.ranges:
        raise source.error(
            ("tune", "strategy"),
            "tpe proposes numbers from ranges, and no key has a range. Write one, such as chunk_size: "
            "{from: 200, to: 2000, log: true}, or omit strategy.",
        )
    return Space(drawing.ranges, len(examples), source, examples)


def _expanded(source: Source, number: Callable[[str, Range], float]) -> list[Stages]:
    """The combinations of a file with each range replaced by ``number`` of its key."""

    def of_range(at: KeyPath, span: Range) -> Sequence[float]:
        return [number(".".join(map(str, at)), span)]

    return expand(replace(source, of_range=of_range))
