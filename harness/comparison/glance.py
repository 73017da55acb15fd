"""A verdict at a glance: the sentence, what matters, the leaders, the largest loss, what to do next.

One value for all who draw it: the first screen of report.html, the end of ``harness bench``, Markdown reports
and notebooks.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from harness.comparison.next_steps import NextStep, steps_of
from harness.comparison.sentences import finding_words, queries, sentence
from harness.comparison.verdict import GROUPS, Group, Verdict
from harness.report import part_in_words
from harness.values import FEWEST_FOR_INTERVAL, counted

# Below this mean, all settings lose more than two thirds of what a perfect ranking has.
POOR = 0.3


@dataclass(frozen=True, slots=True)
class FactorLine:
    """What one ``level`` of a factor changes ``against`` another, with its interval and ``words`` on it."""

    factor: str
    level: str
    against: str
    difference: float
    low: float | None
    high: float | None
    finding: str
    words: str
    clear: bool


@dataclass(frozen=True, slots=True)
class Loss:
    """What a part of the pipeline lost, in units of the measure."""

    part: str
    label: str
    value: float


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A setting in ``words``, its mean with interval, its group and why, and what each part lost."""

    setting: str
    words: str
    mean: float
    low: float | None
    high: float | None
    group: Group
    why: str
    regret: float | None
    losses: tuple[Loss, ...]

    @property
    def short(self) -> str:
        """The group, or why, in a few words; '' for a setting that may be best and nothing more."""
        if self.group == "use" or (self.group == "out" and not self.why):
            return GROUPS[self.group]
        return self.why


@dataclass(frozen=True, slots=True)
class Glance:
    """All that a first screen shows; ``settings`` go from the highest mean down."""

    sentence: str
    holds: str
    measure: str
    level: float
    tolerance: float
    factors: tuple[FactorLine, ...]
    interactions: tuple[str, ...]
    settings: tuple[SettingLine, ...]
    largest: str
    next: NextStep

    @property
    def about_settings(self) -> str:
        """The title of the chart of settings."""
        if any(one.low is not None for one in self.settings):
            return f"Settings ({self.measure}, {self.level:.0%} intervals)"
        return f"Settings ({self.measure}; too few questions for intervals)"


def glance_of(verdict: Verdict) -> Glance:
    """A verdict at a glance."""
    few = verdict.population.queries < FEWEST_FOR_INTERVAL
    return Glance(
        sentence(verdict),
        _holds(verdict),
        verdict.measure,
        verdict.level,
        verdict.options.tolerance,
        factor_lines(verdict),
        verdict.effects.interactions,
        tuple(
            SettingLine(
                one.setting,
                verdict.words(one.setting),
                one.mean,
                None if few else one.low,
                None if few else one.high,
                one.group,
                one.why,
                one.regret,
                _losses(verdict, one.setting),
            )
            for one in verdict.standings
        ),
        _largest(verdict),
        steps_of(verdict)[0],
    )


def glance_json(glance: Glance) -> dict[str, Any]:
    """The same as plain values."""
    return asdict(glance)


def factor_lines(verdict: Verdict) -> tuple[FactorLine, ...]:
    """The effects of all factors, as they are shown."""
    return tuple(
        FactorLine(
            one.factor,
            one.found.setting,
            one.found.against,
            one.found.difference,
            one.found.low,
            one.found.high,
            one.found.finding,
            finding_words(one.found, verdict.options.tolerance),
            one.found.real,
        )
        for one in verdict.effects.main
    )


def _losses(verdict: Verdict, setting: str) -> tuple[Loss, ...]:
    lost = verdict.lost.get(setting, {})
    return tuple(Loss(part, part_in_words(part), value) for part, value in lost.items())


def _largest(verdict: Verdict) -> str:
    """A sentence on the largest losses of the setting to use, or the leader."""
    own = _losses(verdict, verdict.used or verdict.leader or "")
    shown = sorted((one for one in own if round(one.value, 2) > 0), key=lambda one: -one.value)[:3]
    if not shown:
        return ""
    first, *rest = shown
    more = ", ".join(f"{one.label} {one.value:.2f}" for one in rest)
    also = f" {more[0].upper()}{more[1:]}." if more else ""
    return f"Largest loss: {first.label}, {first.value:.2f}.{also}"


def _holds(verdict: Verdict) -> str:
    """How good the best is, the questions that were asked, and what a finding on them holds for."""
    people = verdict.population
    asked, unit = queries(people.queries), people.unit
    if verdict.leader is None or verdict.decision == "single":
        return f"{asked}."
    good = _good(verdict)
    if verdict.decision == "few":
        return f"{good}."
    on = f"{good}, over {asked} on {counted(people.clusters, unit)}"
    if people.kind == "clusters":
        return f"{on}. Holds for new {unit}s like these."
    if people.kind == "few clusters":
        these = f"these {unit}s" if people.clusters > 1 else f"this {unit}"
        return f"{on}. Holds for more questions on {these}, not for new ones."
    return f"{good}, over {asked}. Holds for more questions like these."


def _good(verdict: Verdict) -> str:
    """The mean of the setting to use, or the best one: that it loses little to others says nothing of it."""
    best = verdict.standings[0].mean
    if round(best, 2) < POOR:
        return f"All are poor: best {best:.2f} of 1"
    used = next((one.mean for one in verdict.standings if one.setting == verdict.used), None)
    return f"The best mean is {best:.2f} of 1" if used is None else f"Its mean is {used:.2f} of 1"
