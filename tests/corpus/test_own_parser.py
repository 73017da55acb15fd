"""Parsers of the user's own: run in worker processes like any other, for the endings they name."""

import pytest
from pydantic import ValidationError

from harness.data import (
    PARSERS,
    DocumentFile,
    find_documents,
    parse_document,
    parse_documents,
    parser_fingerprint,
)
from harness.values import CorpusError
from tests.corpus.conftest import pdf_bytes

PythonParserConfig = PARSERS["python"].config


def config(call, **more):
    return PythonParserConfig(call=f"tests.corpus.own:{call}", version="1", suffixes=(".note",), **more)


def read(write, call, **more):
    path = write("a.note", "first page--second page")
    write("b.txt", "as it is")
    return parse_documents(find_documents("*", path.parent, (".note",)), config(call, **more))


def test_pages_and_plain_text_become_documents(write):
    (own, plain), _ = read(write, "pages")
    assert own.document.text == "first page\nsecond page"
    assert own.document.page_starts == (0, 11)
    assert plain.document.text == "as it is"
    (own, _), _ = read(write, "one_text")
    assert (own.document.text, own.document.page_starts) == ("FIRST PAGE--SECOND PAGE", ())
    (own, _), _ = read(write, "pages", arguments={"mark": " page"})
    assert own.document.text == "first\n--second\n"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("nothing", "a.note: call: tests.corpus.own:nothing returned NoneType, not a text"),
        ("no_pages", "returned no page"),
        ("fails", r"failed: ValueError: page 3 has no table \(own.py:\d+\)"),
        ("missing", "has no missing"),
    ],
)
def test_a_parser_that_fails_makes_a_bad_document(write, call, says):
    with pytest.raises(CorpusError, match=says):
        parse_document(DocumentFile("a", write("a.note", "a page")), config(call))


def test_a_pdf_read_by_own_code_is_compared_with_its_content_streams(write):
    path = write("scan.pdf", pdf_bytes("A page with a line of text that is long enough to be missed. " * 3))
    own = PythonParserConfig(call="tests.corpus.own:little", version="1")
    (parsed,), _ = parse_documents(find_documents("*.pdf", path.parent), own)
    assert parsed.stats.short_pages == (1,)


def test_the_version_stated_decides_the_text(write):
    one, two = (
        parser_fingerprint(config("pages").model_copy(update={"version": version})) for version in "12"
    )
    assert one != two
    with pytest.raises(ValidationError, match="not a lower-case file extension"):
        PythonParserConfig(call="a:b", version="1", suffixes=("docx",))
