"""How firm the verdict is: the leader's distance from the others, and the doubt that labels can remove."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.comparison import Interval, guarded_pair, student_quantile
from harness.labels.ordering.estimate import OrderEstimate, left_over, moved
from harness.labels.ordering.estimate import further as chances_of
from harness.measures import Floats
from harness.values import counted

State = Literal["open", "settled", "alike", "queries", "complete", "single"]
_NEXT: Mapping[State, str] = {
    "complete": "Stop: everything is labelled.",
    "single": "There is one setting, so there is nothing to decide; labels make its interval shorter.",
    "settled": "Stop: the verdict no longer depends on what is unlabelled; {leader} stays ahead.",
    "alike": "Stop: the remaining settings are alike; more labels will not separate them by 0.01.",
    "queries": "Stop: the remaining uncertainty comes from the queries, not from missing labels. "
    "Add queries.",
    "open": "Go on labelling in the order given.",
}
# Smaller differences do not matter in practice.
ALIKE = 0.01
# What an interval of 95 % leaves out on either side.
_TAIL = (1 - 0.95) / 2
FURTHER = (50, 100, 200)
# Where labels make up less of the variance than this, further ones hardly shorten the interval.
_MINOR = 0.1
FEWEST_QUERIES = 5
# With fewer draws nothing is called settled: their variance is not known well enough.
FEWEST_DRAWS = 40


@dataclass(frozen=True, slots=True)
class Rival:
    """A setting compared with the leader; both intervals are of the leader's mean minus its own.

    ``labels`` says what all labels of these queries would give, ``queries`` what new queries like them would.
    """

    setting: str
    labels: Interval
    queries: Interval


@dataclass(frozen=True, slots=True)
class MoreLabels:
    """The half-widths of the intervals to the nearest rival after ``labels`` more labels."""

    labels: int
    half_by_labels: float
    half_by_queries: float | None


@dataclass(frozen=True, slots=True)
class Firmness:
    """How firm a verdict by partial labels is."""

    state: State
    leader: str
    # every setting's mean with the interval for new queries, the best first
    means: tuple[tuple[str, Interval], ...]
    # the leader's distance from each other, the nearest first; the 95 % intervals hold for all together
    rivals: tuple[Rival, ...]
    queries: int
    # how many of the items have a label
    graded: int
    items: int
    # how many of those in the order given; without any, means are the model's word alone
    drawn: int
    # the labels that will probably settle the leader, None if that is unknown
    needed: int | None
    further: tuple[MoreLabels, ...]

    @property
    def stop(self) -> bool:
        """Whether further labels of this pool would not change the verdict."""
        return self.state != "open"

    @property
    def known(self) -> bool:
        """Whether the means rest on draws or on all labels, and not on a model alone."""
        return self.drawn > 0 or self.graded == self.items

    def sentences(self) -> tuple[str, ...]:
        """The verdict by the labels so far, how certain it is, and what to do next."""
        of = f"{counted(self.items, 'passage')} of {counted(self.queries, 'query', 'queries')}"
        part = f"{self.graded:,} of {of} are labelled"
        if not self.known:
            return (
                f"{part}, none of them in the order of harness labels next; nothing can be "
                "concluded about the rest yet.",
                "Label the passages in the order given, from the first.",
            )
        found = self.means[0][1].value != 0
        leads = (
            f"{self.leader} leads with {self.means[0][1]}" if found else "Nothing relevant was found so far"
        )
        lines = [f"{part}. {leads}."]
        if self.rivals and found:
            first = self.rivals[0]
            text = f"It is {first.labels} ahead of {first.setting}, as far as missing labels go"
            more = f"for new queries like these {first.queries}."
            few = "the queries are too few to say more."
            lines.append(f"{text}; {few if first.queries.low is None else more}")
        if self.needed is None:
            lines.append(_NEXT[self.state].format(leader=self.leader))
        elif self.needed >= self.items - self.graded:
            lines.append("Go on: probably all of the rest must be labelled to decide by these queries.")
        else:
            needed = counted(self.needed, "more label")
            lines.append(f"Go on: about {needed} will probably settle who leads on these queries.")
        return tuple(lines)


def firmness(now: OrderEstimate) -> Firmness:
    """How firm the verdict is by the estimate.

    ``settled``: by labels alone the leader is ahead of every rival, all intervals together. ``alike``: every
    rival that it is not ahead of is within 0.01 of it, either way. ``queries``: the labels make up less than
    a tenth of the variance of the nearest comparison, so queries are needed instead.
    """
    settings = now.pool.settings
    leader = int(now.means.argmax())
    order = np.argsort(-now.means, kind="stable")
    others = [int(place) for place in order if place != leader]
    families = max(len(others), 1)
    halves = now.halves_from(leader, _TAIL / families)
    rivals = tuple(_rival(now, leader, other, float(halves[other]), families) for other in others)
    means = tuple(
        (settings[place], _over_queries(now, _contrast(settings, int(place)), 1).within(0.0, 1.0))
        for place in order
    )
    state = _state(now, leader, others, halves)
    half = float(halves[others[0]]) if others else 0.0
    further, needed = _ahead(now, leader, others, half, families)
    return Firmness(
        state,
        settings[leader],
        means,
        rivals,
        len(now.pool.queries),
        len(now.pool.ids) - now.left,
        len(now.pool.ids),
        now.drawn,
        needed if state == "open" else None,
        further,
    )


def _state(now: OrderEstimate, leader: int, others: list[int], halves: Floats) -> State:
    if now.left == 0:
        return "complete"
    if not others:
        return "single"
    if now.drawn < FEWEST_DRAWS:
        return "open"
    apart = now.means[leader] - now.means[others]
    behind = apart > halves[others]
    if behind.all():
        return "settled"
    if (behind | (apart + halves[others] < ALIKE)).all():
        return "alike"
    nearest = _contrast(now.pool.settings, leader, others[0])
    total, by_labels = _variances(now, nearest)
    if total is not None and by_labels < _MINOR * total:
        return "queries"
    return "open"


def _rival(now: OrderEstimate, leader: int, other: int, half: float, families: int) -> Rival:
    apart = float(now.means[leader] - now.means[other])
    known = np.isfinite(half)
    labels = Interval(apart, apart - half, apart + half) if known else Interval(apart)
    contrast = _contrast(now.pool.settings, leader, other)
    queries = _over_queries(now, contrast, families)
    return Rival(now.pool.settings[other], labels.within(-1.0, 1.0), queries.within(-1.0, 1.0))


def _over_queries(now: OrderEstimate, contrast: Floats, families: int) -> Interval:
    """A weighted sum of the means, with its interval for new queries, where there are draws."""
    value = float(contrast @ now.means)
    own = _shares(now, contrast)
    if len(own) < FEWEST_QUERIES or (now.left and not now.drawn):
        return Interval(value)
    total, _ = _variances(now, contrast)
    error = float(np.sqrt(total or 0.0))
    centred = own - own.mean()
    square = float((centred**2).mean())
    skew = float((centred**3).mean()) / square**1.5 / np.sqrt(len(own)) if square > 1e-18 else 0.0
    return Interval(value, *guarded_pair(value, error, skew, len(own) - 1, _TAIL / families))


def _shares(now: OrderEstimate, contrast: Floats) -> Floats:
    """Each query's share of the error of a mean over the queries with anything relevant (a ratio)."""
    values = contrast @ now.score
    mean = values.sum() / now.answered
    return np.asarray((values - mean * now.share) / max(float(now.share.mean()), 1e-12))


def _variances(now: OrderEstimate, contrast: Floats) -> tuple[float | None, float]:
    """The variance of a weighted sum of means for new queries, and the part of it that labels can take away.

    The scores of queries scatter by what is unlabelled too. That part is counted once more, for with few
    labels a query the estimate is less linear than it is taken to be; benchmarks/label_order.py has how
    well the intervals cover.
    """
    by_labels = float(contrast @ now.labels @ contrast) / now.answered**2
    own = _shares(now, contrast)
    if len(own) < FEWEST_QUERIES:
        return None, by_labels
    return float(own.var(ddof=1)) / len(own) + by_labels, by_labels


def _ahead(
    now: OrderEstimate, leader: int, others: list[int], half: float, families: int
) -> tuple[tuple[MoreLabels, ...], int | None]:
    """The effect of 50, 100 and 200 more labels on the nearest comparison, and how many would settle it."""
    if not others or not now.drawn or not now.left:
        return (), None
    open_ = np.isin(np.arange(len(now.reached)), now.open)
    moves = moved(now.expected)
    contrast = _contrast(now.pool.settings, leader, others[0])
    parts = ((moves[leader] - moves[others[0]]) ** 2).sum(axis=1)
    total, now_labels = _variances(now, contrast)
    between = None if total is None else max(total - 2 * now_labels, 0.0)
    whole = float(left_over(parts[None], now.reached, np.zeros(len(open_)))[0])

    reach = half / max(float(np.sqrt(now_labels)), 1e-12)

    def left_after(more: int) -> float:
        chances = chances_of(parts, now, open_, more)
        left = float(left_over(parts[None], now.reached, chances)[0])
        return now_labels * left / whole if whole > 0 else 0.0

    found = []
    for more in sorted({min(count, now.left) for count in FURTHER}):
        by_labels = left_after(more)
        by_queries = None
        if between is not None:
            student = student_quantile(1 - _TAIL / families, len(now.pool.queries) - 1)
            by_queries = float(student * np.sqrt(between + 2 * by_labels))
        found.append(MoreLabels(more, float(reach * np.sqrt(by_labels)), by_queries))
    gap = float(now.means[leader] - now.means[others[0]])
    # the fewest that would settle it, all that are left if no fewer do
    needed = 1 + bisect_left(
        range(1, now.left), True, key=lambda more: bool(reach * np.sqrt(left_after(more)) < gap)
    )
    return tuple(found), needed


def _contrast(settings: tuple[str, ...], setting: int, other: int | None = None) -> Floats:
    weights = np.zeros(len(settings))
    weights[setting] = 1.0
    if other is not None:
        weights[other] = -1.0
    return weights
