import numpy as np
import pytest

from harness.measures import interval, mean_and_interval


def test_mean_and_interval_of_known_values():
    got = mean_and_interval(np.array([0.0, 1.0, np.nan]), seed=1)
    # resampled means of {0, 1} are 0, 1/2, 1 with shares 1/4, 1/2, 1/4
    assert (got.mean, got.low, got.high, got.n) == (0.5, 0.0, 1.0, 2)


def test_the_interval_is_about_that_of_the_normal_approximation():
    values = np.random.default_rng(0).normal(size=400)
    got = mean_and_interval(values, seed=3)
    half = 1.96 * values.std() / 20
    assert got.low == pytest.approx(values.mean() - half, abs=0.01)
    assert got.high == pytest.approx(values.mean() + half, abs=0.01)


def test_covers_the_true_mean_as_often_as_it_says():
    rng = np.random.default_rng(5)
    covered = 0
    for seed in range(300):
        got = mean_and_interval(rng.random(40), seed=seed, resamples=400)
        covered += got.low <= 0.5 <= got.high
    assert 0.90 <= covered / 300 <= 0.98


def test_nothing_and_one():
    assert mean_and_interval(np.array([]), seed=1) is None
    assert mean_and_interval(np.array([np.nan]), seed=1) is None
    one = mean_and_interval(np.array([0.25]), seed=1)
    assert (one.mean, one.low, one.high, one.n) == (0.25, None, None, 1)


def test_equal_values_have_no_width_and_seeds_repeat():
    same = mean_and_interval(np.full(7, 0.5), seed=1)
    assert same.low == same.high == 0.5
    values = np.arange(9.0)
    assert mean_and_interval(values, seed=2) == mean_and_interval(values, seed=2)
    assert mean_and_interval(values, seed=2) != mean_and_interval(values, seed=3)


def test_blocks_do_not_change_the_interval(monkeypatch):
    values = np.arange(9.0)
    whole = mean_and_interval(values, seed=2)
    monkeypatch.setattr(interval, "_BLOCK_DRAWS", 100)
    assert mean_and_interval(values, seed=2) == whole


@pytest.mark.parametrize("bad", [{"level": 1.0}, {"level": 0.0}, {"resamples": 0}])
def test_senseless_settings_are_refused(bad):
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        mean_and_interval(np.ones(3), seed=1, **bad)
