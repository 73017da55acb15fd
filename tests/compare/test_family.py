import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import Options, best_set, compare_all, compare_pair, compare_to, holm
from harness.compare.best_set import being_best
from harness.compare.family import max_t
from harness.errors import HarnessError

from .build import matrix, noisy

QUICK = Options(resamples=2_000)


def test_holm_by_hand():
    # sorted 0.01 0.02 0.03 0.2: times 4, 3, 2, 1 is 0.04 0.06 0.06 0.2
    np.testing.assert_allclose(holm([0.02, 0.2, 0.01, 0.03]), [0.06, 0.2, 0.04, 0.06])
    assert holm([]).tolist() == []
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_lies_between_none_and_bonferroni(p):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(np.array(p) * len(p), 1) + 1e-12).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_all_pairs_are_compared_once_better_against_worse():
    found = compare_all(noisy(40, (0.3, 0.6, 0.5)), QUICK)
    assert [(c.setting, c.against) for c in found] == [("b", "c"), ("b", "a"), ("c", "a")]
    assert all(c.difference >= 0 for c in found)


def test_against_a_baseline_the_order_is_that_of_the_settings():
    found = compare_to(noisy(40, (0.3, 0.6, 0.5)), "b", QUICK)
    assert [(c.setting, c.against) for c in found] == [("a", "b"), ("c", "b")]
    assert all(c.difference < 0 for c in found)
    with pytest.raises(HarnessError, match="no setting 'z'"):
        compare_to(noisy(9, (0.3, 0.6)), "z")


def test_a_family_of_one_is_a_pair():
    scores = noisy(10, (0.5, 0.6), seed=3)
    (found,) = compare_to(scores, "a", QUICK)
    alone = compare_pair("b", scores.row("b"), "a", scores.row("a"), QUICK)
    assert found.p == pytest.approx(alone.p, abs=1e-12)
    assert (found.low, found.high, found.wins) == (alone.low, alone.high, alone.wins)
    # the family's p-value is exact and counts what equals the data in full
    assert found.p <= found.p_max <= 2 * found.p + 1e-12


def test_max_t_by_brute_force():
    values = noisy(8, (0.5, 0.6, 0.55), seed=1).values
    pairs = [(0, 1), (0, 2), (1, 2)]
    d = np.array([values[i] - values[j] for i, j in pairs])
    signs = np.array(np.meshgrid(*[[1, -1]] * 8)).reshape(8, -1).T
    statistic = np.abs(signs @ d.T) / 8 / np.sqrt((d**2).mean(axis=1))
    observed = np.abs(d.mean(axis=1)) / np.sqrt((d**2).mean(axis=1))
    expected = np.empty(3)
    largest_so_far = 0.0
    order = np.argsort(-observed)
    for place, pair in enumerate(order):
        rest = statistic[:, order[place:]].max(axis=1)
        largest_so_far = max(largest_so_far, np.mean(rest >= observed[pair] - 1e-12))
        expected[pair] = largest_so_far
    _, family = max_t(values, pairs, 10_000, 0)
    np.testing.assert_allclose(family, expected, atol=1e-12)


def test_corrections_never_lower_a_p_value():
    found = compare_all(noisy(60, (0.5, 0.52, 0.55, 0.6, 0.5), seed=2), QUICK)
    assert all(c.p <= c.p_max for c in found)
    assert all(c.p <= c.p_holm for c in found)


def test_many_pairs_give_the_same_in_blocks(monkeypatch):
    scores = noisy(30, (0.5, 0.52, 0.55, 0.6, 0.5), seed=2)
    whole = compare_all(scores, QUICK)
    monkeypatch.setattr("harness.compare.family.BLOCK_CELLS", 150)
    monkeypatch.setattr("harness.compare.family.CACHE_CELLS", 70)
    assert compare_all(scores, QUICK) == whole


def test_settings_that_never_differ():
    (found,) = compare_all(matrix({"a": [0.5, 0.2, 0.9], "b": [0.5, 0.2, 0.9]}), QUICK)
    assert (found.difference, found.p, found.p_holm, found.p_max) == (0, 1, 1, 1)
    assert (found.low, found.high, found.d_z, found.queries_needed) == (0, 0, 0, None)


def test_one_setting_alone_has_nothing_to_be_compared_with():
    assert compare_all(matrix({"a": [0.5, 0.2]})) == []


def test_undefined_queries_leave_the_family():
    found = compare_all(matrix({"a": [0.5, np.nan, 0.3], "b": [0.2, np.nan, 0.1]}), QUICK)
    assert found[0].n == 2
    with pytest.raises(HarnessError, match="nothing to compare"):
        compare_all(matrix({"a": [np.nan], "b": [np.nan]}))


def test_the_clearly_worse_are_ruled_out_and_the_tied_stay():
    found = best_set(noisy(80, (0.6, 0.3, 0.59, 0.61)), QUICK)
    assert set(found.contenders) == {"a", "c", "d"}
    assert found.ruled_out == ("b",)
    assert found.p[found.contenders[0]] == 1.0
    assert found.p["b"] <= 0.05


def test_a_pair_against_the_best_is_a_one_sided_wild_bootstrap():
    values = noisy(9, (0.5, 0.6), seed=5).values
    d = values[1] - values[0]
    signs = np.array(np.meshgrid(*[[1, -1]] * 9)).reshape(9, -1).T
    centred = d - d.mean()
    flipped = signs @ centred / 9
    t = flipped / np.sqrt((centred**2).mean() - flipped**2)
    expected = np.mean(t >= d.mean() / d.std() - 1e-12)
    np.testing.assert_allclose(being_best(values, 10_000, 0), [expected, 1.0], atol=1e-12)


def test_a_constant_lead_is_beyond_doubt():
    base = np.array([0.1, 0.5, 0.3, 0.2, 0.6])
    found = best_set(matrix({"a": base, "b": base + 0.1, "c": base + 0.1}), QUICK)
    assert set(found.contenders) == {"b", "c"}


def test_the_best_of_one_and_of_one_query():
    assert best_set(matrix({"a": [0.1, 0.2]})).contenders == ("a",)
    assert best_set(matrix({"a": [0.1], "b": [0.9]})).contenders == ("b", "a")
    with pytest.raises(HarnessError, match="No query has a value"):
        best_set(matrix({"a": [np.nan]}))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals_of_a_family_are_those_of_its_pairs(method):
    scores = noisy(25, (0.5, 0.6, 0.4), seed=8)
    options = Options(resamples=500, method=method)
    for found in compare_to(scores, "a", options):
        alone = compare_pair(found.setting, scores.row(found.setting), "a", scores.row("a"), options)
        assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=1e-12)
