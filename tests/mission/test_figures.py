"""The table of worked examples: it has what the documents that are tested state, and tests read it."""

import ast
import json
import math
import re
from pathlib import Path

import pytest

from tests.mission.figures import FIGURES, ROWS, to_four

HERE = Path(__file__).parent
# what an example says beside its figures: notes of whoever wrote it down, and sentences of the documents
WORDS = {
    *("note", "why", "similarity", "order", "right", "wrong", "refusals", "reference", "statements"),
    *("faithfulness_reply", "verdicts_reply", "precision_reply", "recall_reply"),
}


def leaves(value, place=()):
    """(place, value) of everything under an example; a list without objects is one value."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in WORDS:
                yield from leaves(part, (*place, key))
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        for at, part in enumerate(value):
            yield from leaves(part, (*place, str(at)))
    else:
        yield ".".join(place), value


def test_the_table_has_every_figure_of_the_examples_to_four_digits(mission_folder):
    examples = json.loads((mission_folder / "examples.json").read_text(encoding="utf-8"))
    stated = {
        (row_id, place): to_four(value)
        for row_id, example in examples.items()
        for place, value in leaves(example)
    }
    assert len(stated) > 40
    assert stated == FIGURES


def test_a_figure_is_listed_once_and_follows_from_what_stands_beside_it():
    assert len(FIGURES) == len(ROWS)
    worked = [row for row in ROWS if re.fullmatch(r"[\d\s.+/()log]+", row["from"])]
    assert len(worked) == 13
    for row in worked:
        # only figures and log2 are in it
        by_hand = eval(row["from"], {"__builtins__": {}, "log2": math.log2})
        digits = 2 if row["place"].endswith("printed") else 4
        assert round(by_hand, digits) == row["figure"], row["place"]


def test_every_figure_is_read_by_a_test():
    read = {
        tuple(ast.literal_eval(word) for word in call.args)
        for path in HERE.glob("test_*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "figure"
    }
    assert read == set(FIGURES)


def test_a_figure_that_differs_in_the_fourth_digit_is_another():
    assert to_four([0.76316, [0.7632], "0.76", 3]) == [0.7632, [0.7632], "0.76", 3]
    assert to_four(0.76314) != to_four(0.76316)


@pytest.mark.parametrize(
    ("example", "places"),
    [({"cases": [{"value": 1}]}, {"cases.0.value"}), ({"useful": [[1, 0], [0, 1]]}, {"useful"})],
)
def test_an_example_is_taken_apart_into_its_figures(example, places):
    assert {place for place, _ in leaves({**example, "note": "x"})} == places
