"""A verdict at a glance: the sentence, what matters, the leaders, the largest loss, what to do next.

One value for all who draw it: the first screen of report.html, the end of ``harness bench``, Markdown reports
and notebooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from harness.comparison.paired import FEWEST_TO_CHOOSE
from harness.comparison.scores import verdict_of
from harness.comparison.sentences import finding_words, queries, sentence
from harness.comparison.stored import read_stored, scores_of
from harness.comparison.verdict import GROUPS, Group, Verdict
from harness.report import LossRow, mean_losses, read_any
from harness.values import counted

# what happened to the evidence at each part of a pipeline, and what may help
_PARTS = {
    "parser": ("not read by the parser", "Try another parser."),
    "filter": ("filtered out", "See what the filter leaves out."),
    "chunking": ("cut apart", "Try other chunk sizes, or chunks that overlap."),
    "candidates": ("not found", "Try another retriever, or more candidates (top_k)."),
    "order": ("ranked too low", "Try a reranker."),
}


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
class Next:
    """The next step, and a command that begins it ('' for none)."""

    text: str
    command: str


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
    next: Next


def glance_of(verdict: Verdict, losses: Iterable[LossRow] = (), folder: str = "RESULTS") -> Glance:
    """A verdict at a glance; ``losses`` are the rows of waterfall.csv, ``folder`` is named in commands."""
    lost, folder = _lost(losses), quote(folder)
    largest, part = _largest(lost.get(verdict.used or verdict.leader or "", ()), lost)
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
                verdict.design.words(one.setting),
                one.mean,
                one.low,
                one.high,
                one.group,
                one.why,
                one.regret,
                lost.get(one.setting, ()),
            )
            for one in verdict.standings
        ),
        largest,
        _next(verdict, part, folder),
    )


def verdict_on(folder: Path) -> Verdict:
    """The verdict on one folder of results, by its headline; raises HarnessError if there is none."""
    return verdict_of(scores_of({folder.name: (folder, read_stored(folder))}))


def glance_on(folder: Path) -> Glance:
    """One folder of results at a glance; raises HarnessError if there is no verdict."""
    return glance_of(verdict_on(folder), read_any(folder, LossRow), str(folder))


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


def _lost(rows: Iterable[LossRow]) -> dict[str, tuple[Loss, ...]]:
    """What each part lost, by setting; routes are left out, as they are not part of the sum."""
    return {
        setting: tuple(
            Loss(part, _PARTS.get(part, (f"by the {part} step", ""))[0], value)
            for part, value in means.items()
        )
        for (setting, route), (means, _) in mean_losses(rows).items()
        if not route
    }


def _largest(own: tuple[Loss, ...], lost: Mapping[str, tuple[Loss, ...]]) -> tuple[str, str]:
    """A sentence on the largest losses of the setting to use, or the leader, and the largest part."""
    shown = sorted(own or next(iter(lost.values()), ()), key=lambda one: -one.value)
    shown = [one for one in shown if round(one.value, 2) > 0][:3]
    if not shown:
        return "", ""
    first, *rest = shown
    text = f"Largest loss: {first.label}, {first.value:.2f}."
    if rest:
        more = ", ".join(f"{one.label} {one.value:.2f}" for one in rest)
        text += f" {more[0].upper()}{more[1:]}."
    return text, first.part


def _holds(verdict: Verdict) -> str:
    """The questions that were asked, and what a finding on them holds for."""
    people = verdict.population
    asked, unit = queries(people.queries), people.unit
    if verdict.leader is None or verdict.decision in ("single", "few"):
        return f"{asked}."
    on = f"{asked} on {counted(people.clusters, unit)}"
    if people.kind == "clusters":
        return f"{on}. Holds for new {unit}s like these."
    if people.kind == "few clusters":
        these = f"these {unit}s" if people.clusters > 1 else f"this {unit}"
        return f"{on}. Holds for more questions on {these}, not for new ones."
    return f"{asked}. Holds for more questions like these."


def _next(verdict: Verdict, part: str, folder: str) -> Next:
    """What to do next: enough questions first, then against the largest loss."""
    worst = f"harness show {folder} --worst 10"
    if verdict.leader is None:
        return Next("See what was ranked, and where the labels are.", worst)
    if verdict.decision == "few":
        missing = FEWEST_TO_CHOOSE - verdict.population.queries
        return Next(f"Add at least {counted(missing, 'more question')}.", "harness testset --help")
    if part == "order" and any(one.name == "reranker" for one in verdict.design.factors):
        return Next("Try another reranker.", worst)
    if part in _PARTS:
        return Next(_PARTS[part][1], worst)
    if verdict.decision == "single":
        return Next("Sweep a field, or compare with a second folder of results.", worst)
    return Next("See all differences.", f"harness compare {folder}")
