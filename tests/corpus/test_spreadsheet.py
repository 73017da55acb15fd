"""Queries and labels as spreadsheets save them are read, and what was unusual is said."""

import pytest
from openpyxl import Workbook

from harness.data import SplitConfig, read_labels, read_queries, read_utf8
from harness.values import CorpusError, LabelError

PLAIN = "query_id,document,page,quote,grade\nq1,a,3,net sales,4\nq2,b,,profit,2\n"
HEAD = ["query_id", "document", "page", "quote", "grade"]


def workbook(path, *records):
    """A workbook of one sheet, below the usual header."""
    book = Workbook()
    for record in (HEAD, *records):
        book.active.append(record)
    book.save(path)
    return path


def rows(path, note=lambda _: None):
    return [(r.line, r.query_id, r.document, r.page, r.quote, r.grade) for r in read_labels(path, note)]


@pytest.fixture
def plain(tmp_path):
    (tmp_path / "plain.csv").write_text(PLAIN)
    return rows(tmp_path / "plain.csv")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("l.csv", PLAIN.replace(",", ";").encode(), "semicolons"),
        ("l.csv", PLAIN.replace(",", "\t").encode("utf-16"), "UTF-16"),
        ("l.csv", b"\xef\xbb\xbf" + PLAIN.replace(",", ";").replace("\n", "\r\n").encode(), "semicolons"),
        ("l.tsv", PLAIN.replace(",", "\t").encode(), "tabs"),
        (
            "l.csv",
            PLAIN.replace("4\n", "4.0\n").replace("2\n", "2.00\n").replace(",3,", ",3.0,").encode(),
            "",
        ),
        ("l.csv", "".join(f"{line},,\n" for line in PLAIN.splitlines()).encode(), "empty columns at the end"),
        ("l.csv", (PLAIN + ",,,,\n,,,,\n").encode(), "2 empty rows"),
    ],
)
def test_a_file_of_excel_has_the_same_rows(plain, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    messages = []
    assert rows(tmp_path / name, messages.append) == plain
    assert said in " ".join(messages)
    assert bool(messages) == bool(said)


def test_the_line_that_declares_the_mark_is_no_header(plain, tmp_path):
    (tmp_path / "l.csv").write_text("sep=;\n" + PLAIN.replace(",", ";"))
    # every row stands a line further down
    assert rows(tmp_path / "l.csv") == [(line + 1, *rest) for line, *rest in plain]


def test_windows_encoding_is_read_and_noted(tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes("query_id;text\nq1;Umsätze – wie hoch?\n".encode("cp1252"))
    messages = []
    assert read_queries(path, SplitConfig(), messages.append).queries[0].text == "Umsätze – wie hoch?"
    assert any("Windows-1252" in line for line in messages)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gbk", "公司二零二三年的收入是多少"),
        ("cp1251", "какова выручка компании"),
        ("cp932", "売上高はいくらですか"),
    ],
)
def test_other_alphabets_are_not_taken_for_windows_letters(tmp_path, encoding, text):
    path = tmp_path / "q.csv"
    path.write_bytes(f"query_id,text\nq1,{text}\n".encode(encoding))
    with pytest.raises(CorpusError, match=r"q\.csv: byte 0x.* is not UTF-8 .* Save it as UTF-8"):
        read_queries(path, SplitConfig())


def test_the_header_ends_at_a_carriage_return(tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes(b"query_id,text\rq1,first; second; third; fourth\r")
    assert [one.text for one in read_queries(path, SplitConfig()).queries] == ["first; second; third; fourth"]


def test_a_workbook_is_read_from_its_first_sheet_that_holds_anything(plain, tmp_path):
    book = Workbook()
    book.create_sheet("grades")
    for record in [HEAD, ["q1", "a", 3, "net sales", 4.0], [None] * 5, ["q2", "b", None, "profit", 2]]:
        book["grades"].append(record)
    book.create_sheet("more").append(["x"])
    book.save(tmp_path / "l.xlsx")
    messages = []
    found = rows(tmp_path / "l.xlsx", messages.append)
    assert [row[1:] for row in found] == [row[1:] for row in plain]
    assert any("'grades'" in line and "1 more" in line for line in messages)


def test_a_fault_in_a_workbook_is_reported_by_the_row_of_its_sheet(tmp_path):
    records = ["q1", "a", None, "two\nlines", 4], [None] * 5, ["q2", "a", None, "x", 9]
    with pytest.raises(LabelError, match="line 4: grade is '9'"):
        read_labels(workbook(tmp_path / "l.xlsx", *records))


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("gb18030", "It looks like GB18030 or GBK (Chinese Windows): iconv -f GB18030 -t UTF-8 FILE > NEW"),
        ("utf-16", "It looks like UTF-16: iconv -f UTF-16 -t UTF-8 FILE > NEW"),
        ("cp1252", "Save it as UTF-8."),
    ],
)
def test_a_text_in_another_encoding_is_refused_with_the_likely_one(tmp_path, encoding, words):
    text = (
        "Le théâtre est fermé.\n" if encoding == "cp1252" else "第一章 总则\n本公司的年度报告如下，请查看。\n"
    )
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(CorpusError) as raised:
        read_utf8(path)
    assert str(raised.value).endswith(words)


def test_labels_whose_quotes_are_under_another_name_are_refused_with_it(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("query_id,document,text,grade\nq1,a.txt,some words,1\n")
    with pytest.raises(LabelError, match=r"the column 'text' is not read\. Rename it to 'quote'"):
        read_labels(path)
    # a row that says where its passage is needs no quote; a page alone is graded as a whole, which is told
    notes = []
    for name in ("text", "content"):
        path.write_text(f"query_id,document,page,{name},grade\nq1,a.pdf,2,some words,1\n")
        assert [row.page for row in read_labels(path, notes.append)] == [2]
        assert f"the column {name!r} is not read" in notes.pop()
    path.write_text("query_id,document,start,end,text,grade\nq1,a.pdf,0,9,some words,1\n")
    read_labels(path, notes.append)
    assert not notes


def test_all_faults_of_a_file_are_reported_together(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("query_id,document,page,quote,grade\nq1,a,,x,9\n,a,,x,1\nq3,a,,,1\nq4,a,,fine,1\n")
    with pytest.raises(LabelError) as raised:
        read_labels(path)
    shown = str(raised.value)
    assert shown.startswith("3 rows cannot be used:")
    for line, fault in ((2, "grade is '9'"), (3, "query_id is empty"), (4, "does not say what is graded")):
        assert f"line {line}: {fault}" in shown


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("Question ID,Doc,grade,quote", "rename 'Question ID' to 'query_id'; .*rename 'Doc' to 'document'"),
        ("query_id,document,grde,quote", "did you mean 'grde'"),
    ],
)
def test_columns_by_other_names_are_recognised(tmp_path, head, message):
    (tmp_path / "l.csv").write_text(head + "\nq1,a,1,x\n")
    with pytest.raises(LabelError, match=message):
        read_labels(tmp_path / "l.csv")
