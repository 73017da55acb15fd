import numpy as np
import pytest

from harness.comparison import Options
from harness.comparison.conclusions import needed_for
from harness.comparison.paired import cohen_dz, win_tie_loss
from harness.values.errors import HarnessError
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


def test_queries_needed_by_hand():
    # 50 queries with an error of 0.02, a critical value of 2: 50 · ((2 + 0.8416) · 0.02 / 0.05)² = 64.6
    needed = needed_for(0.05, 0.02, 50, 2.0, 50)
    assert needed.queries == 65
    # a variance with 49 degrees of freedom: chi-square at 0.975 and 0.025 is 70.22 and 31.55
    assert (needed.low, needed.high) == (int(64.6 * 49 / 70.22) + 1, int(64.6 * 49 / 31.55) + 1)
    assert needed_for(0.05, 0.0, 50, 2.0, 50) is None
    assert needed_for(1e-6, 0.02, 50, 2.0, 50) is None


def test_undefined_queries_are_left_out_and_one_alone_gives_no_interval_and_no_p():
    found = compare_pair("a", np.array([0.5, np.nan, 0.2]), "b", np.array([0.1, np.nan, 0.2]))
    assert (found.n, found.mean, found.mean_against) == (2, 0.35, pytest.approx(0.15))
    assert (found.wins, found.ties, found.losses, found.difference) == (1, 1, 0, pytest.approx(0.2))
    with pytest.raises(HarnessError, match="No query has a value"):
        compare_pair("a", np.array([np.nan]), "b", np.array([np.nan]))
    found = compare_pair("a", np.array([0.5]), "b", np.array([0.1]), Options())
    assert (found.low, found.high, found.d_z, found.p) == (None, None, None, 1.0)
