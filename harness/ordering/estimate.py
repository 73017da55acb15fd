"""What the grades so far say of every setting: estimates that do not rest on the model being right.

The model says what to expect of everything, given all grades. Then every draw corrects it: an item that was
drawn stands for those that might have been, so how far its grade was from what the model expected (without
it) counts 1 / chance - 1 times besides. This is the model-assisted difference estimator (Särndal, Swensson
and Wretman 1992), as prediction-powered and active inference use it (Angelopoulos et al., Science 2023;
Zrnic and Candès, ICML 2024), applied to the slope of NDCG. Batches are weighed by the precision that was
expected when they were drawn, so the weights know nothing of what was found.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.ordering.drawing import Batch
from harness.ordering.expected import Expected, expect
from harness.ordering.grades import fit
from harness.ordering.pool import UNKNOWN, Pool
from harness.stats.arrays import Floats, Ints

_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """Scores [S, Q], 0 where nothing is relevant, and ``share`` [Q], the probability that something is.

    ``labels`` [S, S] is the covariance of the sums of the scores as far as it comes from what nobody has
    graded. ``drawn`` items carry it, 0: there is none, the scores are the model's word. ``open`` are the
    numbers of the items without a grade. ``expected`` is what the model says.
    """

    pool: Pool
    score: Floats
    share: Floats
    labels: Floats
    drawn: int
    open: Ints
    expected: Expected

    @property
    def means(self) -> Floats:
        """The mean score of every setting [S] over the queries that have anything relevant."""
        return np.asarray(self.score.sum(axis=1) / self.answered)

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

        Without draws nobody knows it: infinite, but 0 where all is graded.
        """
        if self.left == 0:
            return np.zeros(len(self.labels))
        if not self.drawn:
            return np.where(np.arange(len(self.labels)) == setting, 0.0, np.inf)
        own = np.diag(self.labels)
        left = np.maximum(own + own[setting] - 2 * self.labels[setting], 0.0)
        return np.asarray(np.sqrt(left) / self.answered)


def estimate(
    pool: Pool, labels: Mapping[str, int], batches: Sequence[Batch], skipped: Container[str] = ()
) -> Estimate:
    """What the labels say, by the batches as far as they are graded in order.

    ``skipped`` items cannot be graded: they are passed over, and the model speaks for them.
    """
    grades = pool.grades(labels)
    likely = fit(pool, grades)
    expected = expect(pool, likely)
    left = np.flatnonzero(grades == UNKNOWN)
    settings = len(pool.settings)
    used = [(batch, count) for batch in batches if (count := batch.done(labels, skipped))]
    if not len(left) or not used:
        none = np.zeros((settings, settings))
        return Estimate(pool, expected.score, expected.share, none, 0, left, expected)
    weights = _weights(used, expected.score.sum(axis=1))
    stands, spread, drawn = _standing_for(pool, grades, used, weights)
    known = np.flatnonzero((grades != UNKNOWN) & (stands != 1))
    apart = _apart(expected, known, grades[known])
    score = expected.score.copy()
    for setting in range(settings):
        np.add.at(score[setting], pool.query[known], apart[setting] * (stands[known] - 1))
    items = np.flatnonzero(spread)
    moves = _apart(expected, items, grades[items]) * np.sqrt(spread[items])
    # The model was fitted to the same grades, so both its errors and the draws' scatter with them; how well
    # the intervals then cover is measured by benchmarks/label_order.py.
    again = (1 + likely.learned / max(int((grades != UNKNOWN).sum()), 1)) ** 2
    return Estimate(pool, score, expected.share, moves @ moves.T * again, drawn, left, expected)


def _standing_for(
    pool: Pool, grades: Ints, used: Sequence[tuple[Batch, int]], weights: Floats
) -> tuple[Floats, Floats, int]:
    """How many items each one stands for [P], what that adds to the variance [P], and the number of draws.

    In each batch an item stands for itself if it was known before, for 1 / chance if it was drawn, and for
    nothing if it might have been; so it stands for one on average.
    """
    place = {name: number for number, name in enumerate(pool.ids)}
    stands, spread, drawn = np.zeros(len(pool.ids)), np.zeros(len(pool.ids)), 0
    for (batch, count), weight in zip(used, weights, strict=True):
        before = [place[name] for name in batch.known]
        stands[before] += weight
        chance = batch.chances(count)
        for one, likely in zip(batch.drawn[:count], chance, strict=True):
            item = place[one.item_id]
            if grades[item] != UNKNOWN:
                stands[item] += weight / likely
                spread[item] += weight**2 * (1 - likely) / likely**2
                drawn += 1
    return stands, spread, drawn


def _apart(expected: Expected, items: Ints, grades: Ints) -> Floats:
    """How far the grades of items moved each setting's score [S, n] from what was expected without them."""
    return np.asarray(expected.slope[:, items] * expected.news[items, grades])


def _weights(used: Sequence[tuple[Batch, int]], scores: Floats) -> Floats:
    """The weight of each batch: the expected precision of the difference between the two best settings."""
    best = np.argsort(-scores, kind="stable")[:2]
    contrast = np.zeros(len(scores))
    contrast[best] = (1.0, -1.0)[: len(best)]
    errors = [float(contrast @ batch.error_after(count) @ contrast) for batch, count in used]
    precision = 1 / np.maximum(np.array(errors), max(max(errors) * 1e-6, _TINY))
    return np.asarray(precision / precision.sum())
