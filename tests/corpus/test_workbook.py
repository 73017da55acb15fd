"""Workbooks become text, a sheet a page; offsets count that text."""

from datetime import date, datetime, time

import pytest

from harness.chunk import RowsConfig, chunk_documents
from harness.corpus import PypdfConfig, parse_documents
from harness.corpus.documents import DocumentFile
from harness.corpus.workbook import read_workbook
from harness.errors import CorpusError

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
        'Sheet: Crew\nname\tTrue\nAda\t"two\nlines"\n',
    ]


def test_a_workbook_is_a_document_and_its_rows_are_chunks(workbook):
    (parsed,), skipped = parse_documents([DocumentFile("yard", workbook)], PypdfConfig(), "fail")
    assert not skipped
    document = parsed.document
    assert parsed.stats.pages == 2
    chunks = chunk_documents([document], RowsConfig())
    head = "Sheet: Prices 2024\nitem\tprice\tsince\n"
    assert [chunk.text for chunk in chunks] == [
        head + "coal\t4.5\t2024-01-02",
        head + '"2"" pipe"\t1200\t2024-01-02 03:04:00',
        head + '"tab\there"\t\t05:06:00',
        'Sheet: Crew\nname\tTrue\nAda\t"two\nlines"',
    ]
    assert [document.page_of(chunk.start) for chunk in chunks] == [1, 1, 1, 2]
    for chunk in chunks:
        assert chunk.text == "".join(document.text[start:end] for start, end in chunk.spans)


def test_a_file_that_is_no_workbook_is_told(tmp_path):
    path = tmp_path / "bad.xlsx"
    path.write_bytes(b"PK\x03\x04 not a workbook")
    with pytest.raises(CorpusError, match=r"bad\.xlsx: cannot be read as a workbook .* Save it anew"):
        read_workbook(path)
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    with pytest.raises(CorpusError, match="the file holds no text"):
        parse_documents([DocumentFile("e", tmp_path / "empty.xlsx")], PypdfConfig(), "fail")
