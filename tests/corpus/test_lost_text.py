"""Text that is lost in silence: found, counted, and beyond a share refused."""

import base64
import re
import zlib
from dataclasses import replace

import pytest

from harness.data import (
    PARSERS,
    DocumentFile,
    ParsingConfig,
    PypdfConfig,
    find_documents,
    parse_document,
    parse_documents,
    refusal,
)
from harness.data.corpus.extraction import compare, count_odd, read_again
from harness.data.corpus.parsers import second_reader
from harness.data.corpus.parsers.pdf_file import PageReading, SecondReader
from harness.data.corpus.parsers.pypdf import read_content_streams
from tests.corpus.attacks import LINE, RULE, SCAN, TEXT, lines, pages_of, self_referring_form, stream
from tests.corpus.conftest import pdf_bytes

Pypdfium2Config = PARSERS["pypdfium2"].config

BOTH = pytest.mark.parametrize("parser", [PypdfConfig(), Pypdfium2Config()], ids=lambda p: p.kind)


def read(path, parser):
    """Parse and compare, as the workers do, in this process."""
    parsed = parse_document(DocumentFile(path.stem, path), parser)
    return compare(parsed, read_again(path, parser, lambda page: None), parser)


@BOTH
def test_a_sound_file_has_no_suspect_page(write, parser):
    stats = read(write("a.pdf", pages_of(LINE, lines(40), RULE, LINE)), parser).stats
    assert stats.second_reader == second_reader(parser).name
    assert (stats.pages_without_text, stats.blank_pages) == ((3,), (3,))
    assert (stats.suspect_pages, stats.short_pages, stats.missing_characters) == ((), (), 0)


@BOTH
def test_pages_without_text_are_suspect_where_something_is_drawn(write, parser):
    stats = read(write("a.pdf", pages_of(LINE, SCAN, RULE, RULE * 30, b"")), parser).stats
    assert stats.pages_without_text == (2, 3, 4, 5)
    assert stats.suspect_pages == (2, 4)


def test_a_page_of_which_a_parser_finds_far_less_is_short(write):
    """Two thirds of the text of the second page are taken away, as a parser loses it."""
    path = write("a.pdf", pages_of(LINE, lines(40)))
    parser = PypdfConfig()
    whole = parse_document(DocumentFile("a", path), parser)
    page = len(TEXT.replace(b" ", b""))
    readings = read_again(path, parser, lambda page: None)
    assert [reading.characters for reading in readings] == [page, 40 * page]
    cut = whole.document.text[: whole.document.page_starts[1] + len(whole.document.text) // 3]

    lossy = replace(whole, document=replace(whole.document, text=cut))
    stats = compare(lossy, readings, parser).stats
    found = sum(map(len, cut[whole.document.page_starts[1] :].split()))
    assert (stats.short_pages, stats.missing_characters) == ((2,), 40 * page - found)
    assert stats.suspect_pages == (2,)


def broken(packed):
    yield "whole", packed, False
    yield "cut off", packed[: len(packed) // 2], True
    yield "one bit", packed[:40] + bytes([packed[40] ^ 1]) + packed[41:], True
    yield "checksum", packed[:-1] + bytes([packed[-1] ^ 1]), True
    yield "line end behind", packed + b"\r\n", False


@BOTH
@pytest.mark.parametrize("ascii85", [False, True])
def test_damaged_content_is_found_whatever_a_parser_saves_of_it(write, parser, ascii85):
    """pypdf reads the beginning of a stream that breaks off, without a word; so does PDFium."""
    shown = {}
    for name, data, damaged in broken(zlib.compress(lines(40))):
        content = base64.a85encode(data) + b"~>" if ascii85 else data
        entries = b"/Filter[/ASCII85Decode/FlateDecode]" if ascii85 else b"/Filter/FlateDecode"
        sound = pages_of(LINE, b"SECOND")
        path = write("a.pdf", sound.replace(stream(b"SECOND"), stream(content, entries)))
        stats = read(path, parser).stats
        shown[name] = (2 in stats.damaged_pages, 2 in stats.suspect_pages)
        assert shown[name] == (damaged, damaged), name


@pytest.mark.parametrize(
    ("there", "here", "short"),
    # by hand: below 0.8 of the second reading and at least 20 fewer
    [(1000, 799, True), (1000, 800, False), (100, 79, True), (30, 11, False), (30, 10, True), (0, 50, False)],
)
def test_the_limit_of_what_is_short(there, here, short):
    reader = SecondReader("test", read_content_streams, 0.8, 20)
    assert reader.finds_far_more(there, here) is short


def test_content_streams_count_the_glyphs_of_all_string_forms(write):
    # by hand: 3 + 3 (escaped parentheses count once) + 2 + 2 + 4 nested + 2 in the inline image not counted
    content = (
        rb"BT /F 9 Tf (a b c) Tj [(d)-200(e)] TJ (\(f\051) ' <4142> Tj (g(h)) Tj ET BI /W 1 /H 1 ID (x) EI"
    )
    (reading,) = read_content_streams(write("a.pdf", pages_of(content)), lambda page: None)
    assert reading == PageReading(3 + 2 + 3 + 2 + 4, blank=False)


def test_content_streams_follow_forms_once(write):
    (reading,) = read_content_streams(write("a.pdf", self_referring_form()), lambda page: None)
    assert reading == PageReading(len("form"), blank=False)


@pytest.mark.slow
def test_a_second_reader_that_dies_costs_a_remark_and_not_the_document(write, tmp_path):
    """pypdf skips the form that draws itself; PDFium, which reads it again, takes all memory there is."""
    write("a.pdf", self_referring_form())
    (parsed,), skipped = parse_documents(
        find_documents("*", tmp_path), PypdfConfig(), parsing=ParsingConfig(memory_mb=300)
    )
    assert skipped == []
    assert parsed.document.text.strip() == "form"
    assert parsed.stats.second_reader == ""
    assert re.search(r"no second reading by pypdfium2 .*: page 1: crashed \(SIG", parsed.stats.warnings[-1])


def test_the_second_reading_can_be_left_out(write, tmp_path):
    write("a.pdf", pdf_bytes("some text", None))
    parsing = ParsingConfig(second_reading=False)
    (parsed,), _ = parse_documents(find_documents("*", tmp_path), PypdfConfig(), parsing=parsing)
    assert parsed.stats.second_reader == ""
    # one rectangle is no text that could be lost, but without a second reading nobody knows what is drawn
    assert parsed.stats.suspect_pages == (2,)


def test_too_many_suspect_pages_are_refused(write):
    parsed = read(write("a.pdf", pages_of(LINE, *[SCAN] * 59)), PypdfConfig())
    reason = refusal(parsed, ParsingConfig())
    assert reason.startswith(
        "59 of 60 pages may have lost text (page 2-60: 59 without text though something is drawn), more than "
        "parsing.max_suspect_pages: 0.5 allows. Run OCR"
    )
    assert refusal(parsed, ParsingConfig(max_suspect_pages=0.99)) is None
    half = read(write("b.pdf", pages_of(LINE, SCAN)), PypdfConfig())
    assert refusal(half, ParsingConfig()) is None
    assert "1 of 2 pages" in refusal(half, ParsingConfig(max_suspect_pages=0.49))


def test_too_many_suspect_characters_are_refused(write):
    """Cyrillic in UTF-16 without a byte order mark is valid UTF-8: every second byte is U+0004."""
    path = write("a.txt", "привет".encode("utf-16-le"))
    parsed = parse_document(DocumentFile("a", path), PypdfConfig())
    assert (parsed.stats.suspect_characters, parsed.stats.characters) == (6, 12)
    reason = refusal(parsed, ParsingConfig())
    assert reason.startswith(
        "6 of 12 characters are undecodable, control or private-use characters, more than"
    )
    assert refusal(parsed, ParsingConfig(max_suspect_characters=0.5)) is None


def test_odd_characters_by_hand():
    assert count_odd("a\tb\r\n\f\v\u0085c\u00a0é漢👍") == 0
    assert count_odd("\x00\x04\x1b\x7f\x80\x9f\ue000\uf8ff\ufdd0\uffff\U000f0000\U0010ffff") == 12
