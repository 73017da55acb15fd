"""Unions and differences of character ranges, held against sets of characters."""

from hypothesis import given
from hypothesis import strategies as st

from harness.values import merge, outside

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda one: (one[0], one[0] + one[1])))


def characters(spans):
    return {at for start, end in spans for at in range(start, end)}


def test_ranges_that_touch_become_one():
    assert merge([(5, 7), (0, 3), (3, 4), (6, 9)]) == [(0, 4), (5, 9)]


@given(SPANS, SPANS)
def test_outside_is_the_difference_of_sets(spans, covered):
    spans = [span for span in spans if span[0] < span[1]]
    found = outside(spans, covered)
    assert characters(found) == characters(spans) - characters(covered)
    assert found == sorted(found)
    assert all(start < end for start, end in found)
