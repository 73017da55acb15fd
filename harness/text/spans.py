"""Half-open character ranges of a text, and how surrounding whitespace is taken off them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

Span = tuple[int, int]


def trim(text: str, span: Span) -> Span:
    """Move both ends of ``span`` inwards past whitespace; an all-whitespace span becomes empty."""
    start, end = span
    piece = text[start:end]
    body = piece.lstrip()
    start += len(piece) - len(body)
    return start, start + len(body.rstrip())


def tidy(text: str, spans: Iterable[Span], strip: bool) -> list[Span]:
    """Drop spans of nothing but whitespace, trim the others if ``strip``, drop repeats, order by offset."""
    kept = set()
    for span in spans:
        start, end = trim(text, span)
        if start < end:
            kept.add((start, end) if strip else span)
    return sorted(kept)


def between(start: int, end: int, cuts: Iterable[int]) -> Iterator[Span]:
    """The non-empty spans that ``cuts`` (ascending offsets) divide ``[start, end)`` into."""
    for cut in chain(cuts, (end,)):
        if start < cut:
            yield start, cut
            start = cut
