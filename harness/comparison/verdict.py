"""The conclusion of a comparison as one value, printed wherever a conclusion is shown.

Terminal, page, Markdown, LaTeX and JSON take the words from ``lines_of``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from harness.comparison.advice import Advice, is_poor
from harness.comparison.design import SweepDesign
from harness.comparison.doubted_judge import JudgeDoubt
from harness.comparison.needed import Needed
from harness.comparison.paired import Comparison, Options, beaten
from harness.comparison.stats import ROUNDING
from harness.comparison.verdict_parts import (
    ENOUGH_READ,
    FEWEST_JUDGED,
    MOSTLY_ELSEWHERE,
    Conflict,
    Costs,
    Effects,
    Holes,
    IndexingCost,
    Population,
    Standing,
    Trust,
)
from harness.values import ResultWarning

if TYPE_CHECKING:
    from harness.comparison.label_sensitivity import LabelSensitivity
    from harness.comparison.reading_depths import ScoreAtDepth

# Those that are compared: pairs, or as many on either side.
Settings = tuple[tuple[str, ...], ...]
Decision = Literal["best", "equivalent", "open", "few", "nothing found", "single", "better", "not better"]
Tone = Literal["good", "caution", "poor"]
TONES: Mapping[Tone, str] = {"good": "", "caution": "Caution: ", "poor": "Warning: "}
"""How a verdict is to be taken, and what is said before its sentence."""
Role = Literal["decision", "margin", "test", "population", "caveat", "warning", "next"]
LABELS: Mapping[Role, str] = {
    "decision": "Verdict",
    "margin": "Margin",
    "test": "Test",
    "population": "Holds for",
    "caveat": "Caveat",
    "warning": "Warning",
    "next": "Next",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One or two sentences of a verdict, and their role; of a next step, also what to copy ('' for none)."""

    role: Role
    text: str
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What a verdict rests on besides the scores: how to compare, and what bears on the result."""

    options: Options = field(default_factory=Options)
    # what each measure is for; a measure that is not here compares all settings and counts
    trust: Mapping[str, Trust] = field(default_factory=dict)
    # the measure to take where the one asked for does not compare these settings; '' for none
    instead: str = ""
    # how each setting cuts documents, where that is known
    chunkings: Mapping[str, str] = field(default_factory=dict)
    # the factors that settings vary, and the settings in words
    design: SweepDesign = field(default_factory=SweepDesign)
    costs: Costs = field(default_factory=lambda: Costs(None, ""))
    # by setting, what indexing takes
    indexing: Mapping[str, IndexingCost] = field(default_factory=dict)
    # the settings as configured, what each part costs each of them on average, and the folder of each
    configured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    lost: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    # what a cluster of queries is called
    unit: str = "document"
    # by measure, what longer and shorter labels do; a measure not here was not checked
    sensitivity: Mapping[str, LabelSensitivity] = field(default_factory=dict)
    # by setting, the means by the characters read; empty where that was not scored
    reading: Mapping[str, Mapping[int, ScoreAtDepth]] = field(default_factory=dict)
    # by measure, the settings whose rankings were cut short, and the share of what is read that they hold
    read: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # labels mark all that answers each query, so that other text is known not to; ``assumed``: the
    # configuration does not say which
    complete: bool = False
    assumed: bool = False
    # by setting whose hits another pipeline returned, the share of them that are in no document
    elsewhere: Mapping[str, float] = field(default_factory=dict)
    # what is unjudged, None if that is not known, or nothing is as labels are complete
    holes: Holes | None = None
    # who grades passages: people, by files of labels, or the kind of another judge
    judge: str = "labels"
    # what speaks against that judge
    doubt: JudgeDoubt = field(default_factory=JudgeDoubt)
    # settings put noise or false facts into what is read, which tests answers and is nobody's choice
    altered: bool = False
    # further caveats
    notes: tuple[str, ...] = ()
    # those of the run; a verdict keeps the ones that bear on its measure
    warnings: tuple[ResultWarning, ...] = ()

    def shared(self) -> dict[str, Any]:
        """All of this by name, to be handed on."""
        return {ground.name: getattr(self, ground.name) for ground in fields(Grounds)}

    def comparable(self, measure: str) -> bool:
        """Whether a measure compares all these settings, not only those over the same chunks."""
        return self.trust.get(measure, Trust()).comparable

    def checked(self, comparison: Comparison, compared: Settings, measure: str) -> Comparison:
        """A comparison by a measure; as ``turns``, ``incomparable`` or ``unread`` it is no finding.

        ``compared`` are the settings behind it, of each tuple the first half with the second. A setting whose
        rankings end earlier than those of another cannot be worse than it, nor equal: it may gain by what was
        not retrieved. If it is better all the same, then it is better.
        """
        if comparison.finding == "few":
            return comparison
        alike = all(len({self.chunkings.get(name) for name in each}) == 1 for each in compared)
        if not self.comparable(measure) and not alike:
            return replace(comparison, finding="incomparable")
        if self.shallower(comparison, compared, measure):
            return replace(comparison, finding="unread")
        if comparison.real and self.turns(compared, measure):
            return replace(comparison, finding="turns")
        return comparison

    def turns(self, compared: Settings, measure: str) -> tuple[str, ...]:
        """The ways of drawing the labels that give a difference between chunkings another sign.

        Where a chunking is not known it counts as another one. Empty where that was not checked.
        """
        drawn = self.sensitivity.get(measure)
        cut = [{self.chunkings.get(name, name) for name in each} for each in compared]
        return () if drawn is None or all(len(each) == 1 for each in cut) else drawn.turns(*compared)

    def shallower(self, comparison: Comparison, compared: Settings, measure: str) -> str:
        """The side of a comparison that would have to be read deeper for it; '' if neither would.

        Either may be where two differences are compared: that counts only where no rankings end early.
        """
        read = self.read.get(measure)
        if not read:
            return ""
        shares = [[read.get(name, 1.0) for name in each] for each in compared]
        if len(shares[0]) > 2:
            return comparison.against if min(map(min, shares)) < ENOUGH_READ else ""
        first, second = map(fmean, zip(*shares, strict=True))
        if abs(first - second) <= 1 - ENOUGH_READ:
            return ""
        short = comparison.setting if first < second else comparison.against
        short_is_better = comparison.real and (comparison.difference > 0) == (short == comparison.setting)
        return "" if short_is_better else short


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Grounds):
    """One comparison, concluded, with its grounds.

    ``standings`` go from the highest mean down; ``margin`` compares the leader with the next that may be
    best, or the next of all if none may (with the ``baseline`` if there is one; None for one setting);
    ``comparisons`` are all of the family that decided. ``leader`` is None where nothing was found at all;
    ``advice`` is the setting to use, None where nothing can be said of that; ``effects`` are those of the
    factors that settings vary.
    """

    measure: str
    decision: Decision
    leader: str | None
    baseline: str | None
    standings: tuple[Standing, ...]
    margin: Comparison | None
    population: Population
    comparisons: tuple[Comparison, ...]
    conflicts: tuple[Conflict, ...]
    advice: Advice | None
    needed: Needed | None
    effects: Effects = field(default_factory=Effects)
    # in a sentence or two, what it comes to
    said: str = ""

    def __repr__(self) -> str:
        return f"<Verdict: {self.said}>"

    @property
    def level(self) -> float:
        """The confidence of all intervals."""
        return self.options.level

    @property
    def across(self) -> bool:
        """Whether the measure compares all these settings, not only those over the same chunks."""
        return self.comparable(self.measure)

    def words(self, setting: str) -> str:
        """What a setting is called wherever people read it."""
        return self.design.words(setting)

    def quoted(self, setting: str) -> str:
        """The same within a sentence: in quotes, unless it is one word."""
        words = self.words(setting)
        return f'"{words}"' if " " in words else words

    @property
    def poor(self) -> bool:
        """Whether even the best is not good enough to be used."""
        return is_poor(self.standings[0].mean, self.measure)

    @property
    def advisable(self) -> bool:
        """Whether a setting may be advised: good enough, by a judge without doubt, and no mere test."""
        return not (self.poor or self.doubt or self.altered)

    @property
    def unlabelled(self) -> bool:
        """Whether labels may be missing, as hardly anything that a setting ranks first is judged."""
        return self.holes is not None and self.holes.least < FEWEST_JUDGED

    @property
    def displaced(self) -> float:
        """The largest share of hits in no document, where that leaves hardly anything to score; else 0."""
        share = max(self.elsewhere.values(), default=0.0)
        return share if share >= MOSTLY_ELSEWHERE and (self.leader is None or self.unlabelled) else 0.0

    @property
    def tone(self) -> Tone:
        """Whether a setting can be used as it is, none can be named or trusted, or none is good enough."""
        if self.poor or self.leader is None:
            return "poor"
        decided = self.decision == "single" or (self.altered and self.decision != "few") or bool(self.used)
        return "good" if decided and not self.unlabelled and not self.doubt else "caution"

    @property
    def unread(self) -> tuple[str, ...]:
        """The settings that may be best, but cannot be compared, as their rankings end earlier."""
        out = beaten(self.comparisons)
        unread = [pair for pair in self.comparisons if pair.finding == "unread"]
        kept = [pair for pair in unread if not {pair.setting, pair.against} & out]
        return tuple(dict.fromkeys(self.shallower(pair, pair.pair, self.measure) for pair in kept))

    @property
    def here(self) -> bool:
        """Whether what is found holds for these clusters alone, as they are too few to stand for new ones."""
        return self.population.kind == "few clusters"

    def beyond_baseline(self, better: bool) -> tuple[str, ...]:
        """The settings that are shown to be better than the baseline, or worse, the highest mean first."""
        shown = {pair.setting for pair in self.comparisons if pair.real and (pair.difference > 0) == better}
        return tuple(standing.setting for standing in self.standings if standing.setting in shown)

    @property
    def tied(self) -> tuple[str, ...]:
        """The settings with the highest mean, where several have it, so that none leads; else empty.

        The baseline is none of them: the others are compared with it, however many are level.
        """
        means = {standing.setting: standing.mean for standing in self.standings}
        means.pop(self.baseline or "", None)
        first = [name for name, mean in means.items() if mean >= max(means.values()) - ROUNDING]
        return tuple(first) if len(first) > 1 else ()

    def mean(self, setting: str) -> float:
        """The mean of a setting."""
        return next(standing.mean for standing in self.standings if standing.setting == setting)

    @property
    def shown(self) -> str:
        """The setting to use, or the leader; '' where nothing was found."""
        return self.used or self.leader or ""

    @property
    def used(self) -> str:
        """The setting to use; '' where none is advised."""
        if not self.advisable:
            return ""
        if self.baseline is not None:
            return next(iter(self.beyond_baseline(better=True)), "")
        return self.advice.setting if self.advice is not None else ""
