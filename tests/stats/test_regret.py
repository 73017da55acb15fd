"""What a setting may lose to any other: one-sided comparisons with the best."""

from itertools import product

import numpy as np
import pytest

from harness.comparison.joint_test import decide
from harness.comparison.regret import losses
from harness.comparison.stats import bounds_at, units_of

from .rows import moments


def every(count):
    return ~np.eye(count, dtype=bool)


def test_the_bounds_of_three_settings_by_brute_force():
    rng = np.random.default_rng(3)
    values = rng.normal(0.5, 0.2, (3, 9))
    signs = np.array([*product((1, -1), repeat=9)])
    expected = np.zeros(3)
    for best in range(3):
        others = [row for row in range(3) if row != best]
        leads = values[best] - values[others]
        flipped = signs[:, None, :] * leads
        t = flipped.mean(axis=2) / (flipped.std(axis=2, ddof=1) / 3)
        # the least t that no more than 5 % of the patterns reach, which is that before it; t(8) = 1.8595
        largest = np.sort(t.max(axis=1))
        critical = max(1.8595480, largest[-int(0.05 * 512) - 1])
        mean, error, skew = moments(leads)
        expected[others] = np.maximum(expected[others], bounds_at(mean, error, skew, critical)[1])
    found = losses(values, every(3), units_of((), 9), 0.95, 2_000, 0)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("sizes", [(9,) * 14, (41, 20, 13, 10, 8, 6, 5, 5, 4, 4, 3, 3, 3, 3)])
def test_sixty_settings_have_bounds_that_tell_and_that_are_within_the_intervals(sizes):
    rng = np.random.default_rng(5)
    of = np.repeat(np.arange(len(sizes)), sizes)
    # a setting is far off on a few documents
    effects = rng.exponential(1, (60, len(sizes))) - 1
    values = 0.5 + 0.05 * effects[:, of] + 0.1 * rng.normal(size=(60, len(of)))
    units = units_of([f"d{i}" for i in of], len(of))
    assert units.kind == "clusters"
    bounds = losses(values, every(60), units, 0.95, 1_000, 7)
    order = np.argsort(-values.mean(axis=1))
    pairs = [(i, j) for at, i in enumerate(order) for j in order[at + 1 :]]
    found = decide(values, pairs, units, 0.95, 1_000, 7)
    uppers = np.zeros(60)
    for (i, j), low, high in zip(pairs, found.low, found.high, strict=True):
        uppers[i], uppers[j] = max(uppers[i], -low), max(uppers[j], high)
    assert (bounds <= uppers + 1e-9).all()
    # what is observed is within every bound
    assert (values.mean(axis=1).max() - values.mean(axis=1) <= bounds + 1e-12).all()
    assert bounds[order[0]] < 0.65 * uppers[order[0]]


def test_settings_that_cannot_be_compared_lose_nothing_to_each_other():
    rng = np.random.default_rng(8)
    values = rng.normal(0.5, 0.1, (5, 40))
    values[4] += 0.3
    compared = np.zeros((5, 5), dtype=bool)
    for i, j in ((0, 1), (2, 3)):
        compared[i, j] = compared[j, i] = True
    units = units_of((), 40)
    bounds = losses(values, compared, units, 0.95, 1_000, 1)
    assert np.isnan(bounds[4])
    for rows in ([0, 1], [2, 3]):
        np.testing.assert_allclose(bounds[rows], losses(values[rows], every(2), units, 0.95, 1_000, 1))
    assert np.isnan(losses(values, np.zeros((5, 5), dtype=bool), units, 0.95, 1_000, 1)).all()


def test_equal_settings_lose_nothing():
    values = np.tile(np.linspace(0, 1, 30), (3, 1))
    np.testing.assert_array_equal(losses(values, every(3), units_of((), 30), 0.95, 1_000, 1), 0.0)
