"""Sections under headings, and pages."""

import pytest
from hypothesis import given, settings

from harness.steps import PageConfig, RecursiveConfig, chunk_documents
from harness.steps.chunk.markdown import MarkdownConfig, section_spans
from tests.chunk.conftest import document
from tests.chunk.texts import texts

GUIDE = """intro

# One
text

## One A
more

Two
===
body
with lines
---
after
"""


def first_lines(text, level=6):
    return [text[start:end].splitlines()[0] for start, end in section_spans(text, level)]


def test_sections_begin_at_headings_of_both_styles():
    assert first_lines(GUIDE) == ["intro", "# One", "## One A", "Two", "body"]
    assert first_lines(GUIDE, level=1) == ["intro", "# One", "Two"]
    # a fence that is closed ends its code
    assert first_lines("```\n# no\n```\n# Yes\n") == ["```", "# Yes"]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no heading\n```\n",
        "~~~ sh\n# no heading\n```\n# nor this\n~~~\n",
        "````\n```\n# no heading\n````\n",
        "```\n# a fence that never ends\n",
        "#no space",
        "    # indented code",
        "####### seven",
        "text\n\n---\nafter a rule",
        "- item\n---\n",
        "| a |\n---\n",
    ],
)
def test_lookalikes_of_headings_are_text(text):
    assert section_spans(text) == [(0, len(text))]


def chunks(text, **config):
    return [chunk.text for chunk in chunk_documents([document(text)], MarkdownConfig(**config))]


def test_short_sections_stay_apart_unless_told_otherwise():
    text = "# A\none\n\n# B\ntwo\n\n# C\n" + "long " * 10
    assert chunks(text, chunk_size=60)[:2] == ["# A\none", "# B\ntwo"]
    merged = chunks(text, chunk_size=60, merge_short=True)
    assert merged == ["# A\none\n\n# B\ntwo", "# C\n" + "long " * 9 + "long"]


def test_a_long_section_is_split_and_never_shares_a_chunk_with_the_next():
    text = "# A\n" + "word " * 40 + "\n# B\n" + "other " * 40
    found = chunks(text, chunk_size=50)
    assert all(len(chunk) <= 50 for chunk in found)
    assert not [chunk for chunk in found if "word" in chunk and "other" in chunk]


@given(text=texts.filter(lambda text: len(section_spans(text)) < 2))
@settings(deadline=None)
def test_text_without_headings_is_split_as_by_recursive_or_left_whole(text):
    found = chunks(text, chunk_size=40, chunk_overlap=10)
    plain = chunk_documents([document(text)], RecursiveConfig(chunk_size=40, chunk_overlap=10))
    assert found == (
        [chunk.text for chunk in plain] if len(text) > 40 else [text.strip()] * bool(text.strip())
    )


def test_one_chunk_a_page_and_pages_of_nothing_are_left_out():
    doc = document("first\n  \nthird", page_starts=(0, 6, 9))
    assert [(c.start, c.end) for c in chunk_documents([doc], PageConfig())] == [(0, 5), (9, 14)]
    assert [c.text for c in chunk_documents([doc], PageConfig(strip=False))] == ["first\n", "third"]
    assert [c.text for c in chunk_documents([document("a b")], PageConfig())] == ["a b"]
