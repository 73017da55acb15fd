"""Half-open character ranges of a text: trimmed, merged, and as windows of a number of tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from unicodedata import east_asian_width

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
    merged = merge(covered)
    out: list[Span] = []
    for start, end in merge(spans):
        for first, last in merged[bisect_left(merged, start, key=itemgetter(1)) :]:
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


@dataclass(frozen=True, slots=True)
class TokenWindows:
    """Cuts a text into windows of at most ``size`` tokens, neighbours sharing at most ``overlap`` of them.

    - What is between two tokens (whitespace, characters that the tokenizer drops) belongs to the window
      of the token before it, so that the windows cover the whole text.
    - A byte-level tokenizer may cut inside a character: the window then ends before that character. A
      character of more than ``size`` tokens is kept whole.
    - With ``whole_words`` a window ends at the last word break in its second half, and the overlap begins at
      one; a window without any (a number of hundreds of digits) ends at the exact token. A word break is
      whitespace, or either side of a Chinese, Japanese or Korean letter. A WordPiece tokenizer reads the text
      between two of them alone as it does in its context, so such a window never reads longer than ``size``.
    """

    size: int
    overlap: int
    whole_words: bool

    def cut(self, text: str, offsets: list[Span]) -> list[Span]:
        """The windows of a text, given the offsets of its tokens."""
        if len(offsets) <= self.size:
            return [(0, len(text))]
        windows = []
        first = end = 0
        while True:
            end = self._end(text, offsets, first, end)
            stop = len(text) if end == len(offsets) else offsets[end][0]
            windows.append((offsets[first][0] if first else 0, stop))
            if end == len(offsets):
                return windows
            first = self._next(text, offsets, first, end)

    def _end(self, text: str, offsets: list[Span], first: int, previous_end: int) -> int:
        """The token before which the window from ``first`` ends; it is after ``previous_end``."""
        latest = first + self.size
        if latest >= len(offsets):
            return len(offsets)
        if self.whole_words:
            for i in range(latest, max(first + self.size // 2, previous_end), -1):
                if _between_words(text, offsets, i):
                    return i
        for i in range(latest, previous_end, -1):
            if _between_characters(offsets, i):
                return i
        later = range(latest + 1, len(offsets))
        return next((i for i in later if _between_characters(offsets, i)), len(offsets))

    def _next(self, text: str, offsets: list[Span], first: int, end: int) -> int:
        """The token at which the window begins that comes after the one of tokens ``first`` to ``end``."""
        earliest = max(first + 1, end - self.overlap)
        if not (self.whole_words and _between_words(text, offsets, end)):
            return next((i for i in range(earliest, end) if _between_characters(offsets, i)), end)
        # Share no more than leaves room for the next word.
        later = range(end + 1, len(offsets))
        word_end = next((i for i in later[: self.size] if _between_words(text, offsets, i)), end + self.size)
        earliest = max(earliest, min(word_end, len(offsets)) - self.size)
        return next((i for i in range(earliest, end) if _between_words(text, offsets, i)), end)


def _between_characters(offsets: list[Span], i: int) -> bool:
    """Whether token ``i`` begins after the character in which the token before it ends."""
    return offsets[i - 1][1] <= offsets[i][0] < offsets[i][1]


def _between_words(text: str, offsets: list[Span], i: int) -> bool:
    """Whether a word ends before token ``i``."""
    at = offsets[i][0]
    return _between_characters(offsets, i) and (_breaks(text[at]) or _breaks(text[at - 1]))


def _breaks(character: str) -> bool:
    """Whether words break at this character: whitespace, or a letter of a script written without spaces."""
    if character.isascii():
        return character.isspace()
    return character.isspace() or (character.isalpha() and east_asian_width(character) in "WF")
