"""The cost of judging a setting, alone and where its pairs are shared."""

import numpy as np

from harness.report import CostRow
from harness.running.judging.pool import cost_rows


def test_cost_per_setting():
    costs = np.array([1.0, 2.0, 4.0, np.nan])
    # pair 1 is shared: A pays 1 + 2/2, B pays 2/2 + 4; what is unknown is not zero
    assert cost_rows(costs, {"A": [0, 1], "B": [1, 2, 2], "C": [3], "D": []}) == [
        CostRow("A", 2, 3.0, 2.0),
        CostRow("B", 3, 6.0, 5.0),
        CostRow("C", 1, None, None),
        CostRow("D", 0, 0.0, 0.0),
    ]
