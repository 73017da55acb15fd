"""The cost of judging a setting, alone and where its pairs are shared."""

import numpy as np

from harness.running.judging.pool import cost_by_setting


def test_cost_per_setting():
    costs = np.array([1.0, 2.0, 4.0, np.nan])
    found = cost_by_setting(costs, {"A": [0, 1], "B": [1, 2, 2], "C": [3], "D": []})
    # pair 1 is shared: A pays 1 + 2/2, B pays 2/2 + 4
    assert (found["A"].alone, found["A"].shared) == (3.0, 2.0)
    assert (found["B"].alone, found["B"].shared) == (6.0, 5.0)
    assert np.isnan([found["C"].alone, found["C"].shared]).all(), "unknown is not zero"
    assert (found["D"].alone, found["D"].shared) == (0.0, 0.0)
