"""What a verdict consists of: groups of settings, effects of factors, losses, costs, and what was judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from harness.comparison.paired import Comparison
from harness.comparison.stats import Kind

# A smaller judged share of the first ranks than this is mentioned.
ENOUGH_JUDGED = 0.8
# Below it, of ten passages not one is judged on average: scores tell of labels more than of rankings.
FEWEST_JUDGED = 0.1
# From this share of its hits on, a pipeline has searched other documents, or other text of them.
MOSTLY_ELSEWHERE = 0.5
# Of what a measure reads, a setting whose rankings hold a smaller share may gain by deeper ones. The last
# twentieth counts least: by then the discount has left less of a gain than any tolerance asks for.
ENOUGH_READ = 0.95
Bounds = tuple[float | None, float, float | None]
"""A lower bound, a value, an upper bound."""
Group = Literal["use", "may", "out"]
GROUPS: Mapping[Group, str] = {"use": "use this", "may": "may be best", "out": "ruled out"}


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


@dataclass(frozen=True, slots=True)
class IndexingCost:
    """What indexing takes in a setting; None: not known.

    ``tokens`` are embedded, for ``money`` at an endpoint or in ``embed_seconds`` by a model that runs here,
    at the speed that it has had (0: nothing is embedded). An index is built in ``build_seconds`` and has
    ``bytes``; None where none is built.
    """

    tokens: int | None
    money: float | None
    embed_seconds: float | None
    build_seconds: float | None
    bytes: int | None


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
    def reached(self) -> float:
        """What losses leave of a perfect 1, which may be in units of another measure than the mean."""
        return 1 - sum(loss.value for loss in self.losses)

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
