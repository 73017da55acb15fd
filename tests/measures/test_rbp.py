"""Rank-biased precision and its residual."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measures import parse_measure
from tests.measures.build import grid, span, value

A, B, C, D = grid("d", 10, 4)
JUDGED = [span("q", "d", 0, 10, 1), span("q", "d", 20, 30, 2), span("q", "d", 30, 40, 0)]


def test_golden_values():
    # A (grade 1), B (unjudged), C (grade 2), D (grade 0): (1 - 0.8) * (1 + 0.8^2) = 0.328. The same by the
    # C/W/L framework, which ir_measures takes RBP from (Moffat, Bailey, Scholer and Thomas, TOIS 2017): the
    # weights of ranks are W = C^(i-1) / sum_j C^(j-1) with C = p, so 1 - p, (1 - p) p, ...; RBP is W . r.
    assert value("rbp", [A, B, C, D], JUDGED, [A, B, C, D]) == pytest.approx(0.328, abs=1e-12)
    # p = 0.5: 0.5 * (1 + 0.25) = 0.625; from grade 2 up 0.125; the first two ranks 0.5
    assert value("rbp(p=0.5)", [A, B, C, D], JUDGED, [A, B, C, D]) == pytest.approx(0.625, abs=1e-12)
    assert value("rbp(p=0.5,rel=2)", [A, B, C, D], JUDGED, [A, B, C, D]) == pytest.approx(0.125, abs=1e-12)
    assert value("rbp(p=0.5)@2", [A, B, C, D], JUDGED, [A, B, C, D]) == pytest.approx(0.5, abs=1e-12)
    # unknown are B, 0.5 * 0.5, and all that follows: 0.5^4 after four ranks, 0.5^2 after two
    assert value("rbp_residual(p=0.5)", [A, B, C, D], JUDGED, [A, B, C, D]) == pytest.approx(
        0.3125, abs=1e-12
    )
    assert value("rbp_residual(p=0.5)@2", [A, B, C, D], JUDGED, [A, B, C, D]) == pytest.approx(0.5, abs=1e-12)
    assert value("rbp_residual", None, JUDGED, [A, B, C, D]) == 1.0
    assert value("rbp", None, JUDGED, [A, B, C, D]) == 0.0


def test_names():
    assert str(parse_measure("rbp(p=0.8)")) == "rbp"
    assert str(parse_measure("rbp(p=.95, rel=2)@20")) == "rbp(p=0.95,rel=2)@20"
    for wrong in ("1", "0", "0.0", "1.5", "-0.5", "nan", "8e-1", "x", ""):
        with pytest.raises(ValueError, match="p must be above 0 and below 1"):
            parse_measure(f"rbp(p={wrong})")


@given(
    st.lists(st.sampled_from([None, 0, 1, 3]), max_size=8),
    st.lists(st.integers(0, 4), min_size=30),
    st.sampled_from(["0.3", "0.8"]),
)
def test_no_grades_of_what_is_unknown_exceed_the_residual(grades, drawn, p):
    chunks = grid("d", 10, 30)
    judged = [span("q", "d", 0, 1, 1)]  # so that it is defined, under every grading
    judged += [
        span("q", "d", c.start + 1, c.end, g)
        for c, g in zip(chunks[1:], grades, strict=False)
        if g is not None
    ]
    ranked = chunks[1 : 1 + len(grades)]
    both = [value(f"{name}(p={p})", ranked, judged, chunks) for name in ("rbp", "rbp_residual")]
    known = {j.start // 10 for j in judged}
    graded = [span("q", "d", 10 * i + 1, 10 * i + 10, drawn[i]) for i in range(1, 30) if i not in known]
    assert value(f"rbp(p={p})", chunks[1:], [*judged, *graded], chunks) <= sum(both) + 1e-12
    assert 0 <= both[0] <= sum(both) <= 1 + 1e-12
    assert np.isfinite(both).all()
