"""A document as passages that a label may quote: some sentences or rows of a table, never over a page."""

from __future__ import annotations

from collections.abc import Iterator

from harness.text.sentences import sentence_spans
from harness.text.spans import Span, between, trim
from harness.types import Document

# about three sentences: enough to judge by, short enough to be a label
LENGTH = 300


def passage_spans(document: Document, length: int = LENGTH) -> list[Span]:
    """Neighbouring sentences of one paragraph and page up to ``length`` characters; longer ones stand alone.

    Of a sentence over a page break each part is a passage. No passage begins or ends with white space.
    """
    text, found = document.text, list[Span]()
    for start, end in _parts(document):
        last = found[-1] if found else None
        if last is not None and end - last[0] <= length and _are_neighbours(document, last, start):
            found[-1] = (last[0], end)
        else:
            found.append((start, end))
    return [span for span in found if text[slice(*span)]]


def _parts(document: Document) -> Iterator[Span]:
    """The sentences, those over a page break in parts."""
    for start, end in sentence_spans(document.text):
        breaks = (page for page in _pages_within(document, start, end))
        for part in between(start, end, breaks):
            first, last = trim(document.text, part)
            if first < last:
                yield first, last


def _pages_within(document: Document, start: int, end: int) -> tuple[int, ...]:
    first, last = document.page_of(start), document.page_of(end - 1)
    if first is None or last is None:
        return ()
    return document.page_starts[first:last]


def _are_neighbours(document: Document, last: Span, start: int) -> bool:
    """Whether no blank line and no page break stands between a passage and what begins at ``start``."""
    gap = document.text[last[1] : start]
    return gap.count("\n") < 2 and document.page_of(last[0]) == document.page_of(start)
