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
# So many times as many numbers are drawn as are needed: some make no setting, or the same one.
_DRAWS = 50


@dataclass(frozen=True, slots=True)
class Space:
    """The ``ranges`` by key, and so many ``combinations`` of what lists name; a proposal has one of them.

    ``among`` are the combinations at some numbers.
    """

    ranges: Mapping[str, Range]
    combinations: int
    _source: Source
    _among: Sequence[Stages]

    def point(self, values: Values) -> Stages:
        """The steps of a proposal; ConfigError where it makes none: an overlap longer than its chunk."""
        return _expanded(self._source, lambda key, _: values[key])[int(values.get(COMBINATION, 0))]

    def settings(self, proposals: Sequence[Values]) -> list[Setting]:
        """The settings of some proposals, which are all different, named by what differs among them."""
        return settings_of(self._source, list(map(self.point, proposals)), self._among)

    def drawn(self, count: int, seed: int) -> list[Values]:
        """At most so many different proposals, drawn evenly: fewer where there are no more."""
        rng = random.Random(seed)
        drawn: list[Values] = []
        points: list[Stages] = []
        for _ in range(_DRAWS * count):
            if len(drawn) == count:
                break
            values = {key: span.at(rng.random()) for key, span in self.ranges.items()}
            if self.combinations > 1:
                values[COMBINATION] = rng.randrange(self.combinations)
            try:
                point = self.point(values)
            except ConfigError:
                continue
            # a range may not bear on a combination
            if point not in points:
                points.append(point)
                drawn.append(values)
        return drawn


def load_tuning(given: Path | Mapping[str, Any]) -> tuple[BenchConfig, Space | None]:
    """The configuration of a tuning, and with `strategy: tpe` what its sampler proposes settings from.

    The settings are then as many as it will propose, drawn evenly: what they take is what those will take.
    Raises ConfigError, also where there is no range.
    """
    source = source_for(given)
    tuning = source.validated(TuneConfig, source.data.get("tune") or {}, ("tune",))
    if tuning.strategy == "grid":
        return load_config(given), None
    space = _space(source, tuning.seed)
    # every combination is checked, also one that is not drawn
    config_of(source, settings_of(source, space._among))
    return config_of(source, space.settings(space.drawn(tuning.trials, tuning.seed))), space


@dataclass(slots=True)
class _Drawing:
    """Notes the ranges that it meets, and draws a number of each."""

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
            among = _expanded(source, drawing.number)
        except ConfigError:
            # numbers that do not go together, unless no others do
            if not left or not drawing.ranges:
                raise
            continue
        break
    if not drawing.ranges:
        raise source.error(
            ("tune", "strategy"),
            "tpe proposes numbers of ranges, and no key has one. Write one, such as chunk_size: {from: 200, "
            "to: 2000, log: true}, or omit strategy.",
        )
    return Space(drawing.ranges, len(among), source, among)


def _expanded(source: Source, number: Callable[[str, Range], float]) -> list[Stages]:
    """The combinations of a file where each range is the number that is given for its key."""

    def of_range(at: KeyPath, span: Range) -> Sequence[float]:
        return [number(".".join(map(str, at)), span)]

    return expand(replace(source, of_range=of_range))
