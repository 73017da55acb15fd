"""How much an item matters for which setting is best, which decides its chance to be drawn."""

from __future__ import annotations

import numpy as np

from harness.comparison import Bools, Floats, Ints
from harness.labels.ordering.estimate import OrderEstimate
from harness.labels.ordering.expected import Expected, unknowing

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
_TINY = 1e-9


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
    moves = moved(unknowing(now.pool, now.likely), np.arange(len(open_)))
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
    return np.asarray(short / np.maximum(1 - reached, _TINY))


def left_over(parts: Floats, reached: Floats, more: Floats) -> Floats:
    """The variance [R] that is left of ``parts`` [R, P] after draws of the chances ``more`` [P]."""
    chance = np.maximum(reached + (1 - reached) * more, _TINY)
    return np.asarray(parts @ (1 / chance - 1))


def moved(expected: Expected, items: Ints) -> Floats:
    """How the scores may move with each item's grade [S, n, G + 1], times the root of that grade's chance.

    Products of two settings, summed over grades, are the covariances of what the item may change.
    """
    average = expected.chances.mean(axis=0)
    chances = (1 - _DOUBT) * expected.chances[items] + _DOUBT * average
    found = []
    for slope in expected.slope:
        # what each grade of each item would add to the score of a setting
        effects = slope[items, None] * expected.news[items]
        found.append((effects - (chances * effects).sum(axis=1)[:, None]) * np.sqrt(chances))
    return np.array(found)
