"""Bounds of an estimate keep to what a mean or a difference of NDCG can be."""

from harness.ordering.firmness import Span


def test_bounds_end_where_the_quantity_does():
    assert Span(0.4, -2.0, 1.5).within(0.0, 1.0) == Span(0.4, 0.0, 1.0)
    assert Span(0.4, 0.3, 0.5).within(0.0, 1.0) == Span(0.4, 0.3, 0.5)
    # an estimate that corrects for the draws may leave the range itself; its bounds do not
    assert Span(1.1, 1.05, 1.2).within(0.0, 1.0) == Span(1.1, 1.0, 1.0)
    assert Span(0.4, None, None).within(0.0, 1.0) == Span(0.4, None, None)
