"""Label files, before anchoring."""

from functools import partial

from harness.data.corpus.anchoring import LabelRow, read_labels


def test_all_ways_to_locate_a_passage(write):
    path = write(
        "labels.csv",
        "query_id,document,start,end,page,quote,grade,evidence,note,judge\n"
        "q1,a.pdf,3,9,,,4,revenue,,\n"
        'q1,a.pdf,,,2,"two\nlines",3,,see table,ann\n'
        "q1,b,,,7,,0,,,\n"
        "q2,b,,,,anywhere,1,,,\n",
    )
    row = partial(LabelRow, query_id="q1", document="a.pdf", source="labels.csv")
    assert read_labels(path) == [
        row(line=2, grade=4, start=3, end=9, evidence="revenue", where=f"{path}, line 2"),
        row(
            line=3,
            grade=3,
            page=2,
            quote="two\nlines",
            note="see table",
            judge="ann",
            where=f"{path}, line 3",
        ),
        row(line=5, grade=0, document="b", page=7, where=f"{path}, line 5"),
        row(line=6, grade=1, query_id="q2", document="b", quote="anywhere", where=f"{path}, line 6"),
    ]


def test_the_column_answer(write):
    path = write("labels.csv", "query_id,document,page,grade,answer\nq1,a,2,4, 39 717 \n")
    assert read_labels(path)[0].answer == "39 717"


def test_jsonl_with_numbers(write):
    path = write("l.jsonl", '{"query_id": 7, "document": "a", "page": 2, "grade": 4, "quote": null}\n')
    (row,) = read_labels(path)
    assert (row.line, row.query_id, row.document, row.grade, row.page) == (1, "7", "a", 4, 2)
