from dataclasses import replace

import numpy as np
import pytest

from harness.comparison import Options
from harness.comparison.paired import cohen_dz, win_tie_loss
from harness.comparison.tables import difference_cells
from harness.values import HarnessError
from tests.compare.build import compare_pair


def test_effects_by_hand():
    rows = np.array([[0.2, 0.0, -0.1, 0.3], [0.0, 0.0, 0.0, 0.0], [0.1, 0.1, 0.1, 0.1]])
    wins, ties, losses = win_tie_loss(rows)
    assert (wins.tolist(), ties.tolist(), losses.tolist()) == ([2, 0, 4], [1, 4, 0], [1, 0, 0])
    assert [c.tolist() for c in win_tie_loss(rows, 0.15)] == [[2, 0, 0], [2, 4, 4], [0, 0, 0]]
    assert ((wins - losses) / rows.shape[1]).tolist() == [0.25, 0, 1]
    # mean 0.1; deviations 0.1 -0.1 -0.2 0.2: variance 0.1 / 3
    assert cohen_dz(rows)[0] == pytest.approx(0.1 / np.sqrt(0.1 / 3))
    assert cohen_dz(rows)[1] == 0
    assert np.isnan(cohen_dz(rows)[2])


def test_undefined_queries_are_left_out_and_one_alone_gives_no_interval_and_no_p():
    found = compare_pair("a", np.array([0.5, np.nan, 0.2]), "b", np.array([0.1, np.nan, 0.2]))
    assert (found.n, found.mean, found.mean_against) == (2, 0.35, pytest.approx(0.15))
    assert (found.wins, found.ties, found.losses, found.difference) == (1, 1, 0, pytest.approx(0.2))
    with pytest.raises(HarnessError, match="No query has a value"):
        compare_pair("a", np.array([np.nan]), "b", np.array([np.nan]))
    found = compare_pair("a", np.array([0.5]), "b", np.array([0.1]), Options())
    assert (found.low, found.high, found.d_z, found.p) == (None, None, None, 1.0)


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0009, "<0.001"), (0.001, "0.001"), (0.0236, "0.024"), (1.0, "1.000")]
)
def test_p_has_three_decimals_and_is_never_0(p, shown):
    one = compare_pair("b", [0.1, 0.4, 0.3], "a", [0.2, 0.2, 0.2])
    assert difference_cells(replace(one, p=p), 0.02)[2] == shown
