"""Recursive character splitting, with exact offsets.

The semantics are those of ``RecursiveCharacterTextSplitter`` in langchain-text-splitters: split at the first
separator that occurs, merge neighbouring pieces up to the size, split a piece that is too long at the next
separator. That class returns strings and looks for their offsets afterwards, which finds the wrong place
where text repeats; here the pieces are ranges of the text from the beginning.

There are two differences, both required by ``chunk.text == document.text[start:end]``. With ``keep_separator:
false`` langchain joins pieces with one separator where the text has several in a row, here a chunk keeps (and
counts) all that are inside it. A chunk with the very range of another one is dropped.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

from pydantic import Field

from harness.steps.chunk import Cuts, Documents, OverlappingConfig, Vectors
from harness.steps.chunk.sizes import SizeMeasure, measure_in
from harness.values import Span, Tokenizer, between

DEFAULT_SEPARATORS = ("\n\n", "\n", " ", "")
# Pieces measured at a time.
_BATCH = 65_536
KeepSeparator = Literal["start", "end", False]


class RecursiveConfig(OverlappingConfig):
    """Recursive character splitting."""

    kind: Literal["recursive"] = "recursive"
    separators: tuple[str, ...] = Field(
        DEFAULT_SEPARATORS,
        min_length=1,
        description="Where to split, tried in this order; the empty string splits between any two "
        "characters. Without it, a piece that contains no separator may be longer than `chunk_size`.",
    )
    keep_separator: KeepSeparator = Field(
        "start",
        description="Where a separator between two chunks goes: to the `start` of the second, the `end` of "
        "the first, or to neither (false).",
    )

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The spans of each document."""
        measure = measure_in(self.unit, tokenizer)
        splitter = RecursiveSplitter(
            measure, self.chunk_size, self.chunk_overlap, self.separators, self.keep_separator
        )
        return [splitter.split(document.text) for document in documents]


@dataclass(frozen=True, slots=True)
class RecursiveSplitter:
    """Splits ranges of a text. A merged chunk measures the sum of its pieces under ``measure``."""

    measure: SizeMeasure
    size: int
    overlap: int = 0
    separators: Sequence[str] = DEFAULT_SEPARATORS
    keep: KeepSeparator = "start"

    def split(self, text: str, span: Span | None = None) -> list[Span]:
        """Split ``span`` of ``text`` (by default all of it); whitespace is not touched."""
        return list(self._split(text, span or (0, len(text)), self.separators))

    def _split(self, text: str, span: Span, separators: Sequence[str]) -> Iterator[Span]:
        separator, finer = _first_present(text, span, separators)
        separator_size = 0 if self.keep else self.measure(separator, [(0, len(separator))])[0]
        joined = _Joined(self.size, self.overlap, len(separator), separator_size)
        for piece, size in self._measured(text, _pieces(text, span, separator, self.keep)):
            if size < self.size:
                yield from joined.add(piece, size)
                continue
            yield from joined.end()
            if finer:
                yield from self._split(text, piece, finer)
            else:
                yield piece
        yield from joined.end()

    def _measured(self, text: str, pieces: Iterator[Span]) -> Iterator[tuple[Span, int]]:
        """Each piece with its size, measured a batch at a time: a line of 50 MB has 50 million pieces."""
        while batch := list(islice(pieces, _BATCH)):
            yield from zip(batch, self.measure(text, batch), strict=True)


class _Joined:
    """Joins neighbouring pieces up to the size; a chunk begins with at most ``overlap`` of the one before.

    ``width`` is the separator's length in characters, ``separator_size`` its length in the unit.
    """

    def __init__(self, size: int, overlap: int, width: int, separator_size: int) -> None:
        self._size, self._overlap = size, overlap
        self._width, self._separator_size = width, separator_size
        # each piece with where it begins and ends, in the unit
        self._pieces: deque[tuple[Span, int, int]] = deque()

    def add(self, piece: Span, size: int) -> Iterator[Span]:
        """Take the next piece; the chunk that is full without it, if there is one."""
        pieces = self._pieces
        last, _, end = pieces[-1] if pieces else ((piece[0], piece[0]), 0, 0)
        begin = end + self._gap(last, piece)
        if pieces and begin + size - pieces[0][1] > self._size:
            yield self._span()
            while pieces and (
                end - pieces[0][1] > self._overlap
                or (end > pieces[0][1] and begin + size - pieces[0][1] > self._size)
            ):
                pieces.popleft()
        pieces.append((piece, begin, begin + size))

    def end(self) -> Iterator[Span]:
        """The last chunk, if there is one; start over."""
        if self._pieces:
            yield self._span()
        self._pieces.clear()

    def _span(self) -> Span:
        return self._pieces[0][0][0], self._pieces[-1][0][1]

    def _gap(self, last: Span, piece: Span) -> int:
        """The length between two pieces, in the unit: a whole number of separators."""
        return (piece[0] - last[1]) // self._width * self._separator_size if self._separator_size else 0


def _first_present(text: str, span: Span, separators: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The first separator that occurs in the span, and those after it; the last one where none does."""
    for i, separator in enumerate(separators):
        if not separator:
            return "", ()
        if text.find(separator, *span) >= 0:
            return separator, separators[i + 1 :]
    return separators[-1], ()


def _pieces(text: str, span: Span, separator: str, keep: KeepSeparator) -> Iterator[Span]:
    """The non-empty pieces of the span between separators."""
    start, end = span
    if not separator:
        return ((i, i + 1) for i in range(start, end))
    separators = re.compile(re.escape(separator)).finditer(text, start, end)
    if keep == "start":
        return between(start, end, (match.start() for match in separators))
    if keep == "end":
        return between(start, end, (match.end() for match in separators))
    edges = chain((start,), chain.from_iterable(match.span() for match in separators), (end,))
    return ((first, last) for first, last in zip(edges, edges, strict=True) if first < last)
