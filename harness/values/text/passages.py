"""Cut a document into sentence-aligned passages that depend on its text alone, never on a chunking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from harness.values.text.characters import width
from harness.values.text.spans import trim

# A sentence ends after its closing marks: Western ones need a blank behind them, full-width ones do not.
_BREAK = re.compile(r"""(?<=[.!?])["'”’)\]]*\s+|[。！？；]["”’）】」』]*\s*|\s*\n\s*\n\s*""")
# "Dr. Low", "No. 7", "J. Doe": a full stop that ends no sentence.
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nos|vs|cf|e\.g|i\.e|approx|Fig)\.$")
# The width of passages that people grade. `ndcg_evidence` counts 200 characters of a label as found: half of
# it or more, and so most likely the answer, where it has up to 400, as listings without a sentence end have.
TO_GRADE = 200
_PARAGRAPH = re.compile(r"\n\s*\n")


def passage_spans(text: str, target: int) -> list[tuple[int, int]]:
    """Disjoint passages of about ``target`` width that together hold every character that is not blank.

    A passage is a run of whole sentences; it ends at the first sentence end that fills ``target``, or
    earlier at a paragraph end once half full. A sentence wider than twice the target is cut at blanks, or
    anywhere if it has none. A full-width character is two wide. The same text gives the same passages,
    always.
    """
    spans: list[tuple[int, int]] = []
    start, filled = 0, 0
    for begin, end in _sentences(text, 2 * target):
        if not filled:
            start = begin
        filled += width(text[begin:end])
        paragraph_ends = _PARAGRAPH.search(text[begin:end]) is not None
        if filled >= target or (paragraph_ends and 2 * filled >= target):
            spans.append(trim(text, (start, end)))
            filled = 0
    if filled:
        spans.append(trim(text, (start, len(text))))
    return [(start, end) for start, end in spans if start < end]


def _sentences(text: str, widest: int) -> Iterator[tuple[int, int]]:
    """Half-open ranges of sentences, blanks behind them included, that cover the text."""
    breaks = _BREAK.finditer(text)
    ends = [at.end() for at in breaks if not _ABBREVIATION.search(text[max(0, at.start() - 10) : at.start()])]
    for begin, end in pairwise([0, *ends, len(text)]):
        if begin < end:
            yield from _pieces(text, begin, end, widest)


def _pieces(text: str, begin: int, end: int, widest: int) -> Iterator[tuple[int, int]]:
    """Cut a run without sentence ends (a table, a listing) into pieces of at most ``widest``."""
    while width(text[begin:end]) > widest:
        reach, wide = begin, 0
        while wide < widest:
            wide += width(text[reach])
            reach += 1
        blank = max(text.rfind(" ", begin + 1, reach), text.rfind("\n", begin + 1, reach))
        cut = blank + 1 if blank > begin else reach
        yield begin, cut
        begin = cut
    if begin < end:
        yield begin, end
