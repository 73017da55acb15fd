from itertools import product

import numpy as np
import pytest

from harness.comparison import Interval, bootstrap, jackknife
from harness.comparison.stats import sign_flips
from tests.stats.rows import guarded


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


def test_the_bootstrap_draws_queries_with_replacement():
    # 40 queries, half of them 0 and half 1: a standard error of 0.5 / sqrt(40) = 0.079
    values = (np.arange(40) % 2).astype(float)
    found = bootstrap(lambda queries: float(values[queries].mean()), 40, 500, 1)
    assert found.value == 0.5
    assert 0.25 < found.high - found.low < 0.38
    assert bootstrap(lambda queries: float(values[queries].mean()), 40, 500, 1) == found


def test_draws_without_a_value_are_left_out():
    values = np.array([0.25, np.nan, 0.5])
    found = bootstrap(lambda queries: float(values[queries].mean()), 3, 200, 0)
    assert np.isnan(found.value)
    assert 0.25 <= found.low <= found.high <= 0.5
    assert bootstrap(lambda queries: float("nan"), 3, 20, 0).low is None


def test_the_jackknife_leaves_out_whole_queries():
    # Of a mean of query means it is their own interval; near 0 Fisher's scale changes next to nothing.
    rng = np.random.default_rng(5)
    means = rng.normal(0, 0.05, 12)
    values = np.repeat(means, 30)
    found = jackknife(lambda rows: float(values[rows].mean()), np.repeat(np.arange(12), 30))
    low, high = guarded(means[None], 0.025)
    assert found.value == pytest.approx(means.mean())
    assert (found.low, found.high) == (pytest.approx(low[0], abs=2e-4), pytest.approx(high[0], abs=2e-4))


@pytest.mark.parametrize(("queries", "bounded"), [(2, False), (3, True)])
def test_the_jackknife_has_bounds_from_three_queries_on(queries, bounded):
    values = np.arange(queries * 4) / 40
    found = jackknife(lambda rows: float(values[rows].mean()), np.repeat(np.arange(queries), 4))
    assert (found.low is not None and found.low < found.value < found.high) is bounded


def test_an_estimate_without_bounds_says_so():
    assert str(Interval(0.4, 0.3, 0.5)) == "0.400 [0.300, 0.500]"
    assert str(Interval(0.4)) == "0.400 [no interval]"
    assert str(Interval()) == "–"


def test_without_mirrored_patterns_each_stands_for_its_opposite():
    (half,), count, complete = sign_flips(5, 1_000, 0, mirrored=False)
    assert (count, complete, half.shape) == (16, True, (16, 5))
    every = {tuple(row) for row in np.concatenate([half, -half])}
    assert every == {tuple(row) for block in sign_flips(5, 1_000, 0)[0] for row in block}
    assert len(every) == 32
