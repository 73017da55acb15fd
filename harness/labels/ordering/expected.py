"""NDCG with uncertain grades: the expected value, and the effect of each grade.

NDCG is a ratio, and the ideal below is as uncertain as the ranking's gain above. So the grades are completed
many times as the model has them, and every setting is scored under each completion. The mean is what to
expect. What a single grade changes is taken from the regression of these scores on two sums over items, the
ranking's gain and all gain of the query: a line, so that draws of single items can correct it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.comparison import Floats, Ints
from harness.labels.ordering.grades import GradeModel
from harness.labels.ordering.pool import UNKNOWN, ItemPool

COMPLETIONS = 64
_DRAWN = 0.02


@dataclass(frozen=True, slots=True)
class Expected:
    """Expectations for S settings, Q queries and P items.

    ``score`` [S, Q] is the expected NDCG, 0 if nothing is relevant; ``share`` [Q] the probability that
    something is. ``slope`` [S, P] is what a unit of an item's gain adds to a setting's score. ``chances``
    [P, G + 1] is the probability of each grade, of graded items without their own; ``news`` [P, G + 1]
    is the gain of each grade less the expected one.
    """

    pool: ItemPool
    score: Floats
    share: Floats
    slope: Floats
    chances: Floats
    news: Floats


def score_all(pool: ItemPool, grades: Ints) -> tuple[Floats, Floats]:
    """NDCG [R, S, Q] under each of R completions, 0 if nothing is relevant; the ideals [R, Q]."""
    worth = np.concatenate([[0.0], np.cumsum(pool.steps)])[grades]
    rounds, queries = len(grades), len(pool.queries)
    padded = np.zeros((rounds, queries, pool.width), dtype=np.float32)
    padded[:, pool.query, pool.slot] = worth
    best = np.sort(padded, axis=2)[:, :, ::-1][:, :, : pool.k].astype(np.float64)
    ideal = best @ np.diff(pool.top)[: best.shape[2]]
    gained = np.stack([_summed(pool, worth * row) for row in pool.discount], axis=1)
    below = ideal[:, None, :]
    return np.divide(gained, below, out=np.zeros_like(gained), where=below > 0), ideal


def mean_scores(pool: ItemPool, grades: Ints) -> Floats:
    """The mean of every setting [S] over the queries with anything relevant; ``grades`` [P] are all known."""
    scores, ideals = score_all(pool, grades[None])
    return np.asarray(scores[0].sum(axis=1) / max(int((ideals[0] > 0).sum()), 1))


def expect(pool: ItemPool, likely: GradeModel, seed: int = 0, completions: int = COMPLETIONS) -> Expected:
    """The expectations for every setting and query, by ``completions`` of the grades."""
    drawn = likely.draws(pool.query, completions, np.random.default_rng(seed))
    scores, ideals = score_all(pool, drawn)
    gains = np.concatenate([[0.0], np.cumsum(pool.steps)])
    found = gains[drawn]
    slope = _slopes(pool, scores, ideals, found - found.mean(axis=0))
    blind = likely.chances(pool.query, blind=True)
    news = gains - (blind @ gains)[:, None]
    return Expected(pool, scores.mean(axis=0), (ideals > 0).mean(axis=0), slope, blind, news)


def unknowing(pool: ItemPool, likely: GradeModel) -> Expected:
    """The model's prediction for items as if none had a grade, keeping what it has learned from others.

    Chances to be drawn come from here, so that an item's own grade does not move them.
    """
    blank = replace(likely, logits=likely.blind, grades=np.full(len(likely.grades), UNKNOWN))
    return expect(pool, blank, completions=COMPLETIONS // 2)


def _slopes(pool: ItemPool, scores: Floats, ideals: Floats, news: Floats) -> Floats:
    """The gain in each setting's score per unit of an item's gain [S, P], by least squares over completions.

    Per setting and query the score is regressed on the ranking's gain and on all gain of the query, which
    moves the ideal. The slopes are drawn slightly towards those of the ratio at its mean.
    """
    all_gain = _summed(pool, news)
    ideal = ideals.mean(axis=0)
    each = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0)
    spread = (all_gain**2).mean(axis=0)
    moved = ideals - ideal
    rise = np.divide((moved * all_gain).mean(axis=0), spread, out=np.zeros_like(ideal), where=spread > 1e-12)
    slopes = np.zeros_like(pool.discount)
    for setting, discount in enumerate(pool.discount):
        own = _summed(pool, news * discount)
        found = scores[:, setting] - scores[:, setting].mean(axis=0)
        first, second = each, -scores[:, setting].mean(axis=0) * each * rise
        left = found - first * own - second * all_gain
        a, b, c = (own**2).mean(axis=0), (own * all_gain).mean(axis=0), spread
        ridge = _DRAWN * (a + c) + 1e-12
        a, c = a + ridge, c + ridge
        u, v = (left * own).mean(axis=0), (left * all_gain).mean(axis=0)
        space = a * c - b * b
        first, second = first + (c * u - b * v) / space, second + (a * v - b * u) / space
        slopes[setting] = first[pool.query] * discount + second[pool.query]
    return slopes


def _summed(pool: ItemPool, values: Floats) -> Floats:
    """Sums over the items of each query: [R, P] -> [R, Q]."""
    starts = np.flatnonzero(np.diff(pool.query, prepend=-1))
    return np.asarray(np.add.reduceat(values, starts, axis=1))
