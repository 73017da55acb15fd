"""Golden answers in a cell: one text, or a JSON list of which any is right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.values import golden_answers, golden_cell


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ("  \n", ()),
        (" 14.50 crowns ", ("14.50 crowns",)),
        ('["14.50 crowns", " 14 crowns 50"]', ("14.50 crowns", "14 crowns 50")),
        ('["a", "a"]', ("a",)),
        ('["[]"]', ("[]",)),
        # what is no list of texts is a text
        ("[1, 2]", ("[1, 2]",)),
        ("[sic] so", ("[sic] so",)),
        ('{"a": 1}', ('{"a": 1}',)),
        *((cell, "blank entry, or none at all") for cell in ("[]", '["a", ""]', '[" "]')),
        *((cell, "a list of text and of something else") for cell in ('["a", 5]', '["a", null]')),
    ],
)
def test_cells(cell, answers):
    if isinstance(answers, tuple):
        assert golden_answers(cell) == answers
    else:
        with pytest.raises(ValueError, match=answers):
            golden_answers(cell)


@given(st.lists(st.text(min_size=1).filter(lambda t: t.strip() == t), unique=True, max_size=4))
def test_all_are_read_as_they_are_written(answers):
    assert golden_answers(golden_cell(tuple(answers))) == tuple(answers)
    # what spreadsheets show of a single one is the answer itself
    assert golden_cell(("a",)) == "a"
