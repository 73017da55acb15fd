from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from harness.compare import Options, compare_pair, randomisation_test
from harness.compare.effect import cohen_dz, dominance, win_tie_loss
from harness.compare.power import needed_for
from harness.stats.interval import guarded, hall, intervals, skewness
from harness.stats.resample import bootstrap_means, sign_flips

DIFFERENCES = np.array([0.3, -0.1, 0.0, 0.2, 0.5, 0.1, -0.2, 0.4, 0.0, 0.25, 0.15, 0.05])
scores = arrays(np.float64, st.integers(2, 30), elements=st.floats(-1, 1).map(lambda x: round(x, 2)))


def brute_p(differences, mid):
    """All sign patterns, one by one."""
    observed = abs(differences.mean())
    flipped = [abs(np.mean(differences * signs)) for signs in product((1, -1), repeat=len(differences))]
    above = sum(f > observed + 1e-12 for f in flipped)
    equal = len(flipped) - above - sum(f < observed - 1e-12 for f in flipped)
    return (above + equal * (0.5 if mid else 1)) / len(flipped)


@pytest.mark.parametrize("mid", [True, False])
def test_few_queries_are_tested_exactly(mid):
    # the queries that do not differ change nothing, and are left out
    assert randomisation_test(DIFFERENCES, mid=mid) == pytest.approx(brute_p(DIFFERENCES, mid), abs=1e-12)


def test_the_exact_test_agrees_with_scipy():
    expected = stats.permutation_test(
        (DIFFERENCES,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    assert randomisation_test(DIFFERENCES, mid=False) == pytest.approx(expected.pvalue, abs=1e-12)


def test_two_queries_by_hand():
    # 0.1 and 0.3: the four means are ±0.2 and ±0.1; 0.2 is reached by two of them, exceeded by none
    assert randomisation_test(np.array([0.1, 0.3]), mid=False) == 0.5
    assert randomisation_test(np.array([0.1, 0.3])) == 0.25
    assert randomisation_test(np.array([0.1, 0.3]), alternative="greater", mid=False) == 0.25


def test_many_queries_are_tested_by_random_patterns_that_come_near():
    rng = np.random.default_rng(5)
    many = rng.normal(0.03, 0.2, 150)
    t = stats.ttest_1samp(many, 0).pvalue
    assert randomisation_test(many, resamples=40_000) == pytest.approx(t, abs=0.01)
    assert randomisation_test(many, seed=1) == randomisation_test(many, seed=1)
    assert randomisation_test(many + 10) > 0


def test_nothing_differs():
    assert randomisation_test(np.zeros(30)) == 1.0
    assert randomisation_test(np.array([np.nan, 0.0])) == 1.0


@settings(deadline=None)
@given(scores)
def test_the_test_is_symmetric_and_blind_to_scale(differences):
    p = randomisation_test(differences, resamples=200)
    assert 0 < p <= 1
    assert randomisation_test(-differences, resamples=200) == p
    assert randomisation_test(4 * differences, resamples=200) == p


def test_sign_patterns_are_complete_where_few_and_start_with_the_data():
    blocks, count, complete = sign_flips(3, 1000, 0)
    patterns = np.concatenate(list(blocks))
    assert (count, complete) == (8, True)
    assert {tuple(row) for row in patterns} == set(product((1.0, -1.0), repeat=3))
    assert patterns[0].tolist() == [1, 1, 1]


def test_random_sign_patterns_are_fair_and_repeatable():
    blocks, count, complete = sign_flips(37, 20_000, 4)
    patterns = np.concatenate(list(blocks))
    assert (patterns.shape, count, complete) == ((20_000, 37), 20_000, False)
    assert np.abs(patterns.mean(axis=0)).max() < 0.03
    assert np.abs(np.corrcoef(patterns.T) - np.eye(37)).max() < 0.04
    again = np.concatenate(list(sign_flips(37, 20_000, 4)[0]))
    np.testing.assert_array_equal(again, patterns)


def test_bootstrap_means_are_means_of_n_draws():
    values = np.array([[0.0, 1.0, 0.0, 0.0], [4.0, 4.0, 4.0, 4.0]])
    means = bootstrap_means(values, 50_000, 1)
    # one of four queries scores 1: its count is binomial(4, 1/4)
    shares = np.bincount((means[:, 0] * 4).round().astype(int), minlength=5) / 50_000
    np.testing.assert_allclose(shares, stats.binom.pmf(range(5), 4, 0.25), atol=0.01)
    np.testing.assert_allclose(means[:, 1], 4.0)


def test_undefined_scores_must_be_left_out_before():
    with pytest.raises(ValueError, match="NaN"):
        bootstrap_means(np.array([[0.1, np.nan]]), 10, 0)


def test_the_t_interval_is_scipys():
    low, high = intervals(DIFFERENCES[None, :], 0.9, "t")
    expected = stats.ttest_1samp(DIFFERENCES, 0).confidence_interval(0.9)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_agree_with_scipy(method):
    skewed = np.random.default_rng(2).exponential(0.2, 40)
    low, high = intervals(skewed[None, :], 0.95, method, resamples=60_000, seed=3)
    expected = stats.bootstrap(
        (skewed,), np.mean, method=method, n_resamples=60_000, rng=np.random.default_rng(4)
    ).confidence_interval
    width = expected.high - expected.low
    assert low[0] == pytest.approx(expected.low, abs=0.015 * width)
    assert high[0] == pytest.approx(expected.high, abs=0.015 * width)


def test_halls_interval_solves_its_equation():
    rows = np.random.default_rng(6).exponential(1.0, (3, 25))
    n, skew = 25, skewness(rows)
    for bound, x in zip(hall(rows, 0.025), (1, -1), strict=True):
        t = (rows.mean(axis=1) - bound) / (rows.std(axis=1, ddof=1) / np.sqrt(n))
        transformed = t + skew * t**2 / (3 * np.sqrt(n)) + skew**2 * t**3 / (27 * n) + skew / (6 * np.sqrt(n))
        np.testing.assert_allclose(transformed, x * stats.t.ppf(0.975, n - 1), rtol=1e-9)


def test_without_skewness_halls_interval_is_students():
    symmetric = np.array([[-0.2, -0.1, 0.0, 0.1, 0.2]])
    np.testing.assert_allclose(hall(symmetric, 0.025), intervals(symmetric, 0.95, "t"), atol=1e-9)


@settings(deadline=None)
@given(scores)
def test_the_guarded_interval_holds_the_mean_and_mirrors(differences):
    low, high = guarded(differences[None, :], 0.025)
    assert low[0] <= differences.mean() + 1e-12
    assert high[0] >= differences.mean() - 1e-12
    mirrored_low, mirrored_high = guarded(-differences[None, :], 0.025)
    np.testing.assert_allclose((-mirrored_high[0], -mirrored_low[0]), (low[0], high[0]), atol=1e-9)


def test_intervals_of_one_query_and_of_no_spread():
    assert np.isnan(intervals(np.array([[0.3]]))).all()
    for method in ("guarded_t", "t", "percentile", "bca"):
        np.testing.assert_allclose(intervals(np.full((1, 9), 0.1), method=method), 0.1)


@pytest.mark.parametrize(("level", "method"), [(1.0, "t"), (0.0, "t"), (0.95, "median")])
def test_intervals_that_cannot_be_are_refused(level, method):
    with pytest.raises(ValueError, match=r"level|method"):
        intervals(np.zeros((1, 3)), level, method)


def test_effects_by_hand():
    rows = np.array([[0.2, 0.0, -0.1, 0.3], [0.0, 0.0, 0.0, 0.0], [0.1, 0.1, 0.1, 0.1]])
    wins, ties, losses = win_tie_loss(rows)
    assert (wins.tolist(), ties.tolist(), losses.tolist()) == ([2, 0, 4], [1, 4, 0], [1, 0, 0])
    assert [c.tolist() for c in win_tie_loss(rows, 0.15)] == [[2, 0, 0], [2, 4, 4], [0, 0, 0]]
    assert dominance(rows).tolist() == [0.25, 0, 1]
    # mean 0.1; deviations 0.1 -0.1 -0.2 0.2: variance 0.1 / 3
    assert cohen_dz(rows)[0] == pytest.approx(0.1 / np.sqrt(0.1 / 3))
    assert cohen_dz(rows)[1] == 0
    assert np.isnan(cohen_dz(rows)[2])


def test_queries_needed_by_hand():
    # 50 queries with an error of 0.02, a critical value of 2: 50 · ((2 + 0.8416) · 0.02 / 0.05)² = 64.6
    needed, low, high = needed_for(0.05, 0.02, 50, 2.0, 50)
    assert needed == 65
    # a variance with 49 degrees of freedom: chi-square at 0.975 and 0.025 is 70.22 and 31.55
    assert (low, high) == (int(64.6 * 49 / 70.22) + 1, int(64.6 * 49 / 31.55) + 1)
    assert needed_for(0.05, 0.0, 50, 2.0, 50) is None
    assert needed_for(1e-6, 0.02, 50, 2.0, 50) is None


def test_a_comparison_tells_all():
    rng = np.random.default_rng(9)
    baseline = rng.random(40)
    better = np.minimum(baseline + rng.choice([0, 0, 0.1, 0.3], 40), 1)
    found = compare_pair("new", better, "old", baseline)
    assert found.difference == pytest.approx(found.mean - found.mean_against)
    assert found.low < found.difference < found.high
    assert found.wins + found.ties + found.losses == found.n == 40
    assert found.losses == 0
    assert found.p < 0.001
    assert found.real


def test_a_comparison_leaves_undefined_queries_out():
    found = compare_pair("a", np.array([0.5, np.nan, 0.2]), "b", np.array([0.1, 0.9, 0.2]))
    assert (found.n, found.mean, found.mean_against) == (2, 0.35, pytest.approx(0.15))
    with pytest.raises(ValueError, match="no query with a score in common"):
        compare_pair("a", np.array([np.nan]), "b", np.array([1.0]))


def test_a_single_query_says_what_it_cannot():
    found = compare_pair("a", np.array([0.5]), "b", np.array([0.1]), Options())
    assert (found.low, found.high, found.d_z, found.p) == (None, None, None, 1.0)
