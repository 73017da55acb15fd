"""Word, web and slides become text; damaged ones are bad documents like any other."""

import base64
import builtins
import io
import zipfile
from pathlib import Path

import pytest

from harness.data import (
    DocumentFile,
    PypdfConfig,
    find_documents,
    libraries_of,
    parse_document,
    parse_documents,
)
from harness.data.corpus.document_files import FORMATS, format_of
from harness.data.corpus.office import read_slides, read_word
from harness.data.corpus.web import read_web
from harness.values import CorpusError

docx = pytest.importorskip("docx")
pptx = pytest.importorskip("pptx")
bs4 = pytest.importorskip("bs4")
openpyxl = pytest.importorskip("openpyxl")


def make_word(path):
    document = docx.Document()
    document.add_heading("Annual report", 0)
    document.add_heading("Plants", 2)
    document.add_paragraph("The plant in Lyon\twas closed & sold — “in May”.")
    document.add_paragraph("Graz", style="List Bullet")
    document.add_paragraph("Turin", style="List Number")
    table = document.add_table(rows=3, cols=3)
    for row, cells in zip(
        table.rows, (("Plant", "People", ""), ("Lyon", "300", "closed"), ("Graz", "400", "")), strict=True
    ):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    table.rows[0].cells[1].merge(table.rows[0].cells[2])
    document.add_paragraph("After the table.")
    document.save(path)


# a PNG of one pixel
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def make_slides(path):
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Plants\v2023"
    slide.placeholders[1].text = "Lyon closed\nGraz grew"
    slide.notes_slide.notes_text_frame.text = "Say why."
    deck.slides.add_slide(deck.slide_layouts[6])
    pictured = deck.slides.add_slide(deck.slide_layouts[6])
    pictured.shapes.add_picture(io.BytesIO(base64.b64decode(DOT)), 0, 0)
    last = deck.slides.add_slide(deck.slide_layouts[6])
    table = last.shapes.add_table(2, 2, 0, 0, 99999, 99999).table
    for i, text in enumerate(("Plant", "People", "Graz", "400")):
        table.cell(i // 2, i % 2).text = text
    group = last.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "in a group"
    deck.save(path)


WEB = """<!DOCTYPE html><html><head><meta charset="windows-1252"><title>Nobody reads</title>
<style>p { color: red }</style><script>var secret = "<p>no</p>";</script></head><body>
<!-- a comment --><h2>Plants <div style="display:none">not</div>&amp; <b>people</b></h2>
<p>The plant in <a href="x">Ly&#111;n</a> was closed&nbsp;— in May.<br>Graz\n grew.</p>
<div style="display: none">hidden</div><p hidden>hidden too</p><noscript>no script</noscript>
<ul><li>Graz</li><li><p>Turin</p></li></ul>
<table><caption>People</caption><thead><tr><th>Plant</th><th colspan="2">People</th></tr></thead>
<tr><td rowspan="2">Graz</td><td></td><td>400</td></tr>
<tr><td></td><td>in <i>May</i><p hidden>no</p></td></tr>
<tbody hidden><tr><td>Rome</td><td>9</td><td>9</td></tr></tbody></table>
<pre><button>Copy</button>a  b<br> c</pre>caf\xe9</body></html>"""


def make_web(path):
    path.write_bytes(WEB.encode("cp1252"))


def make_workbook(path):
    book = openpyxl.Workbook()
    book.active.append(["Plant", "People"])
    book.active.append(["Graz", 400])
    book.save(path)


MAKE = {".docx": make_word, ".html": make_web, ".pptx": make_slides, ".xlsx": make_workbook}


def test_word_keeps_its_order_with_headings_lists_and_tables(tmp_path):
    make_word(tmp_path / "a.docx")
    assert read_word(tmp_path / "a.docx") == [
        "# Annual report\n\n## Plants\n\nThe plant in Lyon\twas closed & sold — “in May”.\n\n"
        "- Graz\n- Turin\n\nPlant\tPeople\t\nLyon\t300\tclosed\nGraz\t400\t\n\nAfter the table.\n"
    ]


def test_a_table_or_text_box_in_a_cell_is_read_once_and_moves_no_column(tmp_path):
    # a text box is there twice, the second time for older readers; the table within has a cell two wide
    path, document = tmp_path / "a.docx", docx.Document()
    table = document.add_table(rows=1, cols=2)
    first, second = table.rows[0].cells
    inner = first.add_table(rows=1, cols=2)
    inner.cell(0, 0).merge(inner.cell(0, 1)).text = "within"
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    xml = (
        '<w:r xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:AlternateContent>'
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    second.paragraphs[0]._p.append(docx.oxml.parse_xml(xml))
    document.save(path)
    assert read_word(path) == ["within\tboxed\n"]


def test_inserted_text_counts_and_deleted_text_does_not(tmp_path):
    path = tmp_path / "a.docx"
    document = docx.Document()
    paragraph = document.add_paragraph("We employ ")
    xml = (
        '<w:{0} xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" w:id="1" w:author="a">'
        "<w:r><w:{1}>{2}</w:{1}></w:r></w:{0}>"
    )
    for words in (("ins", "t", "400 people"), ("del", "delText", "300 people")):
        paragraph._p.append(docx.oxml.parse_xml(xml.format(*words)))
    document.save(path)
    assert read_word(path) == ["We employ 400 people\n"]


def test_a_web_page_is_what_it_shows(tmp_path):
    make_web(tmp_path / "a.html")
    assert read_web(tmp_path / "a.html") == [
        "## Plants & people\n\nThe plant in Lyon was closed\u00a0— in May.\nGraz grew.\n\n- Graz\n- Turin\n\n"
        "People\n\nPlant\tPeople\t\nGraz\t\t400\n\t\tin May\n\na  b\n c\n\ncafé\n"
    ]


def test_columns_empty_in_all_rows_are_dropped(tmp_path):
    path = tmp_path / "a.htm"
    path.write_text(
        "<table><tr><td>a</td><td></td><td>1</td></tr><tr><td colspan=2>b</td><td>2</td></tr></table>"
        "<table><tr><td>One <table><tr><td>x</td><td>y</td></tr></table></td></tr></table>"
    )
    assert read_web(path) == ["a\t1\nb\t2\n\nOne\n\nx\ty\n"]


def test_slides_are_pages(tmp_path):
    path = tmp_path / "a.pptx"
    make_slides(path)
    assert read_slides(path) == [
        "# Plants 2023\n\nLyon closed\nGraz grew\n\nNotes: Say why.\n",
        "",
        None,
        "Plant\tPeople\nGraz\t400\n\nin a group\n",
    ]
    parsed = parse_document(DocumentFile("a", path), PypdfConfig())
    assert parsed.stats.pages == 4
    assert parsed.stats.pages_without_text == (2, 3)
    assert parsed.stats.silent_pages == (3,)
    assert parsed.document.page_of(parsed.document.text.index("Graz\t400")) == 4


def damaged(path, how):
    raw = path.read_bytes()
    if how == "half":
        path.write_bytes(raw[: len(raw) // 2])
    elif how == "noise":
        path.write_bytes(b"\x00\x01\x02nonsense" * 50)
    elif how == "empty":
        path.write_bytes(b"")
    else:
        # a whole zip archive with other things in it
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("[Content_Types].xml", "<broken")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "hows"),
    [
        *((suffix, ("half", "noise", "empty", "other")) for suffix in (".docx", ".pptx", ".xlsx")),
        # half a web page is a web page
        (".html", ("noise", "empty")),
    ],
)
def test_damaged_files_are_skipped_and_named(suffix, hows, tmp_path):
    good = tmp_path / f"good{suffix}"
    MAKE[suffix](good)
    bad = {how: tmp_path / f"{how}{suffix}" for how in hows}
    for how, path in bad.items():
        MAKE[suffix](path)
        damaged(path, how)
    files = [DocumentFile("good", good), *(DocumentFile(how, path) for how, path in bad.items())]
    parsed, skipped = parse_documents(files, PypdfConfig(), "skip")
    assert [one.document.doc_id for one in parsed] == ["good"]
    assert [one.doc_id for one in skipped] == list(bad)
    for one in skipped:
        assert one.reason.startswith(str(bad[one.doc_id]))
        assert suffix == ".html" or "Save it again" in one.reason
    with pytest.raises(CorpusError, match="on_bad_document: skip"):
        parse_documents(files, PypdfConfig())


def test_a_truncated_web_page_gives_what_it_holds(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("<p>One</p><table><tr><td>a<td>b<tr><td>c<td>d</table><p>Two <b>and")
    assert read_web(path) == ["One\n\na\tb\nc\td\n\nTwo and\n"]


def test_a_type_that_cannot_be_read_is_refused_or_skipped(tmp_path):
    for name in ("a.txt", "a.png", "b/a.png", ".hidden", "README"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    with pytest.raises(CorpusError, match=r"cannot read a"):
        find_documents("**/*", tmp_path)
    files = find_documents("**/*", tmp_path, unknown=True)
    parsed, skipped = parse_documents(files, PypdfConfig(), "skip")
    assert [one.document.doc_id for one in parsed] == ["a"]
    assert sorted(one.path.name for one in skipped) == ["README", "a.png", "a.png"]
    assert all("cannot read a" in one.reason for one in skipped)


def test_a_missing_library_names_its_extra(tmp_path, monkeypatch):
    whole = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] in ("docx", "bs4", "pptx", "openpyxl"):
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for suffix in MAKE:
        path = tmp_path / f"a{suffix}"
        path.write_bytes(b"any")
        with pytest.raises(CorpusError, match=rf"pip install 'ndcg-harness\[{suffix[1:]}\]'"):
            format_of(path).read(path)


def test_no_two_formats_read_one_ending_and_the_libraries_of_each_are_known():
    endings = [suffix for one in FORMATS for suffix in one.suffixes]
    assert len(set(endings)) == len(endings)
    for suffix in MAKE:
        version, *libraries = libraries_of(Path(f"a{suffix}"))
        assert version.startswith("format-")
        assert libraries
        assert all(name.split()[1] for name in libraries)


@pytest.mark.parametrize("declared", ["windows-1252", "iso-8859-1", "gb2312"])
def test_a_web_page_in_utf8_is_read_as_such_whatever_it_declares(tmp_path, declared):
    page = f'<html><head><meta charset="{declared}"></head><body><p>Café, 利润 3 €</p></body></html>'
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    assert read_web(tmp_path / "a.html") == ["Café, 利润 3 €\n"]
    # one that is what it says stays so
    latin = page.replace("利润 ", "").replace(" €", "").replace(declared, "iso-8859-1")
    (tmp_path / "b.html").write_text(latin, encoding="latin-1")
    assert read_web(tmp_path / "b.html") == ["Café, 3\n"]
