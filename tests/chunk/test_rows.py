"""Tables row by row: what a row is, what it is shown with, and what is outside."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.steps import CHUNKERS, chunk_documents
from harness.values import delimited, records_of
from tests.chunk.conftest import document

RowsConfig = CHUNKERS["rows"].config

CSV = 'site,year,note\nYard,2023,"full, as ever"\nPier,2023,"two\nlines"\nDock,2024,\n'


def texts(text, page_starts=(), **fields):
    return [c.text for c in chunk_documents([document(text, page_starts)], RowsConfig(**fields))]


def test_every_row_is_shown_with_the_heading():
    head = "site,year,note\n"
    rows = ['Yard,2023,"full, as ever"', 'Pier,2023,"two\nlines"', "Dock,2024,"]
    assert texts(CSV) == [head + row for row in rows]
    assert texts(CSV, rows=2) == [head + "\n".join(rows[:2]), head + rows[2]]
    assert texts(CSV, header_rows=0) == [head.strip(), *rows]
    assert texts(CSV, header_rows=2) == [head + rows[0] + "\n" + row for row in rows[1:]]
    # a heading without rows is a row
    assert texts(CSV, header_rows=9) == [CSV.strip()]
    chunk = chunk_documents([document(CSV)], RowsConfig())[1]
    assert chunk.before == ((0, 15),)
    assert CSV[chunk.start : chunk.end].startswith("Pier")
    assert chunk.chunk_id == f"doc:0-15+{chunk.start}-{chunk.end}"


def test_the_heading_may_be_named_by_the_numbers_of_its_rows():
    table = "site,volume\nall sites,9\nname,tonnes\nYard,4\nPier,5\n"
    first, third = "site,volume\n", "name,tonnes\n"
    # a row between two rows of the heading is shown with what is above it
    assert texts(table, heading_rows=(1, 3)) == [
        f"{first}all sites,9",
        f"{first}{third}Yard,4",
        f"{first}{third}Pier,5",
    ]
    # the order in which they are named decides nothing, and rows that touch are one range
    assert texts(table, heading_rows=(3, 1)) == texts(table, heading_rows=(1, 3))
    assert texts(table, heading_rows=(1,)) == texts(table, header_rows=1)
    assert texts(table, heading_rows=(1, 2)) == texts(table, header_rows=2)
    # without a row above the heading nothing is lost
    assert texts(table, heading_rows=(3,)) == [
        "site,volume",
        "all sites,9",
        f"{third}Yard,4",
        f"{third}Pier,5",
    ]
    # a chunk that reaches over a row of the heading holds it
    assert texts(table, heading_rows=(1, 3), rows=2)[0] == table.strip().rpartition("\n")[0]
    chunk = chunk_documents([document(table)], RowsConfig(heading_rows=(1, 3)))[1]
    assert chunk.before == ((0, 12), (24, 36))
    sheet = "Sheet: Volumes\nnote\tnone\nsite\tvolume\nYard\t4\n"
    title = "Sheet: Volumes\n"
    assert texts(sheet, (0,), heading_rows=(2,)) == [
        f"{title}note\tnone",
        f"{title}site\tvolume\nYard\t4",
    ]


@pytest.mark.parametrize("numbers", [(0,), (1, 1), (-1, 2)])
def test_rows_of_a_heading_are_counted_from_one_and_named_once(numbers):
    with pytest.raises(ValueError, match="counted from 1, each named once"):
        RowsConfig(heading_rows=numbers)


def test_sheets_are_tables_of_their_own_with_their_title():
    first, second = "Sheet: Prices\nitem\tprice\ncoal\t4\n\n", "Sheet: Crew\nname\nAda\n"
    assert texts(first + second, (0, len(first))) == [
        "Sheet: Prices\nitem\tprice\ncoal\t4",
        "Sheet: Crew\nname\nAda",
    ]
    # they are parted by tabs, whatever delimits the files next to them
    sheet = 'Sheet: Crew\nname\tnote\nAda\t"two\nlines"\n'
    assert texts(sheet, (0,), delimiter=";") == ['Sheet: Crew\nname\tnote\nAda\t"two\nlines"']


def test_delimited_text_is_known_by_its_records():
    assert texts("a;b\n1;2\n3;4") == ["a;b\n1;2", "a;b\n3;4"]
    # ragged: no table unless it is said to be one
    ragged = "a,b\n1,2,3\n4,5"
    assert texts(ragged) == [ragged]
    assert texts(ragged, delimiter=",") == ["a,b\n1,2,3", "a,b\n4,5"]
    prose = "The yard, which is full, was paved.\nThe pier was not.\nSo it is."
    assert texts(prose) == [prose]


def test_blanks_alone_are_no_heading():
    assert texts("   1 2\n3 4\n5 6") == ["1 2", "3 4", "5 6"]
    assert texts("\n\na,b\n1,2\n3,4", header_rows=0) == ["a,b", "1,2", "3,4"]


PDF = """The yard grew in the year.

Volumes by site
Site A Site B
2023 2024
Coal 1,200 1,400
Grain (300) 200
Total 900 1,600
All volumes are in tonnes."""
ROWS = ["Coal 1,200 1,400", "Grain (300) 200", "Total 900 1,600"]


def test_rows_of_a_table_in_other_text_are_shown_with_the_lines_above():
    text = "The yard grew in the year.\n\nVolumes by site\nSite A Site B\n2023 2024"
    after = "All volumes are in tonnes."
    heading = "Volumes by site\nSite A Site B\n2023 2024\n"
    assert texts(PDF) == [text, *(heading + row for row in ROWS), after]
    assert texts(PDF, above=1)[1:4] == [f"Site A Site B\n2023 2024\n{row}" for row in ROWS]
    # a blank line ends what is above
    assert texts(PDF, above=9) == texts(PDF)
    assert texts(PDF, above=0, header_rows=0)[1:5] == ["2023 2024", *ROWS]


def test_a_row_is_never_cut_and_other_text_is():
    long = "word " * 50
    text = f"{long}\n\nCoal 1 2\nGrain 3 4\nTotal 4 6 {'x' * 200}"
    found = texts(text, chunk_size=100, above=0)
    assert max(map(len, found[:-3])) <= 100
    assert found[-3:] == ["Coal 1 2", "Grain 3 4", f"Total 4 6 {'x' * 200}"]


cells = st.text(st.sampled_from('ab ",\n\t;'), max_size=6)


@given(st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=8), st.sampled_from(",\t;"))
def test_records_are_those_of_the_csv_module(rows, delimiter):

    def written(*rows):
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
        return out.getvalue()

    text = written(*rows)
    found = records_of(text, delimiter, 0, len(text))
    assert all(width == 2 for width in found.widths)
    read = [next(csv.reader(io.StringIO(text[a:b], newline=""), delimiter=delimiter)) for a, b in found.spans]
    # tabs alone are a blank line
    assert read == [row for row in rows if written(row).strip()]


def test_a_quote_that_is_never_closed_makes_no_table():
    text = 'a,b\n1,"2\n3,4\n5,6'
    assert records_of(text, ",", 0, len(text)) is None
    assert delimited(text, 0, len(text)) is None
    # a quote inside a field is a letter
    text = 'a,b\n1,2" pipe\n3,4'
    assert len(delimited(text, 0, len(text)).spans) == 3
