"""The benchmark of few and unequal documents computes what the harness does, for many worlds at once."""

from itertools import combinations

import numpy as np
import pytest

from benchmarks.compare_cells import FLIPS, LEVEL, SEED, Cell, Flipped, draw, units_in
from harness.comparison.joint_test import decide
from harness.comparison.regret import losses

CELLS = [
    Cell(6, "even", 8, "ties"),
    Cell(14, "Zipf", 8, "skewed"),
    Cell(8, "half on one", 2, "graded"),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_world_among_many_has_the_intervals_and_bounds_of_the_harness(cell):
    units, truth = units_in(cell), np.linspace(0, 0.08, cell.settings)
    assert len(cell.sizes) == cell.documents
    assert cell.sizes.sum() == 130
    rule = Flipped.of(units)
    values, _ = draw(cell, truth, 3, np.random.default_rng(1), units)
    pairs = [*combinations(range(cell.settings), 2)]
    first, second = np.array(pairs).T
    paired = rule.pairs(values, first, second)
    low, high = rule.intervals(paired)
    bounds = rule.bounds(paired, cell.settings)
    every = ~np.eye(cell.settings, dtype=bool)
    for world in range(3):
        found = decide(values[world], pairs, units, LEVEL, FLIPS, SEED)
        np.testing.assert_allclose(low[world], found.low, atol=1e-5)
        np.testing.assert_allclose(high[world], found.high, atol=1e-5)
        expected = losses(values[world], every, units, LEVEL, FLIPS, SEED)
        np.testing.assert_allclose(bounds[world], expected, atol=1e-5)
