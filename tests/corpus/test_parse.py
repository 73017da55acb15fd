"""One file becomes a document: the text, its pages, its statistics, and the errors."""

import json

import pytest

from harness.data import (
    PARSERS,
    DocumentFile,
    ParsedDocument,
    PypdfConfig,
    join_pages,
    parse_document,
    parser_fingerprint,
)
from harness.data.corpus.extraction import without_surrogates
from harness.data.corpus.parsers.pdf_file import PdfPages
from harness.values import CorpusError, text_sha256
from tests.corpus.attacks import raw_pdf
from tests.corpus.conftest import encrypted, pdf_bytes

Pypdfium2Config = PARSERS["pypdfium2"].config

BOTH = pytest.mark.parametrize("parser", [PypdfConfig(), Pypdfium2Config()], ids=lambda p: p.kind)


def parse(path, parser=None):
    return parse_document(DocumentFile(path.stem, path), parser or PypdfConfig())


@BOTH
def test_pages_are_joined_with_exact_starts(write, parser):
    parsed = parse(write("a.pdf", pdf_bytes("First page", None, "Third page")), parser)
    document = parsed.document
    pages = [document.text[slice(*document.page_span(number))] for number in (1, 2, 3)]
    # The newline between two pages belongs to the page before it.
    assert [page.strip() for page in pages] == ["First page", "", "Third page"]
    assert "".join(pages) == document.text
    assert document.page_of(document.text.index("Third")) == 3
    assert document.sha256 == text_sha256(document.text)
    assert (parsed.stats.pages, parsed.stats.pages_without_text) == (3, (2,))
    assert parsed.stats.bytes == len(pdf_bytes("First page", None, "Third page"))
    assert parsed.stats.characters == len(document.text)


@BOTH
@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256"])
def test_an_empty_user_password_is_no_obstacle(write, parser, algorithm):
    parsed = parse(write("a.pdf", encrypted(pdf_bytes("Open to all"), algorithm, "")), parser)
    assert parsed.document.text.strip() == "Open to all"
    assert algorithm.lower() in parsed.stats.encryption


@BOTH
@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_real_password_is_an_error(write, parser, algorithm):
    path = write("a.pdf", encrypted(pdf_bytes("Closed"), algorithm, "secret"))
    with pytest.raises(CorpusError, match=r"a\.pdf: .*encrypted with a password.*without the password"):
        parse(path, parser)


SOUND = pdf_bytes("Some text")
NO_PAGES = raw_pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>")


@BOTH
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"the file is empty\. Download"),
        (b"<!DOCTYPE html><html>Not found</html>", "is not a PDF: it starts with b.<!DOCTYPE html"),
        (b"PK\x03\x04 and more", "is not a PDF: it starts with b.PK"),
        (SOUND[: len(SOUND) // 2], r"does not end with %%EOF, so it is cut off"),
        (SOUND[:-7], r"does not end with %%EOF"),
        (b"%PDF-1.4\nrubbish\n%%EOF\n", "is damaged; pypdf"),
        (NO_PAGES, "the PDF has 0 pages|the PDF is damaged"),
        (pdf_bytes(None, None), "none of the 2 pages has any text.*OCR"),
        (pdf_bytes(None), "its only page has no text.*OCR"),
    ],
    ids=["empty", "html", "zip", "half", "no end", "rubbish", "no pages", "scan", "one scanned page"],
)
def test_bad_files_are_errors_that_name_file_and_remedy(write, parser, content, message):
    with pytest.raises(CorpusError, match=rf"(?s)bad\.pdf.*{message}"):
        parse(write("bad.pdf", content), parser)


def test_a_page_that_crashes_the_parser_is_named(write, monkeypatch):
    from pypdf import PageObject

    original = PageObject.extract_text

    def crash_on_the_second(page, *args, **kwargs):
        text = original(page, *args, **kwargs)
        if "two" in text:
            raise KeyError("/Widths")
        return text

    monkeypatch.setattr(PageObject, "extract_text", crash_on_the_second)
    with pytest.raises(
        CorpusError, match=r"a\.pdf, page 2: pypdf cannot extract the text: KeyError: '/Widths'"
    ):
        parse(write("a.pdf", pdf_bytes("page one", "page two")))


def test_characters_that_cannot_be_decoded_are_counted_not_dropped(write, monkeypatch):
    def read(self, path, on_page):
        return PdfPages(("lone \ud800 here", "pair \ud83d\ude00 and \ufffd, a\u00a0b\u00a0c"), "none")

    monkeypatch.setattr(PypdfConfig, "read", read)
    parsed = parse(write("a.pdf", SOUND))
    assert parsed.document.text == "lone \ufffd here\npair \U0001f600 and \ufffd, a\u00a0b\u00a0c"
    assert (parsed.stats.undecodable_characters, parsed.stats.no_break_spaces) == (2, 2)
    assert parsed.document.text[slice(*parsed.document.page_span(2))].startswith("pair")
    parsed.document.text.encode("utf-8")


def test_a_surrogate_cannot_swallow_its_neighbours():
    assert without_surrogates("\udc00a\ud800b\ud800") == "\ufffda\ufffdb\ufffd"
    assert without_surrogates("\ud800\ud83d\ude00") == "\ufffd\U0001f600"


def test_text_is_kept_as_it_is_but_for_the_byte_order_mark(write):
    parsed = parse(write("a.md", "\ufeff# Titre\r\n\r\nCafé\u00a0👍\n"))
    assert parsed.document.text == "# Titre\r\n\r\nCafé\u00a0👍\n"
    assert parsed.document.page_starts == ()
    assert (parsed.stats.byte_order_marks, parsed.stats.no_break_spaces, parsed.stats.pages) == (1, 1, 0)


def test_every_page_is_announced_before_it_is_read(write):
    path = write("a.pdf", pdf_bytes("one", "two", "three"))
    for parser in (PypdfConfig(), Pypdfium2Config()):
        messages = []
        parse_document(DocumentFile("a", path), parser, messages.append)
        assert messages == [1, 2, 3]


def test_a_damaged_file_after_an_encrypted_one_is_not_called_encrypted(write):
    """PDFium sets no error for a catalogue without pages; the one it reports is that of the file before."""
    locked = write("locked.pdf", encrypted(pdf_bytes("Closed"), "AES-256", "secret"))
    damaged = write("damaged.pdf", raw_pdf(b"<</Type/Catalog>>"))
    with pytest.raises(CorpusError, match=r"locked\.pdf: .*encrypted with a password"):
        parse(locked, Pypdfium2Config())
    with pytest.raises(CorpusError, match=r"damaged\.pdf: the PDF is damaged; pypdfium2 says"):
        parse(damaged, Pypdfium2Config())


def test_json_and_back(write):
    parsed = parse(write("a.pdf", pdf_bytes("one", None, "three")))
    stored = json.loads(json.dumps(parsed.to_json()))
    assert ParsedDocument.from_json(stored) == parsed
    stored["document"]["text"] += "!"
    with pytest.raises(ValueError, match="does not match its hash"):
        ParsedDocument.from_json(stored)


def test_the_fingerprint_tells_parsers_versions_and_options_apart():
    from importlib.metadata import version

    plain, layout = PypdfConfig(), PypdfConfig(extraction_mode="layout")
    assert version("pypdf") in parser_fingerprint(plain)
    prints = {parser_fingerprint(p) for p in (plain, layout, Pypdfium2Config())}
    assert len(prints) == 3
    assert parser_fingerprint(PypdfConfig()) == parser_fingerprint(plain)


def test_join_pages_by_hand():
    # "ab" 0-2, newline 2, "" 3-3, newline 3, "c" 4-5
    assert join_pages(["ab", "", "c"]) == ("ab\n\nc", (0, 3, 4))
