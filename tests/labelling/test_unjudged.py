"""Unjudged passages become a sheet, and its grades become labels that the next run counts."""

import csv
import shutil
from pathlib import Path

import pytest

from harness.labels import add_rows, write_sheet
from harness.labels.labelling.grading_sheet import COLUMNS, is_passage
from harness.report import cells_of
from harness.values import LabelError
from tests.command import exit_code, printed, refused, save_table, table

ADD = ("labels", "add", "sheet.csv", "--in", "my.yaml")
PLANTS = "=SUM of plants: Lyon was closed in May.\n\nThe plant in Graz makes gears. " + "It is old. " * 90
WORKERS = "The plant employs 400 people.\x07 The plant in Lyon employed 300 before it was closed in May."
TABLE = "Plant\tPeople\n" + "".join(f"Town {i}\t{i}00\n" for i in range(99)) + "Graz\t400\n"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A folder in which a benchmark was run."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "docs").mkdir()
    for name, text in {"plants.txt": PLANTS, "workers.txt": WORKERS, "table.tsv": TABLE}.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    (folder / "queries.csv").write_text(
        "query_id,text,split,answerable\nq1,Which plant was closed?,train,yes\n"
        "q2,How many people work in Graz?,validation,yes\nq3,Who closed the moon?,train,no\n"
    )
    (folder / "labels.csv").write_text(
        "query_id,document,quote,grade\nq1,plants,Lyon was closed in May.,4\n"
        "q2,workers,employs 400 people,1\n"
    )
    (folder / "my.yaml").write_text(
        "name: mine\ndocuments: docs/*\nqueries: queries.csv\nlabels: labels.csv\n"
        "retrieve: {kind: bm25, top_k: 10}\nmeasures: [ndcg_exp@10, judged@10]\n"
        "chunk:\n  - {kind: recursive_token, chunk_size: [60, 700], chunk_overlap: 0}\n  - {kind: rows}\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert exit_code("bench", "my.yaml") == 0
    return folder


@pytest.fixture
def corpus(ran, tmp_path, monkeypatch):
    """A copy of it."""
    shutil.copytree(ran, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged():
    """judged@10 by setting and query, of queries that have an answer."""
    return {
        (row["setting"], row["query_id"]): float(row["value"])
        for row in cells_of(Path("results/mine"), "per_query")
        if row["measure"] == "judged@10" and row["query_id"] != "q3"
    }


def sheet(path="sheet.csv", *more):
    assert exit_code("labels", "unjudged", "results/mine", "--output", path, *more) == 0
    return table(path)


def test_a_graded_sheet_makes_the_whole_top_judged(corpus, capsys):
    before = judged()
    assert min(before.values()) < 1
    rows = sheet()
    save_table("sheet.csv", [{**row, "grade": "2.0"} for row in rows], ";")
    assert f"{len(rows)} labels added." in printed(capsys, *ADD)
    assert exit_code("bench", "my.yaml") == 0
    after = judged()
    assert all(after[key] >= before[key] for key in before)
    assert set(after.values()) == {1.0}
    (corpus / "sheet.csv").unlink()
    output = printed(capsys, "labels", "unjudged", "results/mine", "--output", "sheet.csv")
    assert "The first 10 passages of every answerable query are judged." in output


def test_a_workbook_is_graded_as_well(corpus):
    openpyxl = pytest.importorskip("openpyxl")
    assert exit_code("labels", "unjudged", "results/mine", "--output", "sheet.xlsx") == 0
    book = openpyxl.load_workbook("sheet.xlsx")
    page = book.active
    names = [cell.value for cell in page[1]]
    for line in page.iter_rows(min_row=2):
        assert line[names.index("passage")].data_type == "s"
        line[names.index("grade")].value = 1
    book.save("sheet.xlsx")
    assert exit_code("labels", "add", "sheet.xlsx", "--in", "my.yaml") == 0
    assert exit_code("bench", "my.yaml") == 0
    assert set(judged().values()) == {1.0}


def test_each_passage_is_once_the_most_wanted_first(corpus):
    rows = sheet()
    keys = [(row["query_id"], row["document"], row["start"], row["end"]) for row in rows]
    assert len(set(keys)) == len(keys)
    order = [(-int(row["settings"]), int(row["best_rank"])) for row in rows]
    assert order == sorted(order)
    assert {row["query_id"] for row in rows} == {"q1", "q2"}
    assert all(row["grade"] == "" and row["question"] for row in rows)
    # the answer of q1 is a label already
    assert not [row for row in rows if row["query_id"] == "q1" and "Lyon was closed" in row["passage"][:60]]
    shallow = sheet("shallow.csv", "--top", "1")
    assert 0 < len(shallow) < len(rows)


def test_a_row_of_a_table_shows_its_heading(corpus):
    rows = [row for row in sheet() if row["document"] == "table" and "Graz" in row["passage"]]
    assert {row["above"] for row in rows} == {"Plant\tPeople"}
    assert not [row for row in rows if "People" in row["passage"]]


def test_nothing_is_added_twice_and_what_contradicts_is_refused(corpus, capsys):
    rows = [{**row, "grade": "0"} for row in sheet()]
    save_table("sheet.csv", rows)
    assert exit_code(*ADD) == 0
    before = (corpus / "labels.csv").read_bytes()
    assert f"0 labels added; {len(rows)} were there already." in printed(capsys, *ADD)
    save_table(
        "sheet.csv",
        [{**rows[0], "grade": "3"}, *rows[1:], {**rows[1], "grade": "9"}, {**rows[0], "grade": "0"}],
    )
    output = refused(capsys, *ADD)
    assert "the passage has grade 3 on line 2, and 0 here" in output
    assert "grade is '9'" in output
    save_table("sheet.csv", [{**rows[0], "grade": "3"}, *rows[1:]])
    output = refused(capsys, *ADD)
    assert "another grade in labels.csv" in output
    assert "line 4 says 0, not 3: " in output
    assert (corpus / "labels.csv").read_bytes() == before


def test_a_sheet_is_never_overwritten_and_needs_the_texts_of_the_run(corpus, capsys):
    sheet()
    assert "exists already" in refused(capsys, "labels", "unjudged", "results/mine", "--output", "sheet.csv")
    (corpus / "docs" / "plants.txt").write_text("Another text.")
    assert "made of other texts: plants" in refused(
        capsys, "labels", "unjudged", "results/mine", "--output", "other.csv"
    )


ROW = dict.fromkeys(("page", "evidence"), "") | {"query_id": "q", "document": "d", "quote": "a;b", "grade": 2}
ROW |= {"start": 1, "end": 5}


def test_rows_are_added_to_existing_ones(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("\ufeffquery_id;document;page;start;end;quote;grade\nq0;d;;1;2;x;1", encoding="utf-8")
    add_rows(path, [ROW])
    assert path.read_text(encoding="utf-8").splitlines()[1:] == ["q0;d;;1;2;x;1", 'q;d;;1;5;"a;b";2']
    assert path.read_text(encoding="utf-8").startswith("\ufeffquery_id;")


def test_columns_that_are_missing_come_last(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("query_id,document,grade,quote\nq0,d,1,x\n", encoding="utf-8")
    add_rows(path, [{**ROW, "evidence": "e"}])
    assert path.read_text(encoding="utf-8").splitlines() == [
        "query_id,document,grade,quote,page,start,end,evidence",
        "q0,d,1,x,,,,",
        "q,d,2,a;b,,1,5,e",
    ]


def test_json_lines_and_other_files(tmp_path):
    path = tmp_path / "labels.jsonl"
    add_rows(path, [ROW])
    assert path.read_text() == (
        '{"query_id": "q", "document": "d", "quote": "a;b", "grade": 2, "start": 1, "end": 5}\n'
    )
    (tmp_path / "labels.xlsx").touch()
    for name, remedy in (("labels.xlsx", "CSV UTF-8"), ("new.xlsx", "one of these endings")):
        with pytest.raises(LabelError, match=remedy):
            add_rows(tmp_path / name, [ROW])


def test_a_cell_that_was_cut_for_its_length_is_still_its_passage(tmp_path):
    text = "=" + "long row " * 5000
    row = dict.fromkeys(COLUMNS, "") | {"passage": text}
    write_sheet(tmp_path / "sheet.csv", [row])
    (written,) = csv.DictReader((tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline=""))
    cell = written["passage"]
    assert cell.startswith("'=long")
    assert len(cell) < 32_767
    assert is_passage(cell, text)
    assert not is_passage(cell, text.replace("row", "raw", 1))
