"""Estimates for every setting from the grades so far, valid even if the model is wrong; and what to draw.

The model predicts everything, given all grades. Then every draw corrects it: an item that was drawn stands
for those that might have been, so how far its grade was from what the model expected (without it) counts 1 /
chance - 1 times besides. This is the model-assisted difference estimator (Särndal, Swensson and Wretman
1992), as prediction-powered and active inference use it (Angelopoulos et al., Science 2023; Zrnic and Candès,
ICML 2024), applied to the slope of NDCG.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.comparison import student_quantile
from harness.labels.ordering.grades import Expected, GradeModel, expect, fit, unknowing
from harness.labels.ordering.pool import UNKNOWN, Batch, ItemPool
from harness.measures import Bools, Floats, Ints

_TINY = 1e-12
_FEWEST_PARTS = 4


@dataclass(frozen=True, slots=True)
class OrderEstimate:
    """Scores [S, Q], 0 if nothing is relevant, and ``share`` [Q], the probability that something is.

    ``moves`` [S, D] are the parts that each of D draws has in the error of the sums of the scores; without
    draws the scores are predictions of the model. ``open`` are the numbers of the items without a grade.
    ``expected`` is the prediction of the model ``likely``. ``reached`` [P] is the chance of each item to be
    drawn by now, 1 for those that were known from the first.
    """

    pool: ItemPool
    score: Floats
    share: Floats
    moves: Floats
    open: Ints
    expected: Expected
    likely: GradeModel
    reached: Floats

    @property
    def means(self) -> Floats:
        """The mean score of every setting [S] over the queries that have anything relevant."""
        return np.asarray(self.score.sum(axis=1) / self.answered)

    @property
    def drawn(self) -> int:
        """How many items were drawn and graded."""
        return int(self.moves.shape[1])

    @property
    def labels(self) -> Floats:
        """The covariance of the sums of the scores as far as it comes from ungraded items [S, S]."""
        return np.asarray(self.moves @ self.moves.T)

    @property
    def left(self) -> int:
        """How many items have no grade."""
        return len(self.open)

    @property
    def answered(self) -> float:
        """How many queries have anything relevant."""
        return max(float(self.share.sum()), _TINY)

    def errors_from(self, setting: int) -> Floats:
        """The standard error of every mean's distance from that of ``setting`` [S], by labels alone.

        Unknown without draws: infinite, but 0 if all is graded.
        """
        if self.left == 0:
            return np.zeros(len(self.labels))
        if not self.drawn:
            return np.where(np.arange(len(self.labels)) == setting, 0.0, np.inf)
        apart = self.moves[setting] - self.moves
        return np.asarray(np.sqrt((apart**2).sum(axis=1)) / self.answered)

    def halves_from(self, setting: int, tail: float) -> Floats:
        """Half the intervals of every mean's distance from that of ``setting`` [S], by labels alone.

        ``tail`` is the chance of either side. Few draws may carry most of the variance, and then they say
        little of it: Student's t, of as many degrees of freedom as equal parts would make up (Satterthwaite,
        Biometrics 1946).
        """
        errors = self.errors_from(setting)
        if not np.isfinite(errors).all():
            return errors
        apart = (self.moves[setting] - self.moves) ** 2
        fourth = (apart**2).sum(axis=1)
        equal = np.divide(apart.sum(axis=1) ** 2, fourth, out=np.ones(len(errors)), where=fourth > 0)
        reach = [student_quantile(1 - tail, max(int(parts), _FEWEST_PARTS)) for parts in equal]
        return np.asarray(errors * np.array(reach))


def estimate(
    pool: ItemPool, labels: Mapping[str, int], batches: Sequence[Batch], skipped: Container[str] = ()
) -> OrderEstimate:
    """Estimate from the labels, by the batches as far as they are graded in order.

    ``skipped`` items cannot be graded: they are skipped, and the model's prediction is used.
    """
    grades = pool.grades(labels)
    likely = fit(pool, grades)
    expected = expect(pool, likely)
    left = np.flatnonzero(grades == UNKNOWN)
    settings = len(pool.settings)
    used = [(batch, count) for batch in batches if (count := batch.done(labels, skipped))]
    if not len(left) or not used:
        none = np.zeros((settings, 0))
        reached = (grades != UNKNOWN).astype(np.float64)
        return OrderEstimate(pool, expected.score, expected.share, none, left, expected, likely, reached)
    stands, drawn, reached = _standing_for(pool, grades, used)
    known = np.flatnonzero((grades != UNKNOWN) & (stands != 1))
    apart = _apart(expected, known, grades[known])
    score = expected.score.copy()
    for setting in range(settings):
        np.add.at(score[setting], pool.query[known], apart[setting] * (stands[known] - 1))
    items = np.flatnonzero(drawn)
    spread = stands[items] * (stands[items] - 1)
    moves = _apart(expected, items, grades[items]) * np.sqrt(np.maximum(spread, 0.0))
    # The model was fitted to the same grades, so both its errors and the draws' scatter with them; how well
    # the intervals then cover is measured by benchmarks/label_order.py.
    again = 1 + likely.learned / max(int((grades != UNKNOWN).sum()), 1)
    return OrderEstimate(pool, score, expected.share, moves * again, left, expected, likely, reached)


def _standing_for(
    pool: ItemPool, grades: Ints, used: Sequence[tuple[Batch, int]]
) -> tuple[Floats, Bools, Floats]:
    """The weight of each item [P], which were drawn [P], and the chance of each to be drawn by now [P].

    In each batch an item stands for itself if it was known before, for 1 / chance if it was drawn, and for
    nothing if it might have been; so it stands for one on average. Batches are put together by the weights
    of least variance, by which a drawn item stands for 1 / its chance to be drawn in any of them. The
    chances of a known item are those that it would have had: they come from the model without its grade.
    """
    place = {name: number for number, name in enumerate(pool.ids)}
    by_id = np.array([place[name] for name in sorted(pool.ids)])
    first = np.array([place[name] for name in used[0][0].known], dtype=np.int64)
    stands, reached = np.zeros(len(place)), np.zeros(len(place))
    stands[first], reached[first] = 1.0, 1.0
    drawn = np.zeros(len(place), dtype=np.bool_)
    for batch, count in used:
        chance, now = np.zeros(len(place)), np.zeros(len(place))
        chance[by_id] = batch.chances(count)
        now[[place[name] for name in batch.known]] = 1.0
        items = np.array([place[one.item_id] for one in batch.drawn[:count]])
        items = items[grades[items] != UNKNOWN]
        now[items] = 1 / chance[items]
        drawn[items] = True
        reached = reached + (1 - reached) * chance
        weight = chance / reached
        stands = (1 - weight) * stands + weight * now
    return stands, drawn, reached


def _apart(expected: Expected, items: Ints, grades: Ints) -> Floats:
    """How far the grades of items moved each setting's score [S, n] from what was expected without them."""
    return np.asarray(expected.slope[:, items] * expected.news[items, grades])


# The model of the grades may be overconfident; this much weight goes to the grades of an average item.
_DOUBT = 0.4
# No item is drawn with less than this share of the average size: a rare surprise must not weigh too much.
_LEAST = 0.3
_CLOSEST = 1e-3
# How far apart settings may be before anything is known of them: a standard deviation.
_AT_FIRST = 0.1
_ROUNDS = 8
_HALVINGS = 25
# What is certain to be drawn goes before what is only likely.
_CERTAIN = 50.0
_NEVER = 1e-3
_SMALLEST_CHANCE = 1e-9


def sizes(now: OrderEstimate, open_: Bools, count: int) -> Floats:
    """Sizes of all items [P] for the next ``count`` draws from the ``open_`` [P] ones.

    They are for telling the leader from every other setting. For one comparison an item should be drawn with
    a chance in proportion to the standard deviation of what its grade may change (Neyman, JRSS 1934). Of
    several comparisons, the one with the largest variance relative to distance² + error² must be improved:
    the weights of all are raised and lowered until that is as small as it can be. With one setting it is what
    grades may change of its mean. The size is the part of that chance which earlier draws have not given yet,
    so that what matters most is soon certain to be drawn.
    """
    leader = int(now.means.argmax())
    moves = moved(unknowing(now.pool, now.likely))
    rivals = [place for place in range(len(now.means)) if place != leader]
    if rivals:
        parts = np.stack([((moves[leader] - moves[rival]) ** 2).sum(axis=1) for rival in rivals])
        errors = np.minimum(now.errors_from(leader), _AT_FIRST)
        borne = (now.means[leader] - now.means[rivals]) ** 2 + errors[rivals] ** 2 + _CLOSEST**2
    else:
        parts, borne = (moves[leader] ** 2).sum(axis=1)[None], np.ones(1)
    weight = 1 / borne
    for _ in range(_ROUNDS if rivals else 0):
        more = further(weight @ parts, now, open_, count)
        left = left_over(parts, now.reached, more) / borne
        worst = float(left.max())
        if worst <= 0:
            break
        weight = weight * np.sqrt(left / worst)
    more = further(weight @ parts, now, open_, count)
    return np.where(more >= 1, _CERTAIN, np.maximum(more, _NEVER))


def further(variance: Floats, now: OrderEstimate, open_: Bools, count: int) -> Floats:
    """The chances [P] of the next ``count`` draws that bring those of all draws in proportion to a spread.

    ``variance`` [P] is the square of that spread. Items that cannot be drawn get the chance that they would
    have had.
    """
    size = np.sqrt(variance)
    average = float(size[open_].mean())
    size = np.maximum(size / average, _LEAST) if average > 0 else np.ones(len(size))
    if count >= open_.sum():
        return np.ones(len(size))
    own, before = size[open_], now.reached[open_]
    low, high = 0.0, 1 / float(own.min())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _more(middle * own, before).sum() < count:
            low = middle
        else:
            high = middle
    return _more(high * size, now.reached)


def _more(aim: Floats, reached: Floats) -> Floats:
    """The chance that brings ``reached`` up to ``aim``, where that is above it."""
    short = np.maximum(np.minimum(aim, 1.0) - reached, 0.0)
    return np.asarray(short / np.maximum(1 - reached, _SMALLEST_CHANCE))


def left_over(parts: Floats, reached: Floats, more: Floats) -> Floats:
    """The variance [R] that is left of ``parts`` [R, P] after draws of the chances ``more`` [P]."""
    chance = np.maximum(reached + (1 - reached) * more, _SMALLEST_CHANCE)
    return np.asarray(parts @ (1 / chance - 1))


def moved(expected: Expected) -> Floats:
    """How the scores may move with each item's grade [S, P, G + 1], times the root of that grade's chance.

    Products of two settings, summed over grades, are the covariances of what the item may change.
    """
    average = expected.chances.mean(axis=0)
    chances = (1 - _DOUBT) * expected.chances + _DOUBT * average
    # what each grade of each item would add to the score of a setting
    effects = expected.slope[:, :, None] * expected.news
    return np.asarray((effects - (chances * effects).sum(axis=2)[:, :, None]) * np.sqrt(chances))
