"""The text around the first passages, which the page shows on request."""

from harness.report import RankedRow
from harness.report.columns import spec_of
from harness.report.read import read_any
from harness.report.rows.ranked import SurroundingRow
from harness.report.write import write_table
from harness.running.evaluate.tables import AROUND, surrounding_rows
from harness.values.types import Document

TEXT = "".join(f"{i:04d} " for i in range(400))  # 2,000 characters, each place identified by its number
DOCUMENT = Document("d", TEXT, (), "")


def ranked(spans, rank=1):
    return RankedRow("s", "retrieve", "q", rank, f"d:{spans}", "d", None, 0.5, None, 0, "")


def test_text_before_and_after_without_what_passages_show():
    # 1000-1100 and 1150-1200 are shown: 700-1000, 1100-1150 and 1200-1500 are around them
    rows = list(surrounding_rows([ranked("1000-1100"), ranked("1150-1200")], [DOCUMENT]))
    assert AROUND == 300
    assert [(row.start, row.end) for row in rows] == [(700, 1000), (1100, 1150), (1200, 1500)]
    assert all(row.text == TEXT[row.start : row.end] for row in rows)


def test_surroundings_end_with_the_document_and_omit_the_heading_of_a_chunk():
    rows = list(surrounding_rows([ranked("0-20+100-150"), ranked("1900-2000")], [DOCUMENT]))
    assert [(row.start, row.end) for row in rows] == [(20, 100), (150, 450), (1600, 1900)]


def test_deeper_ranks_have_none_as_their_text_is_not_written():
    assert list(surrounding_rows([ranked("1000-1100", rank=11)], [DOCUMENT])) == []


def test_an_apostrophe_of_the_document_survives_the_file(tmp_path):
    text = "'=1+1' \r\n" + "x" * 50
    rows = list(surrounding_rows([ranked("20-30")], [Document("d", text, (), "")]))
    write_table(tmp_path, spec_of(SurroundingRow), rows)
    assert [row.text for row in read_any(tmp_path, SurroundingRow)] == [
        text[:20].replace("\r\n", " \n"),
        text[30:],
    ]
