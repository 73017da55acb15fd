"""The probability of each grade for ungraded items by a model of the grades so far, and the NDCG to expect.

Cumulative logits (McCullagh, JRSS B 1980) fitted level by level with common slopes: how high each setting
ranks the item, what the judge says, and what else its query holds (a query's own level is drawn towards
that of all). The estimates stay honest whatever this model says, as the draws correct it; a good model makes
their intervals short. Settings are features after Carterette and Allan (CIKM 2007): who has been right so
far is likely right further on.

NDCG is a ratio, and the ideal below is as uncertain as the ranking's gain above. So the grades are completed
many times as the model has them, and every setting is scored under each completion. The mean is what to
expect. What a single grade changes is taken from the regression of these scores on two sums over items, the
ranking's gain and all gain of the query: a line, so that draws of single items can correct it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.labels.ordering.pool import UNKNOWN, ItemPool
from harness.measures import Floats, Ints

# Before there are grades: three of ten are relevant, and each further grade is half as frequent.
_FIRST, _NEXT = 0.3, 0.5
_SPREAD_OF_LEVELS = 1.5
_SPREAD_OF_SLOPES = 1.0
_SPREAD_OF_SETTINGS = 0.3
_SPREAD_OF_QUERIES = 1.0
# The levels of one item say much the same, so they count for less than as many items.
_WORTH_OF_A_LEVEL = 0.6
_ROUNDS = 30
_SMALLEST = 1e-6


@dataclass(frozen=True, slots=True)
class GradeModel:
    """The model of P items and Q queries.

    ``logits`` [P, G] are those of reaching grade 1..G, ``doubt`` [Q] is the standard deviation of the level
    of each query. ``grades`` [P] are the known ones, -1 elsewhere. ``blind`` [P, G] is ``logits`` without
    the item's own grade (left out of the level of its query). ``learned`` is how many parameters the grades
    have settled.
    """

    logits: Floats
    doubt: Floats
    grades: Ints
    blind: Floats
    learned: float

    def chances(self, query: Ints, blind: bool = False) -> Floats:
        """The probability of each grade 0..G [P, G + 1], the doubt about the query's level averaged in.

        Certain for graded items, unless ``blind``: then as the model has them without their own grade. The
        average is that of MacKay (Neural Computation 1992).
        """
        wide = np.sqrt(1 + np.pi / 8 * self.doubt[query] ** 2)[:, None]
        tails = np.minimum.accumulate(_logistic((self.blind if blind else self.logits) / wide), axis=1)
        ends = np.ones((len(tails), 1)), np.zeros((len(tails), 1))
        found = -np.diff(np.concatenate([ends[0], tails, ends[1]], axis=1))
        if not blind:
            known = self.grades != UNKNOWN
            found[known] = np.eye(found.shape[1])[self.grades[known]]
        return np.asarray(found)

    def draws(self, query: Ints, count: int, rng: np.random.Generator) -> Ints:
        """``count`` completions of the grades [count, P]: a level for each query, then each item's grade."""
        level = (rng.standard_normal((count, len(self.doubt))) * self.doubt)[:, query]
        height = rng.random(level.shape)
        height = np.log(height / (1 - height)) - level
        found = np.zeros(height.shape, dtype=np.int64)
        for column in self.logits.T:
            found += height < column
        return np.where(self.grades != UNKNOWN, self.grades, found)


def fit(pool: ItemPool, grades: Ints) -> GradeModel:
    """The model by the known grades [P], -1 for none: Newton's method on the penalised likelihood.

    Queries are eliminated in each step, so that a step takes time in proportion to the items.
    """
    known = grades != UNKNOWN
    x, priors = _features(pool)
    levels = len(pool.steps)
    prior = _FIRST * _NEXT ** np.arange(levels)
    centre = np.concatenate([np.log(prior / (1 - prior)), np.zeros(x.shape[1])])
    penalty = np.concatenate([np.full(levels, _SPREAD_OF_LEVELS**-2.0), priors**-2.0])
    shared, own, spread = centre, np.zeros(len(pool.queries)), _SPREAD_OF_QUERIES
    stiff = np.full(len(pool.queries), spread**-2.0)
    goal = (grades[known, None] >= np.arange(1, levels + 1)).astype(np.float64)
    for _ in range(_ROUNDS if known.any() else 0):
        step, shift, stiff = _newton(
            x[known], pool.query[known], goal, shared, own, (shared - centre) * penalty, penalty, spread
        )
        largest = float(max(np.abs(step).max(), np.abs(shift).max()))
        damp = min(1.0, 2.0 / max(largest, _SMALLEST))
        shared, own = shared + damp * step, own + damp * shift
        seen = np.bincount(pool.query[known], minlength=len(own)) > 0
        # two made-up queries of the usual spread keep it from 0
        total = float((own[seen] ** 2 + 1 / stiff[seen]).sum()) + 2 * _SPREAD_OF_QUERIES**2
        before, spread = spread, float(np.sqrt(total / (seen.sum() + 2)))
        if largest < 1e-4 and abs(spread - before) < 1e-3:
            break
    logits = shared[:levels] + (x @ shared[levels:] + own[pool.query])[:, None]
    blind = logits.copy()
    chance = _logistic(logits[known])
    miss = _WORTH_OF_A_LEVEL * (goal - chance).sum(axis=1)
    whole = _WORTH_OF_A_LEVEL * (chance * (1 - chance)).sum(axis=1)
    blind[known] -= (miss / (stiff[pool.query[known]] - whole))[:, None]
    settled = float((1 - spread**-2.0 / stiff).sum()) + (levels + x.shape[1]) * min(1.0, known.mean() * 10)
    return GradeModel(logits, np.sqrt(1 / stiff), grades, blind, settled if known.any() else 0.0)


def _features(pool: ItemPool) -> tuple[Floats, Floats]:
    """The features of items without their grades [P, F], of spread 1, and how large each slope may be [F]."""
    columns = [pool.discount.sum(axis=0), pool.discount.max(axis=0)]
    graded = ~np.isnan(pool.judge)
    if graded.any():
        by_judge = np.where(graded, pool.judge, pool.judge[graded].mean())
        columns += [by_judge, (by_judge > 0).astype(np.float64), graded.astype(np.float64)]
    wide = len(columns)
    table = np.stack([*columns, *pool.discount], axis=1)
    spread = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(spread > _SMALLEST, spread, 1.0)
    allowed = [_SPREAD_OF_SLOPES] * wide + [_SPREAD_OF_SETTINGS] * len(pool.discount)
    return np.asarray(scaled), np.array(allowed)


def _newton(
    x: Floats,
    query: Ints,
    goal: Floats,
    shared: Floats,
    own: Floats,
    drawn: Floats,
    penalty: Floats,
    spread: float,
) -> tuple[Floats, Floats, Floats]:
    """One step for the shared parameters, one for the queries' levels, and the curvature of the latter."""
    levels, queries = goal.shape[1], len(own)
    chance = _logistic(shared[:levels] + (x @ shared[levels:] + own[query])[:, None])
    miss = _WORTH_OF_A_LEVEL * (goal - chance)
    weight = _WORTH_OF_A_LEVEL * chance * (1 - chance)
    whole = weight.sum(axis=1)
    slope = np.concatenate([miss.sum(axis=0), x.T @ miss.sum(axis=1)]) - drawn
    pull = np.bincount(query, miss.sum(axis=1), queries) - own / spread**2
    stiff = np.bincount(query, whole, queries) + spread**-2.0
    cross = weight.T @ x
    curve = np.block([[np.diag(weight.sum(axis=0)), cross], [cross.T, (x * whole[:, None]).T @ x]])
    mixed = np.concatenate([weight, x * whole[:, None]], axis=1)
    held = np.stack([np.bincount(query, column, queries) for column in mixed.T])
    step = np.linalg.solve(curve + np.diag(penalty) - (held / stiff) @ held.T, slope - held @ (pull / stiff))
    return step, (pull - held.T @ step) / stiff, stiff


def _logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -30, 30))))


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
