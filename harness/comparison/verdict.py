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
from harness.comparison.paired import Comparison, Options, beaten
from harness.comparison.stats import Kind
from harness.values import ResultWarning

if TYPE_CHECKING:
    from harness.comparison.factors import LabelSensitivity

# Those that are compared: pairs, or as many on either side.
Settings = tuple[tuple[str, ...], ...]
# A smaller judged share of the first ranks than this is mentioned.
ENOUGH_JUDGED = 0.8
# Below it, of ten passages not one is judged on average: scores tell of labels more than of rankings.
FEWEST_JUDGED = 0.1
# Of what a measure reads, a setting whose rankings hold a smaller share may gain by deeper ones. The last
# twentieth counts least: by then the discount has left less of a gain than any tolerance asks for.
ENOUGH_READ = 0.95
Bounds = tuple[float | None, float, float | None]
"""A lower bound, a value, an upper bound."""
Decision = Literal["best", "equivalent", "open", "few", "nothing found", "single", "better", "not better"]
Group = Literal["use", "may", "out"]
GROUPS: Mapping[Group, str] = {"use": "use this", "may": "may be best", "out": "ruled out"}
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
class Holes:
    """How much of what is read first is judged.

    ``shares`` has the mean share of every setting by ``measure``, such as judged@10; '' and empty if that was
    not scored. ``upper`` has the mean of the highest value that judging the rest could give, by ``bound``,
    such as ndcg_exp_upper@10; it is empty if the measure that decides has no such bound among the scores.
    """

    measure: str
    shares: Mapping[str, float]
    bound: str = ""
    upper: Mapping[str, float] = field(default_factory=dict)

    @property
    def least(self) -> float:
        """The smallest share of a setting."""
        return min(self.shares.values(), default=1.0)


@dataclass(frozen=True, slots=True)
class Line:
    """One or two sentences of a verdict, and their role; of a next step, also what to copy ('' for none)."""

    role: Role
    text: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Trust:
    """The use that a measure is reliable for: a phrase such as ``for the order of chunks``.

    ``comparable``: all these settings can be compared by it, not only those over the same chunks.
    ``quality``: it says how good a ranking is, so its winner counts; a share of judged ranks does not.
    """

    phrase: str = ""
    comparable: bool = True
    quality: bool = True


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of settings, in one ``unit``; or None, for the ``reason``."""

    by_setting: Mapping[str, float] | None
    unit: str
    reason: str = ""


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
    # the settings as configured, what each part costs each of them on average, and the folder of each
    configured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    lost: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    # what a cluster of queries is called
    unit: str = "document"
    # by measure, what longer and shorter labels do; a measure not here was not checked
    sensitivity: Mapping[str, LabelSensitivity] = field(default_factory=dict)
    # by measure, the settings whose rankings were cut short, and the share of what is read that they hold
    read: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # what is unjudged, None if that is not known
    holes: Holes | None = None
    # who grades passages: people, by files of labels, or the kind of another judge
    judge: str = "labels"
    # further caveats
    notes: tuple[str, ...] = ()
    # those of the run; a verdict keeps the ones that bear on its measure
    warnings: tuple[ResultWarning, ...] = ()

    def shared(self) -> dict[str, Any]:
        """All of this by name, to be handed on."""
        return {one.name: getattr(self, one.name) for one in fields(Grounds)}

    def comparable(self, measure: str) -> bool:
        """Whether a measure compares all these settings, not only those over the same chunks."""
        return self.trust.get(measure, Trust()).comparable

    def checked(self, one: Comparison, compared: Settings, measure: str) -> Comparison:
        """A comparison by a measure; as ``turns``, ``incomparable`` or ``unread`` it is no finding.

        ``compared`` are the settings behind it, of each tuple the first half with the second. A setting whose
        rankings end earlier than those of another cannot be worse than it, nor equal: it may gain by what was
        not retrieved. If it is better all the same, then it is better.
        """
        if one.finding == "few":
            return one
        alike = all(len({self.chunkings.get(name) for name in each}) == 1 for each in compared)
        if not self.comparable(measure) and not alike:
            return replace(one, finding="incomparable")
        if self.shallower(one, compared, measure):
            return replace(one, finding="unread")
        return replace(one, finding="turns") if one.real and self.turns(compared, measure) else one

    def turns(self, compared: Settings, measure: str) -> tuple[str, ...]:
        """The ways of drawing the labels that give a difference between chunkings another sign.

        Where a chunking is not known it counts as another one. Empty where that was not checked.
        """
        drawn = self.sensitivity.get(measure)
        cut = [{self.chunkings.get(name, name) for name in each} for each in compared]
        return () if drawn is None or all(len(each) == 1 for each in cut) else drawn.turns(*compared)

    def shallower(self, one: Comparison, compared: Settings, measure: str) -> str:
        """The side of a comparison that would have to be read deeper for it; '' if neither would.

        Either may be where two differences are compared: that counts only where no rankings end early.
        """
        read = self.read.get(measure)
        if not read:
            return ""
        shares = [[read.get(name, 1.0) for name in each] for each in compared]
        if len(shares[0]) > 2:
            return one.against if min(map(min, shares)) < ENOUGH_READ else ""
        first, second = map(fmean, zip(*shares, strict=True))
        if abs(first - second) <= 1 - ENOUGH_READ:
            return ""
        short = one.setting if first < second else one.against
        return "" if one.real and (one.difference > 0) == (short == one.setting) else short


@dataclass(frozen=True, slots=True)
class Population:
    """The population a finding holds for: n ``queries`` in ``clusters`` of a ``unit`` (0: unknown).

    ``worth`` is how many clusters of equal size would be worth as much (0: unknown). ``icc``: how alike the
    differences of one cluster's queries are between the leader and the next; None if that is unknown.
    """

    kind: Kind
    queries: int
    clusters: int
    worth: float
    unit: str
    icc: float | None


@dataclass(frozen=True, slots=True)
class Effect:
    """Two levels of a factor compared: ``found.setting`` and ``found.against`` are levels, not settings.

    ``pairs`` are the settings that were paired, which differ in this factor alone; ``words`` say what is
    known of the difference.
    """

    factor: str
    found: Comparison
    pairs: tuple[tuple[str, ...], ...]
    words: str

    @property
    def bounds(self) -> Bounds:
        """The difference with its interval."""
        return self.found.low, self.found.difference, self.found.high


@dataclass(frozen=True, slots=True)
class Effects:
    """The main effects of a sweep, and sentences on the interactions that are beyond chance.

    ``levels`` has, by factor, the level to use; None where effects do not decide that.
    """

    main: tuple[Effect, ...] = ()
    interactions: tuple[str, ...] = ()
    levels: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Loss:
    """What a part of the pipeline lost, in units of the measure."""

    part: str
    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Standing:
    """A setting's mean with its interval, its group and why, and what it may lose to any other at most.

    ``why`` is '' where the group says it all. ``regret`` is None where nothing is said of that: the setting
    can be compared with no other, there are too few queries, or the comparisons are with a baseline only.
    ``words`` are what the setting is called, ``losses`` what each part lost.
    """

    setting: str
    mean: float
    low: float | None
    high: float | None
    regret: float | None = None
    group: Group = "may"
    why: str = ""
    words: str = ""
    losses: tuple[Loss, ...] = ()

    @property
    def bounds(self) -> Bounds:
        """The mean with its interval."""
        return self.low, self.mean, self.high

    @property
    def short(self) -> str:
        """The group, or why, in a few words; '' for a setting that may be best and nothing more."""
        if self.group == "use" or (self.group == "out" and not self.why):
            return GROUPS[self.group]
        return self.why

    @property
    def standing(self) -> str:
        """The group in words, and why."""
        return f"{GROUPS[self.group]}: {self.why}" if self.why else GROUPS[self.group]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another measure has another leader: ``found`` compares that one with the leader, by that measure."""

    measure: str
    found: Comparison


@dataclass(frozen=True, slots=True)
class Needed:
    """Queries in all that show a ``difference`` in 4 of 5 studies, and what bounds that number."""

    difference: float
    queries: int
    low: int
    high: int | None


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
    def unlabelled(self) -> bool:
        """Whether labels may be missing, as hardly anything that a setting ranks first is judged."""
        return self.holes is not None and self.holes.least < FEWEST_JUDGED

    @property
    def tone(self) -> Tone:
        """Whether a setting can be used as it is, none can be named or trusted, or none is good enough."""
        if self.poor or self.leader is None:
            return "poor"
        return "good" if (self.used or self.decision == "single") and not self.unlabelled else "caution"

    @property
    def unread(self) -> tuple[str, ...]:
        """The settings that may be best, but cannot be compared, as their rankings end earlier."""
        out, unread = beaten(self.comparisons), [one for one in self.comparisons if one.finding == "unread"]
        kept = [one for one in unread if not {one.setting, one.against} & out]
        return tuple(dict.fromkeys(self.shallower(one, one.pair, self.measure) for one in kept))

    @property
    def here(self) -> bool:
        """Whether what is found holds for these clusters alone, as they are too few to stand for new ones."""
        return self.population.kind == "few clusters"

    def beyond_baseline(self, better: bool) -> tuple[str, ...]:
        """The settings that are shown to be better than the baseline, or worse, the highest mean first."""
        shown = {one.setting for one in self.comparisons if one.real and (one.difference > 0) == better}
        return tuple(one.setting for one in self.standings if one.setting in shown)

    def mean(self, setting: str) -> float:
        """The mean of a setting."""
        return next(one.mean for one in self.standings if one.setting == setting)

    @property
    def shown(self) -> str:
        """The setting to use, or the leader; '' where nothing was found."""
        return self.used or self.leader or ""

    @property
    def used(self) -> str:
        """The setting to use; '' where none is advised."""
        if self.poor:
            return ""
        if self.baseline is not None:
            return next(iter(self.beyond_baseline(better=True)), "")
        return self.advice.setting if self.advice is not None else ""
