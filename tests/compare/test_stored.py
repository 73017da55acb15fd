"""The scores of a folder of results by a measure of answers."""

import numpy as np
import pytest

from harness.comparison import answers_to_take
from tests.command import table
from tests.test_compare_answers import write_answers


def test_where_less_is_better_each_value_is_what_is_left_of_1(tmp_path):
    noise = {"measures": ("noise",), "kinds": {"noise": "noise_sensitivity"}}
    folder = write_answers(tmp_path / "r", {"a": 0.6, "b": 0.4}, **noise)
    stored, measure = answers_to_take([folder], "noise")
    scores = stored[folder].matrix(measure)
    written = [row for row in table(folder / "answer_scores.csv") if row["setting"] == "a"]
    assert (measure, scores.measure) == ("noise", "1 - noise")
    assert scores.row("a") == pytest.approx(np.array([1 - float(row["value"]) for row in written]))
    # the mean noise of a is 0.6
    assert scores.row("a").mean() == pytest.approx(0.4, abs=0.02)
