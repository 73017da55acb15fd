"""Query files, the split by hash, and label files before anchoring."""

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data import LabelRow, SplitConfig, read_labels, read_queries
from harness.values import CorpusError, Query

HASH = SplitConfig()


def test_a_full_file(write):
    path = write(
        "q.csv",
        "query_id,text,split,answerable,type,answer\n"
        'q1,"What, when?",train,yes,fact,"two\nlines"\n'
        "\n"
        " q2 , Who? ,validation,no,,\n",
    )
    result = read_queries(path, HASH)
    assert result.queries == (
        Query("q1", "What, when?", "train", True),
        Query("q2", "Who?", "validation", False),
    )
    assert result.extras == {
        "q1": {"type": "fact", "answer": "two\nlines"},
        "q2": {"type": "", "answer": ""},
    }


def test_the_index_that_pandas_writes_is_no_column(write):
    queries = read_queries(write("q.csv", ",query_id,text\n0,q1,Who?\n1,q2,When?\n"), HASH).queries
    assert [(one.answerable, one.cluster) for one in queries] == [(True, ""), (True, "")]
    (label,) = read_labels(write("l.csv", ",query_id,document,grade,quote\n0,q1,a,3,Nobody\n"))
    assert (label.page, label.start, label.grade) == (None, None, 3)


def test_csv_and_jsonl_agree(write):
    rows = [
        {"query_id": "1", "text": "Größe?", "split": "train", "answerable": False},
        {"query_id": "2", "text": "汉字?", "split": "validation", "answerable": True},
    ]
    csv_path = write(
        "q.csv", "\ufeffquery_id,text,split,answerable\r\n1,Größe?,train,0\r\n2,汉字?,validation,1\r\n"
    )
    jsonl_path = write("q.jsonl", "\n".join(json.dumps(row) for row in rows) + "\n")
    assert read_queries(csv_path, None).queries == read_queries(jsonl_path, None).queries


def test_the_apostrophe_of_spreadsheets_is_no_part_of_a_question_or_an_answer(write):
    cells = "query_id,text,answer\nq1,'=SUM of what?,'-5 %\nq2,'twas when?,''tis\n"
    result = read_queries(write("q.csv", cells), HASH)
    assert [one.text for one in result.queries] == ["=SUM of what?", "'twas when?"]
    assert [result.extras[name]["answer"] for name in ("q1", "q2")] == ["-5 %", "''tis"]
    # JSON is run by no spreadsheet
    lines = write("q.jsonl", json.dumps({"query_id": "q1", "text": "'=SUM' is what?"}) + "\n")
    assert read_queries(lines, HASH).queries[0].text == "'=SUM' is what?"


@pytest.mark.parametrize(
    ("query_id", "split"), [("q1", "train"), ("q5", "train"), ("q8", "validation"), ("q10", "validation")]
)
def test_the_hash_split_is_fixed_for_ever(query_id, split):
    # The first byte of sha256sum of 7:q1 is c2, of 7:q5 57, of 7:q8 07, of 7:q10 1e; 0.3 is 4c.cc.
    assert HASH.split_of(query_id) == split


@given(st.text(min_size=1, max_size=20).filter(lambda s: s.isprintable()))
def test_the_hash_split_at_its_ends(query_id):
    assert SplitConfig(validation=0).split_of(query_id) == "train"
    assert SplitConfig(validation=1).split_of(query_id) == "validation"


def test_the_hash_split_has_about_the_share_asked_for():
    share = sum(HASH.split_of(f"query-{i}") == "validation" for i in range(2000)) / 2000
    assert abs(share - 0.3) < 0.04  # four standard deviations


def test_the_split_column_wins_over_the_config(write):
    path = write("q.csv", "query_id,text,split\nq1,x,train\n")
    assert read_queries(path, SplitConfig(validation=1)).queries[0].split == "train"


def test_no_split_anywhere_and_unknown_formats(write):
    with pytest.raises(
        CorpusError, match=r"no column 'split', and the configuration names no split.*by: hash"
    ):
        read_queries(write("q.csv", "query_id,text\nq1,x\n"), None)
    with pytest.raises(CorpusError, match=r"unknown table format '\.ods'.*\.csv, .*\.jsonl, \.xlsx"):
        read_queries(write("q.ods", "x"), HASH)


def test_all_ways_to_locate_a_passage(write):
    path = write(
        "labels.csv",
        "query_id,document,start,end,page,quote,grade,evidence,note,judge,answer\n"
        "q1,a.pdf,3,9,,,4,revenue,,, 39 717 \n"
        'q1,a.pdf,,,2,"two\nlines",3,,see table,ann,\n'
        "q1,b,,,7,,0,,,,\n"
        "q2,b,,,,anywhere,1,,,,\n",
    )
    row = partial(LabelRow, query_id="q1", document="a.pdf", source="labels.csv")
    assert read_labels(path) == [
        row(line=2, grade=4, start=3, end=9, evidence="revenue", answer="39 717", where=f"{path}, line 2"),
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
    # numbers of JSON
    path = write("l.jsonl", '{"query_id": 7, "document": "a", "page": 2, "grade": 4, "quote": null}\n')
    (row,) = read_labels(path)
    assert (row.line, row.query_id, row.document, row.grade, row.page) == (1, "7", "a", 4, 2)
