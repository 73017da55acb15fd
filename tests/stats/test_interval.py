"""Bounds of an estimate keep to what a mean or a difference of NDCG can be, and none are invented."""

from harness.comparison.stats.intervals import Interval


def test_bounds_end_where_the_quantity_does():
    assert Interval(0.4, -2.0, 1.5).within(0.0, 1.0) == Interval(0.4, 0.0, 1.0)
    assert Interval(0.4, 0.3, 0.5).within(0.0, 1.0) == Interval(0.4, 0.3, 0.5)
    # an estimate that corrects for the draws may leave the range itself; its bounds do not
    assert Interval(1.1, 1.05, 1.2).within(0.0, 1.0) == Interval(1.1, 1.0, 1.0)
    assert Interval(0.4).within(0.0, 1.0) == Interval(0.4)


def test_an_estimate_without_bounds_says_so():
    assert str(Interval(0.4, 0.3, 0.5)) == "0.400 [0.300, 0.500]"
    assert str(Interval(0.4)) == "0.400 [no interval]"
