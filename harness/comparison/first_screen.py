"""The first screen as one model: charts of factors and settings with their intervals, groups and losses.

Terminal, page, Markdown and notebook read it. What a row looks like is decided here once, as shapes on an
axis (`dots_of`, `bar_of`); `glance_svg` and the page's script only turn these shapes into elements.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from harness.comparison.verdict import Verdict
from harness.comparison.verdict_parts import GROUPS, Bounds, Effect, Group, Loss, Standing
from harness.values import FEWEST_FOR_INTERVAL, confidence

# beyond these, and the one to use, settings are only counted
MOST_SETTINGS = 10
# about as many ticks an axis has
_TICKS = 5
# less than this is 0.00 in a bar
_LEAST_LOSS = 0.005
# the parts of a bar with a colour of their own on the page; steps that change the order share the others
_PARTS = ("parser", "chunking", "candidates", "order")
_OTHERS = ("change", "change-1", "change-2", "else")
LEFT = "left"
"""The kind of the part of a bar that is what losses leave."""


class DrawnShape(NamedTuple):
    """A line, a dot, a ring or a cross on a strip, or a part of a bar, in shares of the strip's width.

    ``kind`` is the group of a row, or the filling of a part; ``label`` says what a part is, with its value.
    """

    shape: Literal["line", "dot", "ring", "cross", "bar"]
    kind: str
    begin: float
    end: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from ``low`` to ``high``."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """The place of a value: 0 where the axis begins, 1 where it ends."""
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5

    @property
    def ticks(self) -> tuple[float, ...]:
        """The round numbers on it; where it has no length, the one number it has."""
        if self.high <= self.low:
            return (self.low,)
        rough = (self.high - self.low) / _TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough - 1e-12)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(round(place * step, 12) for place in range(first, last + 1))

    @property
    def digits(self) -> int:
        """How many decimals tell its ticks apart: at least 1."""
        ticks = self.ticks
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 0.01
        return max(1, math.ceil(-math.log10(step) - 1e-9))


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A line of a chart: what it is of, its value with the interval, and what is known of it.

    ``group`` says how it is marked: what is found or to be used by a filled dot, what is open by a ring, what
    is ruled out by a cross.
    """

    name: str
    shown: str
    bounds: Bounds
    group: Group
    words: str


@dataclass(frozen=True, slots=True)
class FactorRow(ChartRow):
    """What a change of one factor does."""

    effect: Effect

    @property
    def pair(self) -> tuple[str, str]:
        """The two levels, what both end or begin with once."""
        return _pair_parts(self.effect)


@dataclass(frozen=True, slots=True)
class SettingRow(ChartRow):
    """A setting, and the bar of what it reached and lost (empty where that is not known)."""

    standing: Standing
    bar: tuple[DrawnShape, ...]


@dataclass(frozen=True, slots=True)
class FactorChart:
    """What matters: a row each change of a factor, on an axis with 0."""

    rows: tuple[FactorRow, ...]

    @property
    def axis(self) -> Axis:
        """Spans all intervals and 0."""
        return _axis(self.rows, 0.0)

    def first(self, most: int) -> FactorChart:
        """The findings before what is open, in their order."""
        places = sorted(range(len(self.rows)), key=lambda place: self.rows[place].group != "use")[:most]
        return FactorChart(tuple(self.rows[place] for place in sorted(places)))


@dataclass(frozen=True, slots=True)
class SettingChart:
    """The settings from the highest mean down; ``more`` says what is folded, '' for nothing.

    ``parts`` are the kind of filling and the label of every part that lost something.
    """

    title: str
    rows: tuple[SettingRow, ...]
    parts: Mapping[str, tuple[str, str]]
    more: str = ""

    @property
    def axis(self) -> Axis:
        """Spans all intervals."""
        return _axis(self.rows)

    def first(self, most: int) -> SettingChart:
        """The first settings with the one to use, and the others: ``5 more: 3 may be best, 2 ruled out``."""
        # one folded row would take as much room
        most += len(self.rows) == most + 1
        rest = Counter(GROUPS[row.group] for row in self.rows[most:] if row.group != "use")
        groups = ", ".join(f"{n} {what}" if len(rest) > 1 else what for what, n in rest.items())
        shown = tuple(row for place, row in enumerate(self.rows) if place < most or row.group == "use")
        return replace(self, rows=shown, more=f"{rest.total()} more: {groups}" if rest else "")


def factor_chart(verdict: Verdict) -> FactorChart:
    """What each factor does."""
    return FactorChart(
        tuple(
            FactorRow(
                pair_of(effect),
                _difference(effect),
                effect.bounds,
                "use" if effect.found.real else "may",
                effect.words,
                effect,
            )
            for effect in verdict.effects.main
        )
    )


def setting_chart(verdict: Verdict) -> SettingChart:
    """How the settings rank, without intervals where queries are too few for them."""
    few = verdict.population.queries < FEWEST_FOR_INTERVAL
    settings = [replace(one, low=None, high=None) if few else one for one in verdict.standings]
    parts = _lossy_parts(settings)
    title = "Settings (score; too few queries for intervals)"
    if any(standing.low is not None for standing in settings):
        title = f"Settings (score, {confidence(verdict.level)} intervals)"
    rows = (
        SettingRow(
            standing.words,
            f"{standing.mean:.2f}",
            standing.bounds,
            standing.group,
            standing.short,
            standing,
            _bar_of(standing, parts),
        )
        for standing in settings
    )
    return SettingChart(title, tuple(rows), parts)


def dots_of(row: ChartRow, axis: Axis) -> tuple[DrawnShape, ...]:
    """The interval of a row as a line, and its value as a mark on it: told apart without colour."""
    low, value, high = row.bounds
    marks: Mapping[Group, Literal["dot", "ring", "cross"]] = {"use": "dot", "may": "ring", "out": "cross"}
    at = axis.place(value)
    mark = DrawnShape(marks[row.group], row.group, at, at)
    if low is None or high is None:
        return (mark,)
    return DrawnShape("line", row.group, axis.place(low), axis.place(high)), mark


def _bar_of(standing: Standing, parts: Mapping[str, tuple[str, str]]) -> tuple[DrawnShape, ...]:
    """What is left of a perfect score, then what each part lost, the last step first.

    Where a step won something back, the losses are shown in proportion.
    """
    if not standing.losses:
        return ()
    left = standing.reached
    lost = [loss for loss in reversed(standing.losses) if loss.value > 0 and loss.part in parts]
    share = (1 - left) / (sum(loss.value for loss in lost) or 1)
    bar, at = [DrawnShape("bar", LEFT, 0.0, left, f"left {left:.2f}")], left
    for loss in lost:
        label = f"{loss.label} {loss.value:.2f}"
        bar.append(DrawnShape("bar", parts[loss.part][0], at, at + loss.value * share, label))
        at = bar[-1].end
    return tuple(bar)


def _lossy_parts(settings: Sequence[Standing]) -> dict[str, tuple[str, str]]:
    """The parts that lost something under any setting: the kind of their filling, and their label."""
    others = list(_OTHERS)
    parts: dict[str, tuple[str, str]] = {}
    losses: list[Loss] = [loss for standing in settings for loss in standing.losses]
    for loss in losses:
        if loss.value >= _LEAST_LOSS and loss.part not in parts:
            kind = loss.part if loss.part in _PARTS else others.pop(0) if others else _OTHERS[-1]
            parts[loss.part] = (kind, loss.label)
    return parts


def pair_of(effect: Effect) -> str:
    """Two levels, what both end with once: ``500 instead of 1,000 characters``."""
    return " instead of ".join(_pair_parts(effect))


def _pair_parts(effect: Effect) -> tuple[str, str]:
    """The two levels as ``pair_of`` has them."""
    level, against = effect.found.setting, effect.found.against
    begin, _, last = level.rpartition(" ")
    sizes = level[0].isdigit() and level.count(" ") == against.count(" ") == 1
    if begin and against.endswith(f" {last}") and (sizes or last == "search"):
        return begin, against
    # nor what both begin with
    for shared in (f"{level.rpartition(', ')[0]}, ", "reranked by "):
        against = against.removeprefix(shared) if level.startswith(shared) else against
    return level, against


def _difference(effect: Effect) -> str:
    """The difference with its sign, without one where it rounds to 0."""
    difference = effect.found.difference
    return f"{difference:+.2f}" if round(difference, 2) else "0.00"


def _axis(rows: Sequence[ChartRow], *also: float) -> Axis:
    """Spans all values and intervals of the rows; from 0 to 1 where there are none."""
    ends = [*also, *(end for row in rows for end in row.bounds if end is not None)]
    return Axis(min(ends, default=0.0), max(ends, default=1.0))
