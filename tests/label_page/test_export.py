"""Labels come out as rows of a labels file, which the benchmark reads as it stands."""

import json

import pytest

from harness.data import AnchorConfig, anchor, read_labels
from harness.labels import add_rows, merged_rows, rater_rows
from tests.command import table
from tests.label_page.pools import DOCUMENTS, ITEMS, STRANGE, TEXTS, by

LYON, GRAZ, TABLE, CJK, CARS = ITEMS


@pytest.fixture
def grade(service):
    return lambda item, value, rater="Ada": service.rate(by(rater), item.item_id, "grade", value, 0)


@pytest.fixture
def mark(service):
    def mark(doc_id, words, value, name="", query="q1", rater="Ada"):
        start = TEXTS[doc_id].index(words)
        service.mark(by(rater), query, doc_id, start, start + len(words), words, value, evidence=name)

    return mark


def rows_of(service, rater=""):
    return {(row["document"], row["quote"]): row for row in merged_rows(service.state, rater).rows}


def test_what_is_exported_anchors_where_it_was_marked(service, grade, mark, tmp_path):
    grade(LYON, 3)
    grade(TABLE, 0)
    grade(CJK, 4)
    mark("strange", "𠮷野家", 2, "shop", "q2")
    mark("strange", "Head\r\nA first", 1)
    path = tmp_path / "out.csv"
    add_rows(path, merged_rows(service.state).rows)
    found = anchor(read_labels(path), DOCUMENTS, AnchorConfig()).judgments
    texts = {TEXTS[one.doc_id][one.start : one.end]: one.grade for one in found}
    assert texts == {LYON.text: 3, TABLE.text: 0, CJK.text: 4, "𠮷野家": 2, "Head\r\nA first": 1}
    passage = next(one for one in found if one.end - one.start == len(CJK.text))
    assert STRANGE[slice(*passage.answer)] == "𠮷野家"


def test_skipped_and_open_passages_have_no_row(service, grade):
    grade(LYON, 0)
    service.rate(by(), GRAZ.item_id, "skip", "cannot tell", 0)
    service.rate(by(), TABLE.item_id, "note", "words", 0)
    found = merged_rows(service.state)
    assert [(row["document"], row["grade"]) for row in found.rows] == [("plain", 0)]
    assert (found.open, found.skipped) == (0, 1)


def test_a_difference_has_no_row_until_it_is_resolved_and_each_rater_their_own(service, grade):
    for item, value, rater in ((LYON, 4, "Ada"), (LYON, 1, "Bob"), (GRAZ, 2, "Ada"), (GRAZ, 2, "Bob")):
        grade(item, value, rater)
    grade(TABLE, 0)
    found = merged_rows(service.state)
    assert [(row["judge"], row["grade"]) for row in found.rows] == [("Ada, Bob", 2), ("Ada", 0)]
    assert [row["settled"] for row in found.disputed] == ["Ada 4; Bob 1; open"]
    assert found.open == 1
    service.decide(by("Cleo"), LYON.item_id, 3, "")
    assert [(row["judge"], row["grade"], row["settled"]) for row in merged_rows(service.state).rows] == [
        ("Ada, Bob", 3, "Ada 4; Bob 1; decided by Cleo"),
        ("Ada, Bob", 2, "agreed"),
        ("Ada", 0, "one rater"),
    ]
    # what each had said stays theirs
    columns = ("judge", "start", "grade", "decided", "decided_by")
    found = [tuple(row.get(name) for name in columns) for row in rater_rows(service.state).rows]
    assert [row for row in found if row[1] != TABLE.start] == [
        ("Ada", LYON.start, 4, 3, "Cleo"),
        ("Ada", GRAZ.start, 2, None, None),
        ("Bob", LYON.start, 1, 3, "Cleo"),
        ("Bob", GRAZ.start, 2, None, None),
    ]
    assert {row["judge"] for row in rater_rows(service.state, "Bob").rows} == {"Bob"}
    assert [row["grade"] for row in merged_rows(service.state, "Bob").rows] == [1, 2]


def test_a_mark_in_a_passage_is_one_evidence_with_it_and_its_answer(service, grade, mark):
    grade(LYON, 4)
    grade(GRAZ, 1)
    mark("plain", "in Lyon was closed", 4)
    rows = rows_of(service)
    passage, marked = rows["plain", LYON.text], rows["plain", "in Lyon was closed"]
    assert passage["evidence"] == marked["evidence"] != ""
    assert passage["answer"] == "in Lyon was closed"
    assert marked["answer"] == ""
    assert rows["plain", GRAZ.text]["evidence"] == ""


def test_no_mark_is_the_answer_where_there_are_two_its_words_are_twice_or_the_text_is_irrelevant(
    service, grade, mark
):
    grade(LYON, 4)
    mark("plain", "in", 4, "short")
    assert LYON.text.count("in") > 1
    assert rows_of(service)["plain", LYON.text]["answer"] == ""
    mark("plain", "300 people", 3, "b")
    assert rows_of(service)["plain", LYON.text]["answer"] == ""
    grade(LYON, 0)
    row = rows_of(service)["plain", LYON.text]
    assert row["evidence"] == row["answer"] == ""


def test_one_name_joins_what_is_apart_and_marks_of_two_raters_that_overlap(service, mark):
    mark("plain", "closed in May", 4, "closure")
    mark("copy", "closed in May", 4, "closure")
    mark("plain", "was closed in May", 4, rater="Bob")
    mark("plain", "makes gears", 2, "gears")
    names = {key: row["evidence"] for key, row in rows_of(service).items()}
    assert names == {
        ("plain", "closed in May"): "closure",
        ("copy", "closed in May"): "closure",
        ("plain", "was closed in May"): "closure",
        ("plain", "makes gears"): "gears",
    }


def test_cells_that_a_spreadsheet_would_run_are_made_harmless(service, grade, tmp_path):
    grade(LYON, 3)
    service.rate(by(), LYON.item_id, "note", "=HYPERLINK(1)", 0)
    service.rate(by(), LYON.item_id, "evidence", "+cmd", 0)
    (row,) = rater_rows(service.state).rows
    add_rows(tmp_path / "ratings.csv", [row | {"query_id": "-q", "document": "@home"}])
    (rating,) = table(tmp_path / "ratings.csv")
    assert (rating["judge"], rating["grade"], rating["note"]) == ("Ada", "3", "'=HYPERLINK(1)")
    assert (rating["query_id"], rating["document"], rating["evidence"]) == ("'-q", "'@home", "'+cmd")
    (label,) = read_labels(tmp_path / "ratings.csv")
    assert (label.query_id, label.document, label.evidence) == ("-q", "@home", "+cmd")
    # JSON Lines are not opened by spreadsheets
    add_rows(tmp_path / "ratings.jsonl", [row | {"note": "a\ud800b"}])
    assert json.loads((tmp_path / "ratings.jsonl").read_text(encoding="utf-8"))["evidence"] == "+cmd"
