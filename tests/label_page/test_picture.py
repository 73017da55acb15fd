"""Pictures of PDF pages: bounded, kept, and in a process of their own."""

import struct
from pathlib import Path

import pytest

from harness.data.corpus.page_picture import scale_of
from harness.labels import DocumentStore
from harness.values import LabelError
from tests.label_page.pools import document

WIDEST, HIGHEST = 1200, 1800
PDF = Path(__file__).parent.parent.parent / "corpora" / "meridian" / "documents" / "meridian-q3-2025.pdf"


def picture(page, path=PDF):
    return DocumentStore({"a": document("a", "text")}, None, {"a": path}).picture("a", page)


@pytest.mark.parametrize(
    "size", [(595, 842), (842, 595), (10, 10), (14_400, 14_400), (1, 9_000), (1e-3, 1e-3)]
)
def test_no_page_is_drawn_larger_than_the_bounds(size):
    scale = scale_of(size, WIDEST, HIGHEST)
    assert 0 < scale <= 2.5
    assert size[0] * scale <= WIDEST + 1e-6
    assert size[1] * scale <= HIGHEST + 1e-6


@pytest.mark.parametrize("size", [(0, 10), (10, 0), (-1, 5), (float("nan"), 3)])
def test_a_page_without_a_size_is_refused(size):
    with pytest.raises(ValueError, match="points"):
        scale_of(size, WIDEST, HIGHEST)


@pytest.mark.slow
def test_a_page_is_drawn_once(monkeypatch):
    pytest.importorskip("PIL")
    store = DocumentStore({"a": document("a", "text")}, None, {"a": PDF})
    png = store.picture("a", 1)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    assert 600 < width <= WIDEST
    assert 600 < height <= HIGHEST
    monkeypatch.setattr(
        "harness.labels.label_page.document_store.draw_page", lambda *_: pytest.fail("drawn twice")
    )
    assert store.picture("a", 1) == png


def test_a_page_that_takes_too_long_is_reported(monkeypatch):
    monkeypatch.setattr("harness.data.corpus.page_picture._SECONDS", 0.001)
    with pytest.raises(LabelError, match="takes too long"):
        picture(1)


def test_without_the_libraries_the_page_says_what_is_needed(monkeypatch):
    store = DocumentStore({name: document(name, "text", (0,)) for name in "ab"}, None, {"a": PDF})
    monkeypatch.setattr("harness.labels.label_page.document_store.can_draw", lambda: False)
    assert [store.part(name)["needs_extra"] for name in "ab"] == [True, False]
    assert store.part("a")["has_picture"] is False
    monkeypatch.setattr("harness.labels.label_page.document_store.can_draw", lambda: True)
    assert store.part("a")["needs_extra"] is False


TEXT = "One two three. Four five.\n\nPlant\tPeople\nGraz\t400\nLyon\t30\n\n" + "y" * 500 + "x" * 9 + "y" * 500
LONG = "word " * 100 + "\nof a line\n" + "word " * 100


@pytest.mark.parametrize(
    ("text", "pages", "words", "before", "after"),
    [
        (TEXT, (), "two thr", "One ", "ee."),
        (TEXT, (), "One two three.", "", ""),
        (TEXT, (), "az\t40", "Gr", "0"),
        (TEXT, (), "x" * 9, "", ""),
        # within its page
        ("One two three four five.", (0, 8), "hree", "t", " four five."),
        # of a long sentence the line
        (LONG, (), "f a li", "o", "ne"),
    ],
)
def test_a_passage_is_completed_to_its_sentence_row_page_or_line(text, pages, words, before, after):
    start = text.index(words)
    store = DocumentStore({"a": document("a", text, pages)}, None, {})
    assert store.around("a", start, start + len(words)) == (before, after)
