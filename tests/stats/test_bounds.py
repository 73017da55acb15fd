"""Intervals hold what they should, and do not reach beyond what a measure can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from harness.comparison.paired import bounds_of_means
from harness.comparison.stats import (
    bounds_at,
    bounds_of_differences,
    hall_statistic,
    inverse_hall,
    student_tail,
    units_of,
    within,
)
from tests.compare.build import compare_pair
from tests.stats.rows import guarded, moments

scores = arrays(np.float64, st.integers(2, 30), elements=st.floats(-1, 1).map(lambda x: round(x, 2)))


def test_without_skewness_the_interval_is_students():
    symmetric = np.array([[-0.2, -0.1, 0.0, 0.1, 0.2]])
    low, high = guarded(symmetric, 0.05)
    expected = stats.ttest_1samp(symmetric[0], 0).confidence_interval(0.9)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high))


def test_halls_bound_solves_its_equation():
    mean, error, skew = moments(np.random.default_rng(6).exponential(1.0, (3, 25)))
    for x in (2.06, -2.06):
        t = inverse_hall(x, skew)
        # Hall, JRSS B 1992, with the skewness over √n
        np.testing.assert_allclose(t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6, x, rtol=1e-9)
        np.testing.assert_allclose(hall_statistic(t, skew), x, rtol=1e-9)
    assert (skew > 0).all()
    low, high = bounds_at(mean, error, skew, 2.06, np.inf)
    # on the long side Hall's is the wider, on the short one Student's
    np.testing.assert_allclose(high, mean - error * inverse_hall(-2.06, skew))
    np.testing.assert_allclose(low, mean - 2.06 * error)


def test_halls_bound_reaches_no_further_than_half_more_than_students():
    # at the critical value of a family 1 + skew (x - skew / 6) is near 0 and Hall's bound beyond all data
    skew = np.array([0.4, -0.4, 0.0])
    mean, error = np.zeros(3), np.ones(3)
    low, high = bounds_at(mean, error, skew, 6.0)
    assert (-inverse_hall(-6.0, skew[:1])).item() > 15
    np.testing.assert_allclose(high, [9.0, 6.0, 6.0])
    np.testing.assert_allclose(low, [-6.0, -9.0, -6.0])


def test_beyond_zero_an_interval_reaches_in_the_proportion_of_its_long_side():
    # 0.4 has Hall's bound beyond the limit of 1.5 · 4 = 6 standard errors above, and 4 below. A mean of 1 is
    # 1 from 0, and the other 3 below become 3 · 6 / 4 = 4.5. A mean of 5 does not go beyond 0.
    mean, skew = np.array([1.0, 5.0, 1.0, -1.0]), np.array([0.4, 0.4, 0.0, 0.4])
    assert -inverse_hall(-4.0, skew[:1]) > 6
    low, high = bounds_of_differences(mean, np.ones(4), skew, 4.0)
    np.testing.assert_allclose(low, [-4.5, 1.0, -3.0, -5.0])
    # below 0 the long side is the one that goes beyond it
    np.testing.assert_allclose(high, [7.0, 11.0, 5.0, 5.0])
    mirrored_low, mirrored_high = bounds_of_differences(-mean, np.ones(4), -skew, 4.0)
    np.testing.assert_allclose((-mirrored_high, -mirrored_low), (low, high))
    unknown = bounds_of_differences(mean, np.ones(4), skew, np.inf)
    assert np.isnan(unknown).all()
    np.testing.assert_allclose(bounds_of_differences(mean[:1], np.zeros(1), np.zeros(1), 4.0), 1.0)


@settings(deadline=None)
@given(scores)
def test_the_guarded_interval_holds_the_mean_and_mirrors(differences):
    low, high = guarded(differences[None, :])
    assert low[0] <= differences.mean() + 1e-12
    assert high[0] >= differences.mean() - 1e-12
    mirrored_low, mirrored_high = guarded(-differences[None, :])
    np.testing.assert_allclose((-mirrored_high[0], -mirrored_low[0]), (low[0], high[0]), atol=1e-9)


def test_two_sided_p_values_are_students():
    t = np.array([0.0, 1.5, -2.5])
    np.testing.assert_allclose(student_tail(t, 9), 2 * stats.t.sf(np.abs(t), 9), rtol=1e-12)
    np.testing.assert_array_equal(student_tail(t, 0), 1.0)


def test_the_ends_of_intervals():
    # of one query there is none, and without spread no width
    assert np.isnan(bounds_of_means(np.array([[0.3]]), units_of((), 1), 0.95)).all()
    np.testing.assert_allclose(bounds_of_means(np.full((1, 9), 0.1), units_of((), 9), 0.95), 0.1)
    # a price has no upper end
    assert within(np.array([-5.0]), np.array([9000.0]), np.array([[100.0]]), 0.0) == (-5.0, 9000.0)


def test_the_mean_of_a_measure_is_not_below_zero():
    # mean 0.2, standard error 0.2, t(4) = 2.776: 0.2 ± 0.555 would begin below 0
    scores = np.array([[0.0, 0.0, 0.0, 0.0, 1.0]])
    low, high = guarded(scores)
    assert low[0] < 0
    low, high = within(low, high, scores, 0.0)
    assert low[0] == 0
    assert 0.75 < high[0] <= 1


def test_a_difference_stays_between_minus_one_and_one():
    # differences 1, 1, 1, 1, −1: mean 0.6, standard error 0.4, t(4) = 2.776, so t alone reaches 1.71
    one = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    found = compare_pair("a", one, "b", 1 - one)
    low, high = guarded((2 * one - 1)[None, :])
    assert high[0] > 1.7
    assert found.low == max(-1.0, low[0])
    assert found.high == 1.0
