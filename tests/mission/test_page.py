"""The worked examples of the documents have on docs/recipes.md the figures that come out."""

import ast
import re
from pathlib import Path

import pytest

from harness.measures import seed_ratio

PAGE = (Path(__file__).parent.parent.parent / "docs" / "recipes.md").read_text(encoding="utf-8")
SHARES = re.findall(r" ((?:[01] )+[01]),? makes? (\d\.\d\d)", PAGE)
RATIOS = re.findall(r"`seed_ratio\((\[[\d, ]+\]), (\[[\d, ]+\])\)`(?: is)? (\d\.\d{4})", PAGE)


@pytest.mark.parametrize(("verdicts", "value"), SHARES, ids=[verdicts.strip() for verdicts, _ in SHARES])
def test_a_share_of_verdicts_is_their_mean(verdicts, value):
    numbers = [int(verdict) for verdict in verdicts.split()]
    assert f"{sum(numbers) / len(numbers):.2f}" == value


@pytest.mark.parametrize(("predicted", "scores", "value"), RATIOS, ids=[value for *_, value in RATIOS])
def test_the_figure_of_the_recipe_for_a_10_k(predicted, scores, value):
    assert f"{seed_ratio(ast.literal_eval(predicted), ast.literal_eval(scores)):.4f}" == value


def test_the_page_has_every_example_with_a_figure():
    # faithfulness of three documents, and context recall of two; the query without an answer has no order
    assert [verdicts.split() for verdicts, _ in SHARES] == [
        ["1"] * 5,
        ["1", "0", "0"],
        ["0", "0", "1", "0"],
        ["1", "1", "1", "0", "0"],
        ["1", "0"],
        ["1", "0"],
    ]
    assert len(RATIOS) == 2
    assert seed_ratio([4, 3, 2, 1, 0], [0] * 5) == 0
