"""Workbooks become text, a sheet a page; offsets count that text."""

import re
import zipfile
from datetime import date, datetime, time

import pytest

from harness.data.corpus.documents import DocumentFile
from harness.data.corpus.parse import parse_document
from harness.data.corpus.parsers.pypdf import PypdfConfig
from harness.data.corpus.workbook import read_workbook
from harness.steps.chunk import chunk_documents
from harness.steps.chunk.rows import RowsConfig
from harness.values.errors import CorpusError

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
