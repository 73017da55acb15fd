"""The core of a label: the words in it that answer, such as a figure, as a range of the document."""

from __future__ import annotations

from harness.corpus.align import find_exact, find_in_view, whitespace_free
from harness.corpus.table import meant
from harness.types import Document


def answer_span(answer: str, document: Document, start: int, end: int) -> tuple[int, int] | None:
    """The first place of ``answer`` within ``start``..``end``, verbatim, else without whitespace.

    The apostrophe that keeps a spreadsheet from running it as a formula is overlooked. None where it does not
    stand there, or nothing is left of it without whitespace.
    """
    text = document.text[start:end]
    answer = answer if answer in text else meant(answer)
    found = find_exact(answer, text)
    if found is None:
        needle = whitespace_free(answer)
        found = find_in_view(needle, whitespace_free(text)) if needle.text else None
    return None if found is None else (start + found.start, start + found.end)
