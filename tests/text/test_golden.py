"""Golden answers in a cell: one text, or a JSON list of which any is right."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.values.columns import golden_answers, golden_cell


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ("  \n", ()),
        (" 14.50 crowns ", ("14.50 crowns",)),
        ('["14.50 crowns", " 14 crowns 50"]', ("14.50 crowns", "14 crowns 50")),
        ('["a", "a"]', ("a",)),
        # what is no list of texts is a text
        ("[1, 2]", ("[1, 2]",)),
        ("[sic] so", ("[sic] so",)),
        ('{"a": 1}', ('{"a": 1}',)),
    ],
)
def test_cells(cell, answers):
    assert golden_answers(cell) == answers


@pytest.mark.parametrize("cell", ["[]", '["a", ""]', '[" "]'])
def test_a_list_with_nothing_in_it_is_a_fault(cell):
    with pytest.raises(ValueError, match="blank entry, or none at all"):
        golden_answers(cell)


def test_a_list_of_text_and_more_is_a_fault():
    for cell in ('["a", 5]', '["a", null]'):
        with pytest.raises(ValueError, match="a list of text and of something else"):
            golden_answers(cell)


@given(st.lists(st.text(min_size=1).filter(lambda t: t.strip() == t), unique=True, max_size=4))
def test_all_are_read_as_they_are_written(answers):
    assert golden_answers(golden_cell(tuple(answers))) == tuple(answers)


def test_several_are_a_list_and_so_is_one_that_looks_like_a_list():
    assert json.loads(golden_cell(("a", "b"))) == ["a", "b"]
    assert golden_cell(("a",)) == "a"
    assert golden_cell(("[]",)) == '["[]"]'
    assert golden_answers('["[]"]') == ("[]",)
