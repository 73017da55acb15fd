"""Intervals do not reach beyond what a measure can be."""

import numpy as np

from harness.compare import compare_pair
from harness.stats.interval import intervals, within


def test_the_mean_of_a_measure_is_not_below_zero():
    # mean 0.2, standard error 0.2, t(4) = 2.776: 0.2 ± 0.555 would begin below 0
    scores = np.array([[0.0, 0.0, 0.0, 0.0, 1.0]])
    low, high = intervals(scores)
    assert low[0] < 0
    low, high = within(low, high, scores, 0.0)
    assert low[0] == 0
    assert 0.75 < high[0] <= 1


def test_a_price_has_no_upper_end():
    assert within(np.array([-5.0]), np.array([9000.0]), np.array([[100.0]]), 0.0) == (-5.0, 9000.0)


def test_a_difference_stays_between_minus_one_and_one():
    # differences 1, 1, 1, 1, −1: mean 0.6, standard error 0.4, t(4) = 2.776, so t alone reaches 1.71
    one = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    found = compare_pair("a", one, "b", 1 - one)
    low, high = intervals((2 * one - 1)[None, :])
    assert high[0] > 1.7
    assert found.low == max(-1.0, low[0])
    assert found.high == 1.0
