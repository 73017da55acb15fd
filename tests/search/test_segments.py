"""Terms are kept in segments: added texts are read, and the result is that of reading all at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.running import kept_terms
from harness.running.kept_terms import terms_of
from harness.running.resources import Resources
from harness.steps import TermIds

from .helpers import tools_at

TEXTS = st.lists(st.text("ab ", max_size=6), min_size=1, max_size=8)


@pytest.fixture
def read(tmp_path):
    """Reads texts into terms, and remembers which were read."""
    tools = Resources(tools_at(tmp_path).session)

    def index(texts):
        read.texts += texts
        return TermIds.of(text.split() for text in texts)

    def read(texts, reader="words"):
        read.texts = []
        return terms_of(texts, [reader], tools, index)

    read.tools, read.folder = tools, tmp_path
    return read


def same(terms, texts):
    expected = TermIds.of(text.split() for text in texts)
    assert terms.vocabulary == expected.vocabulary
    assert list(terms.vocabulary) == list(expected.vocabulary)
    assert np.array_equal(terms.terms, expected.terms)
    assert np.array_equal(terms.starts, expected.starts)


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_terms_from_segments_are_those_of_reading_all_at_once(tmp_path_factory, corpora):
    tools = Resources(tools_at(tmp_path_factory.mktemp("cache")).session)
    seen = set()
    for texts in corpora:
        new = []
        terms = terms_of(
            texts,
            ["words"],
            tools,
            lambda part, new=new: new.extend(part) or TermIds.of(text.split() for text in part),
        )
        same(terms, texts)
        assert new == list(dict.fromkeys(text for text in texts if text not in seen))
        seen.update(texts)


def test_only_what_was_not_read_before_is_read_whatever_its_place(read):
    read(["a b", "c"])
    assert read.texts == ["a b", "c"]
    same(read(["d a", "c", "a b", "d a"]), ["d a", "c", "a b", "d a"])
    assert read.texts == ["d a"]
    # fewer texts, and the order of their terms is their own
    same(read(["c", "d a"]), ["c", "d a"])
    assert read.texts == []
    read(["c"], reader="others")
    assert read.texts == ["c"]


def test_a_segment_that_is_gone_is_read_again(read):
    read(["a b", "c"])
    read(["a b", "c", "d"])
    terms = min(read.folder.rglob("terms.npy"), key=lambda path: path.stat().st_size)
    terms.write_bytes(b"")
    same(read(["a b", "c", "d"]), ["a b", "c", "d"])
    assert read.texts == ["d"]
    same(read(["a b", "c", "d"]), ["a b", "c", "d"])
    assert read.texts == []
    assert "1 of indexes" in read.tools.session.faults.sentences()[0]


def test_segments_without_a_text_in_common_are_not_opened(read, monkeypatch):
    for at in range(4):
        read([f"text {at} {part}" for part in "abc"])
    opened = []
    monkeypatch.setattr(
        kept_terms.Segment, "read", lambda slot, own=kept_terms.Segment.read: opened.append(slot) or own(slot)
    )
    read(["text 2 b", "text 2 a", "text 2 c"])
    assert (len(opened), read.texts) == (1, [])
