"""Wilson's interval, by published values and by its properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison.stats.intervals import wilson_interval


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 1998, table I, method 3 (score, no continuity correction)
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_values(successes, n, low, high):
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_holds_the_share_and_is_symmetric(drawn):
    successes, n = drawn
    low, high = wilson_interval(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
    assert low < high
    assert wilson_interval(n - successes, n) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (2, 1), (-1, 3)])
def test_invalid_counts_are_refused(successes, n):
    with pytest.raises(ValueError, match="is not a share"):
        wilson_interval(successes, n)
