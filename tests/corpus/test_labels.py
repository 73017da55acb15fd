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


def test_a_missing_column_is_named_with_the_nearest(write):
    with pytest.raises(LabelError, match="no column 'grade'; rename 'Grade' to 'grade'"):
        read_labels(write("l.csv", "query_id,document,Grade\nq1,a,1\n"))
