"""An estimate without bounds invents none."""

from harness.comparison.stats import Interval


def test_an_estimate_without_bounds_says_so():
    assert str(Interval(0.4, 0.3, 0.5)) == "0.400 [0.300, 0.500]"
    assert str(Interval(0.4)) == "0.400 [no interval]"
