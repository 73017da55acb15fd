import numpy as np
import pytest

from benchmarks.all_pairs import compare_all
from harness.comparison import Options, compare_changes, compare_to
from harness.values import HarnessError
from tests.compare.build import compare_pair

from .build import matrix, noisy

QUICK = Options(resamples=2_000)


def test_all_pairs_are_compared_once_better_against_worse():
    found = compare_all(noisy(40, (0.3, 0.6, 0.5)), QUICK)
    assert [(c.setting, c.against) for c in found] == [("b", "c"), ("b", "a"), ("c", "a")]
    assert all(c.difference >= 0 for c in found)
    assert {c.family for c in found} == {3}


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
    assert (found.p, found.low, found.high, found.wins) == (alone.p, alone.low, alone.high, alone.wins)


def test_a_larger_family_makes_nothing_clearer():
    scores = noisy(60, (0.5, 0.52, 0.55, 0.6, 0.5), seed=2)
    family = {(c.setting, c.against): c for c in compare_all(scores, QUICK)}
    for (one, other), found in family.items():
        alone = compare_pair(one, scores.row(one), other, scores.row(other), QUICK)
        # the flips of a family and of a pair are the same
        assert found.p >= alone.p
        assert found.low <= alone.low + 1e-12
        assert found.high >= alone.high - 1e-12


def test_many_pairs_give_the_same_in_blocks(monkeypatch):
    scores = noisy(30, (0.5, 0.52, 0.55, 0.6, 0.5), seed=2)
    whole = compare_all(scores, QUICK)
    monkeypatch.setattr("harness.comparison.stats.CACHE_CELLS", 70)
    assert compare_all(scores, QUICK) == whole


def test_what_never_differs_and_what_has_nothing_to_be_compared_with():
    (found,) = compare_all(matrix({"a": [0.5, 0.2, 0.9], "b": [0.5, 0.2, 0.9]}), QUICK)
    assert (found.difference, found.p, found.low, found.high, found.d_z) == (0, 1, 0, 0, 0)
    assert compare_all(matrix({"a": [0.5, 0.2]})) == []


def test_undefined_queries_leave_the_family():
    found = compare_all(matrix({"a": [0.5, np.nan, 0.3], "b": [0.2, np.nan, 0.1]}), QUICK)
    assert found[0].n == 2
    with pytest.raises(HarnessError, match="nothing to compare"):
        compare_all(matrix({"a": [np.nan], "b": [np.nan]}))


def test_settings_are_compared_with_themselves_before():
    before, after = noisy(40, (0.3, 0.6)), noisy(40, (0.5, 0.6), seed=0)
    found = compare_changes(before, after, QUICK)
    assert [(c.setting, c.against) for c in found] == [("a", "a"), ("b", "b")]
    assert found[0].difference == pytest.approx(0.2)
    assert (found[0].finding, found[1].finding) == ("real", "equivalent")
    assert compare_changes(matrix({"x": [1.0]}), matrix({"y": [1.0]}), QUICK) == []
    with pytest.raises(ValueError, match="same queries"):
        compare_changes(before, noisy(41, (0.5, 0.6)), QUICK)


def test_fewer_than_thirty_queries_find_nothing():
    few, enough = (noisy(n, (0.3, 0.9)) for n in (29, 30))
    assert [compare_all(m, QUICK)[0].finding for m in (few, enough)] == ["few", "real"]
    assert compare_all(few, QUICK)[0].p < 0.01
