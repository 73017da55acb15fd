"""Label files, before anchoring."""

import pytest

from harness.data.corpus.labels import LabelRow, read_labels
from harness.values.errors import LabelError


def test_all_ways_to_locate_a_passage(write):
    path = write(
        "labels.csv",
        "query_id,document,start,end,page,quote,grade,evidence,note,judge\n"
        "q1,a.pdf,3,9,,,4,revenue,,\n"
        'q1,a.pdf,,,2,"two\nlines",3,,see table,ann\n'
        "q1,b,,,7,,0,,,\n"
        "q2,b,,,,anywhere,1,,,\n",
    )
    assert read_labels(path) == [
        LabelRow(2, "q1", "a.pdf", 4, start=3, end=9, evidence="revenue", source="labels.csv"),
        LabelRow(
            3,
            "q1",
            "a.pdf",
            3,
            page=2,
            quote="two\nlines",
            note="see table",
            judge="ann",
            source="labels.csv",
        ),
        LabelRow(5, "q1", "b", 0, page=7, source="labels.csv"),
        LabelRow(6, "q2", "b", 1, quote="anywhere", source="labels.csv"),
    ]


def test_the_column_answer(write):
    path = write("labels.csv", "query_id,document,page,grade,answer\nq1,a,2,4, 39 717 \n")
    assert read_labels(path)[0].answer == "39 717"


def test_jsonl_with_numbers(write):
    path = write("l.jsonl", '{"query_id": 7, "document": "a", "page": 2, "grade": 4, "quote": null}\n')
    assert read_labels(path) == [LabelRow(1, "7", "a", 4, page=2, source="l.jsonl")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q1,a,,,1,x,5", "line 2: grade is '5'. Write an integer from 0 to 4"),
        ("q1,a,,,1,x,3.5", "line 2: grade is '3.5'"),
        ("q1,a,,,1,x,-1", "line 2: grade is '-1'"),
        ("q1,a,,,1,x,", "line 2: grade is ''"),
        ("q1,a,,,one,x,1", "line 2: page is 'one', not an integer of at least 1"),
        ("q1,a,,,0,x,1", "line 2: page is 0, the least is 1"),
        ("q1,a,5,,1,x,1", "line 2: start and end belong together"),
        ("q1,a,5,5,,,1", r"line 2: start 5 is not before end 5"),
        ("q1,a,-5,5,,,1", "line 2: start is '-5'"),
        ("q1,a,,,,  ,1", "line 2: does not say what is graded"),
        (",a,,,1,x,1", "line 2: query_id is empty"),
        ("q1,,,,1,x,1", "line 2: document is empty"),
        ("q1,a,,,1,x,1\nq1,a,,,1,x,2", "line 3: labels the same as line 2"),
    ],
)
def test_errors_name_line_and_column(write, row, message):
    path = write("l.csv", f"query_id,document,start,end,page,quote,grade\n{row}\n")
    with pytest.raises(LabelError, match=message):
        read_labels(path)


def test_a_missing_column_is_named_with_the_nearest(write):
    with pytest.raises(LabelError, match="no column 'grade'; rename 'Grade' to 'grade'"):
        read_labels(write("l.csv", "query_id,document,Grade\nq1,a,1\n"))
