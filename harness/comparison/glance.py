"""A verdict at a glance: the sentence, what matters, the leaders, the largest loss, what to do next.

One value for all who draw it: the first screen of report.html, the end of ``harness bench``, Markdown reports
and notebooks.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from harness.comparison.next_steps import NextStep, largest_losses, steps_of
from harness.comparison.sentences import queries, sentence
from harness.comparison.verdict import Effect, Standing, Verdict
from harness.comparison.words import values_of
from harness.report import part_in_words
from harness.values import FEWEST_FOR_INTERVAL, counted

# Below this mean, all settings lose more than two thirds of what a perfect ranking has.
POOR = 0.3


# of a setting, in this order
_OF_SETTING = ("setting", "words", "mean", "low", "high", "group", "why", "regret", "losses")


@dataclass(frozen=True, slots=True)
class Glance:
    """All that a first screen shows; ``settings`` go from the highest mean down."""

    sentence: str
    holds: str
    measure: str
    level: float
    tolerance: float
    factors: tuple[Effect, ...]
    interactions: tuple[str, ...]
    settings: tuple[Standing, ...]
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
    standings = verdict.standings
    if verdict.population.queries < FEWEST_FOR_INTERVAL:
        standings = tuple(replace(one, low=None, high=None) for one in standings)
    return Glance(
        sentence(verdict),
        _holds(verdict),
        verdict.measure,
        verdict.level,
        verdict.options.tolerance,
        verdict.effects.main,
        verdict.effects.interactions,
        standings,
        _largest(verdict),
        steps_of(verdict)[0],
    )


def glance_json(glance: Glance) -> dict[str, Any]:
    """The same as plain values."""
    return {
        **asdict(glance),
        "factors": [
            {
                "factor": one.factor,
                "level": one.found.setting,
                **values_of(one.found, "against", "difference", "low", "high", "finding"),
                "words": one.words,
                "clear": one.found.real,
            }
            for one in glance.factors
        ],
        "settings": [values_of(one, *_OF_SETTING) for one in glance.settings],
    }


def _largest(verdict: Verdict) -> str:
    """A sentence on the largest losses of the setting to use, or the leader."""
    told = [(part_in_words(part), value) for part, value in largest_losses(verdict)[:3]]
    if not told:
        return ""
    (label, value), *rest = told
    more = ", ".join(f"{other} {lost:.2f}" for other, lost in rest)
    also = f" {more[0].upper()}{more[1:]}." if more else ""
    return f"Largest loss: {label}, {value:.2f}.{also}"


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
    if not verdict.used:
        return f"The best mean is {best:.2f} of 1"
    return f"Its mean is {verdict.mean(verdict.used):.2f} of 1"
