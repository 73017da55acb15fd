"""Coefficients of agreement in order; resamples written as weights are what scipy says of the copies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from harness.comparison.stats.association import (
    bounds,
    kendall,
    kendall_rows,
    resampled,
    spearman,
    spearman_rows,
)
from harness.comparison.stats.units import units_of

SMALL = st.integers(0, 3).map(float)


@pytest.mark.parametrize(
    ("x", "y", "tau", "rho"),
    [
        # of 6 pairs 5 agree and 1 does not: (5 - 1) / 6; rho = 1 - 6 * 2 / (4 * 15)
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6, 0.8),
        ([1, 2, 3], [3, 2, 1], -1, -1),
        # one pair tied in x: 2 / sqrt(2 * 3)
        ([1, 1, 2], [1, 2, 3], 2 / np.sqrt(6), np.sqrt(3) / 2),
        ([1, 1, 1], [1, 2, 3], np.nan, np.nan),
    ],
)
def test_small_cases_by_hand(x, y, tau, rho):
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    once = np.ones((1, len(x)))
    for found in (kendall(x, y, once), kendall_rows(x[None], y[None])):
        assert found == pytest.approx([tau], nan_ok=True)
    for found in (spearman(x, y, once), spearman_rows(x[None], y[None])):
        assert found == pytest.approx([rho], nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(SMALL, SMALL, st.integers(0, 3)), min_size=2, max_size=9))
def test_a_resample_by_weights_is_the_resample_written_out(items):
    x, y, times = (np.array(column, dtype=float) for column in zip(*items, strict=True))
    if times.sum() < 2:
        return
    copies = np.repeat(np.arange(len(x)), times.astype(int))
    one, other = x[copies], y[copies]
    constant = len(set(one)) == 1 or len(set(other)) == 1
    expected = (np.nan, np.nan) if constant else (kendalltau(one, other)[0], spearmanr(one, other)[0])
    assert kendall(x, y, times[None])[0] == pytest.approx(expected[0], nan_ok=True)
    assert spearman(x, y, times[None])[0] == pytest.approx(expected[1], nan_ok=True)


def test_whole_clusters_are_drawn():
    clusters = [str(i // 2) for i in range(40)]
    weights = resampled(units_of(clusters, 40), 50, seed=7)
    assert weights.shape == (50, 40)
    assert (weights[:, ::2] == weights[:, 1::2]).all()
    assert (weights.sum(axis=1) == 40).all()
    assert (weights == resampled(units_of(clusters, 40), 50, seed=7)).all()


def test_bounds_need_most_of_the_resamples():
    assert bounds(np.array([*np.linspace(0, 1, 101)]), 0.9) == pytest.approx((0.05, 0.95))
    assert bounds(np.array([np.nan] * 2 + [0.5] * 8), 0.9) == (None, None)
    assert bounds(np.zeros(0), 0.9) == (None, None)
