"""Workbooks become text, a sheet a page; offsets count that text."""

import re
import zipfile
from datetime import date, datetime, time

import pytest

from harness.data import DocumentFile, PypdfConfig, SplitConfig, parse_document, read_labels, read_queries
from harness.data.corpus.workbook import read_workbook
from harness.steps import CHUNKERS, chunk_documents
from harness.values import CorpusError

RowsConfig = CHUNKERS["rows"].config

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    prices = book.active
    prices.title = "Prices  2024"
    prices.append(["item", "price", "since"])
    prices.append(["coal", 4.5, date(2024, 1, 2)])
    prices.append([])
    prices.append(['2" pipe', 1200, datetime(2024, 1, 2, 3, 4)])
    prices.append(["tab\there", None, time(5, 6)])
    prices.append([])
    book.create_sheet("Empty")
    crew = book.create_sheet("Crew")
    crew.append(["name", True])
    crew.append(["Ada", "two\nlines"])
    path = tmp_path / "yard.xlsx"
    book.save(path)
    return path


def test_sheets_are_pages_of_tab_separated_rows_below_their_title(workbook):
    assert read_workbook(workbook) == [
        "Sheet: Prices 2024\n"
        "item\tprice\tsince\n"
        "coal\t4.5\t2024-01-02\n"
        "\n"
        '"2"" pipe"\t1200\t2024-01-02 03:04:00\n'
        '"tab\there"\t\t05:06:00\n',
        "",
        'Sheet: Crew\nname\tTrue\nAda\t"two\nlines"\n',
    ]


def test_a_workbook_is_a_document_and_its_rows_are_chunks(workbook):
    parsed = parse_document(DocumentFile("yard", workbook), PypdfConfig())
    document = parsed.document
    assert parsed.stats.pages == 3
    chunks = chunk_documents([document], RowsConfig())
    head = "Sheet: Prices 2024\nitem\tprice\tsince\n"
    assert [chunk.text for chunk in chunks] == [
        head + "coal\t4.5\t2024-01-02",
        head + '"2"" pipe"\t1200\t2024-01-02 03:04:00',
        head + '"tab\there"\t\t05:06:00',
        'Sheet: Crew\nname\tTrue\nAda\t"two\nlines"',
    ]
    assert [document.page_of(chunk.start) for chunk in chunks] == [1, 1, 1, 3]
    for chunk in chunks:
        assert chunk.text == "".join(document.text[start:end] for start, end in chunk.spans)


def test_a_workbook_without_text_is_reported(tmp_path):
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    with pytest.raises(CorpusError, match="the file holds no text"):
        parse_document(DocumentFile("e", tmp_path / "empty.xlsx"), PypdfConfig())


def test_whole_numbers_have_no_point_and_text_stays_as_it_is(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["1.0", "007", "a\rb\r\nc", 4.25])
    book.save(tmp_path / "plain.xlsx")
    # as programs write it that put every number down as a fraction
    path = with_sheet(tmp_path, lambda xml: xml.replace(b"<v>4.25</v>", b"<v>4.0</v>"))
    assert read_workbook(path) == ['Sheet: Sheet\n1.0\t007\t"a\nb\nc"\t4\n']


def test_a_formula_that_was_never_computed_is_no_empty_cell(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["total", "=1+1", None, "=2+2"])
    book.save(tmp_path / "plain.xlsx")
    with pytest.raises(CorpusError, match=r"formula in cell B1 of sheet 'Sheet' and 1 more has no value"):
        read_workbook(tmp_path / "plain.xlsx")

    # a spreadsheet program notes what it computed, an empty text too
    def calculate(xml):
        xml, changed = re.subn(rb"(<f>1\+1</f>)<v ?(/>|></v>)", rb"\1<v>2</v>", xml)
        assert changed == 1
        assert b'r="D1"' in xml
        return xml.replace(b'r="D1"', b'r="D1" t="str"')

    assert read_workbook(with_sheet(tmp_path, calculate)) == ["Sheet: Sheet\ntotal\t2\n"]


def with_sheet(folder, change):
    """The workbook ``plain.xlsx`` with the XML of its sheet changed."""
    path = folder / "changed.xlsx"
    with zipfile.ZipFile(folder / "plain.xlsx") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return path


def saved(folder, rows):
    """The workbook ``plain.xlsx`` of one sheet with these rows."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "plain.xlsx")
    return folder / "plain.xlsx"


def stale_dimension(xml):
    changed, count = re.subn(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', xml)
    assert count == 1
    return changed


def no_dimension(xml):
    changed, count = re.subn(rb"<dimension [^>]*/>", b"", xml)
    assert count == 1
    return changed


def reordered(pattern):
    """The sheet with all that matches ``pattern`` in the opposite order within what surrounds it."""

    def change(xml):
        parts = re.findall(pattern, xml)
        assert len(parts) > 1
        return xml.replace(b"".join(parts), b"".join(reversed(parts)))

    return change


ROW, ROWS = rb"<row .*?</row>", [["query_id", "text"], ["q1", "one"], ["q2", "two"], ["q3", "three"]]


def cells_reordered(xml):
    return re.sub(ROW, lambda row: reordered(rb"<c .*?</c>")(row[0]), xml)


def in_foreign_row(xml):
    """All cells within the first row element; their names say where they are."""
    first, *rest = re.findall(ROW, xml)
    cells = b"".join(re.findall(rb"<c .*?</c>", b"".join(rest)))
    return xml.replace(b"".join(rest), b"").replace(first, first.replace(b"</row>", cells + b"</row>"))


SHEETS = [stale_dimension, no_dimension, reordered(ROW), cells_reordered, in_foreign_row]


@pytest.mark.parametrize("change", SHEETS, ids=["stale", "none", "rows", "cells", "one row"])
def test_a_sheet_is_read_whole_whatever_it_declares_and_in_any_order(tmp_path, change):
    saved(tmp_path, ROWS)
    path = with_sheet(tmp_path, change)
    assert read_workbook(path) == ["Sheet: Sheet\nquery_id\ttext\nq1\tone\nq2\ttwo\nq3\tthree\n"]
    queries = read_queries(path, SplitConfig()).queries
    assert [query.query_id for query in queries] == ["q1", "q2", "q3"]


def test_labels_below_a_stale_dimension_are_all_read(tmp_path):
    saved(
        tmp_path, [["query_id", "document", "quote", "grade"], ["q1", "a", "coal", 3], ["q2", "a", "ore", 2]]
    )
    labels = read_labels(with_sheet(tmp_path, stale_dimension), lambda _: None)
    assert [(label.line, label.query_id, label.grade) for label in labels] == [(2, "q1", 3), (3, "q2", 2)]


def test_a_formula_beyond_the_dimension_counts_too(tmp_path):
    saved(tmp_path, [["total"], [None, "=1+1"]])
    with pytest.raises(CorpusError, match="formula in cell B2"):
        read_workbook(with_sheet(tmp_path, stale_dimension))


def test_fewer_cells_read_than_the_file_holds_are_a_fault_of_the_file(tmp_path):
    saved(tmp_path, ROWS)
    path = with_sheet(tmp_path, lambda xml: xml.replace(b'r="B3"', b'r="A3"'))
    with pytest.raises(CorpusError, match="holds 8 cells with a value, and 7 of them can be read"):
        read_workbook(path)
    with pytest.raises(CorpusError, match="two cells of one name"):
        read_queries(path, SplitConfig())


def test_cells_without_a_value_are_no_difference(tmp_path):
    saved(tmp_path, [["a", " ", '=""', True, 0, None, "x"], [], [" "], [date(2024, 1, 2), 4.5, "#N/A"]])
    path = with_sheet(tmp_path, lambda xml: xml.replace(b'r="C1"', b'r="C1" t="str"'))
    assert read_workbook(path) == ["Sheet: Sheet\na\t\t\tTrue\t0\t\tx\n\n\n2024-01-02\t4.5\t#N/A\t\t\t\t\n"]


def test_sheets_have_the_order_of_the_workbook_not_of_its_parts(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["second"])
    book.create_sheet("First").append(["first"])
    book.move_sheet("First", -1)
    book.save(tmp_path / "moved.xlsx")
    assert read_workbook(tmp_path / "moved.xlsx") == ["Sheet: First\nfirst\n", "Sheet: Sheet\nsecond\n"]


def test_a_far_cell_beside_many_rows_is_refused_before_memory_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.data.corpus.sheet_cells.MOST_CELLS", 100)
    saved(tmp_path, [[number] for number in range(50)])
    path = with_sheet(tmp_path, lambda xml: xml.replace(b'r="A1"', b'r="XFD1"'))
    with pytest.raises(CorpusError, match="16,384 columns wide"):
        read_workbook(path)
