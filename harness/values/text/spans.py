"""Half-open character ranges of a text, and how surrounding whitespace is taken off them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import itemgetter

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


def merge(spans: Iterable[Span]) -> list[Span]:
    """The union of half-open ranges, in order; ranges that touch become one."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def outside(spans: Iterable[Span], covered: Iterable[Span]) -> list[Span]:
    """The parts of ``spans`` that no range of ``covered`` holds, merged and in order."""
    taken = merge(covered)
    out: list[Span] = []
    for start, end in merge(spans):
        for first, last in taken[bisect_left(taken, start, key=itemgetter(1)) :]:
            if first >= end:
                break
            if start < first:
                out.append((start, first))
            start = max(start, last)
        if start < end:
            out.append((start, end))
    return out


def between(start: int, end: int, cuts: Iterable[int]) -> Iterator[Span]:
    """The non-empty spans that ``cuts`` (ascending offsets) divide ``[start, end)`` into."""
    for cut in chain(cuts, (end,)):
        if start < cut:
            yield start, cut
            start = cut
