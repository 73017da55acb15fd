"""Recursive character splitting, with exact offsets.

The semantics are those of ``RecursiveCharacterTextSplitter`` in langchain-text-splitters: split at the first
separator that occurs, merge neighbouring pieces up to the size, split a piece that is too long at the next
separator. That class returns strings and looks for their offsets afterwards, which finds the wrong place
where text repeats; here the pieces are ranges of the text from the beginning.

Two differences, both forced by ``chunk.text == document.text[start:end]``. With ``keep_separator: false``
langchain joins pieces with one separator where the text has several in a row, here a chunk keeps (and counts)
all that stand inside it. A chunk with the very range of another one is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from pydantic import Field

from harness.chunk.sizes import Measure, OverlappingConfig, measure_in
from harness.chunk.spans import Span, between
from harness.chunk.tokenizer import Tokenizer
from harness.types import Document

DEFAULT_SEPARATORS = ("\n\n", "\n", " ", "")
KeepSeparator = Literal["start", "end", False]


class RecursiveConfig(OverlappingConfig):
    """Recursive character splitting."""

    kind: Literal["recursive"] = "recursive"
    separators: tuple[str, ...] = Field(
        DEFAULT_SEPARATORS,
        min_length=1,
        description="Where to split, tried in this order; the empty string splits between any two "
        "characters. Without it, a piece that holds no separator may be longer than `chunk_size`.",
    )
    keep_separator: KeepSeparator = Field(
        "start",
        description="Where a separator between two chunks goes: to the `start` of the second, the `end` of "
        "the first, or to neither (false).",
    )


def split_documents(
    documents: Sequence[Document], config: RecursiveConfig, tokenizer: Tokenizer | None
) -> list[list[Span]]:
    """The spans of each document."""
    splitter = RecursiveSplitter(
        measure_in(config.unit, tokenizer),
        config.chunk_size,
        config.chunk_overlap,
        config.separators,
        config.keep_separator,
    )
    return [splitter.split(document.text) for document in documents]


@dataclass(frozen=True, slots=True)
class RecursiveSplitter:
    """Splits ranges of a text. A merged chunk measures the sum of its pieces under ``measure``."""

    measure: Measure
    size: int
    overlap: int = 0
    separators: Sequence[str] = DEFAULT_SEPARATORS
    keep: KeepSeparator = "start"

    def split(self, text: str, span: Span | None = None) -> list[Span]:
        """Split ``span`` of ``text`` (by default all of it); whitespace is not touched."""
        return list(self._split(text, span or (0, len(text)), self.separators))

    def _split(self, text: str, span: Span, separators: Sequence[str]) -> Iterator[Span]:
        separator, finer = _first_present(text, span, separators)
        pieces = _pieces(text, span, separator, self.keep)
        sizes = self.measure.spans(text, pieces)
        separator_size = 0 if self.keep else self.measure.text(separator)
        begin = 0
        for i, size in enumerate(sizes):
            if size < self.size:
                continue
            yield from self._merge(pieces[begin:i], sizes[begin:i], len(separator), separator_size)
            begin = i + 1
            if finer:
                yield from self._split(text, pieces[i], finer)
            else:
                yield pieces[i]
        yield from self._merge(pieces[begin:], sizes[begin:], len(separator), separator_size)

    def _merge(self, pieces: list[Span], sizes: list[int], width: int, separator_size: int) -> Iterator[Span]:
        """Join neighbours up to the size, each chunk beginning with at most ``overlap`` of the one before.

        ``width`` is the separator's length in characters, ``separator_size`` its length in the unit.
        """
        if not pieces:
            return
        gaps = _gaps(pieces, width, separator_size)
        first = total = 0
        for i, size in enumerate(sizes):
            if total + size + (gaps[i] if first < i else 0) > self.size and first < i:
                yield pieces[first][0], pieces[i - 1][1]
                while total > self.overlap or (
                    total > 0 and total + size + (gaps[i] if first < i else 0) > self.size
                ):
                    total -= sizes[first] + (gaps[first + 1] if first + 1 < i else 0)
                    first += 1
            total += size + (gaps[i] if first < i else 0)
        yield pieces[first][0], pieces[-1][1]


def _first_present(text: str, span: Span, separators: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The first separator that occurs in the span, and those after it; the last one where none does."""
    for i, separator in enumerate(separators):
        if not separator:
            return "", ()
        if text.find(separator, *span) >= 0:
            return separator, separators[i + 1 :]
    return separators[-1], ()


def _pieces(text: str, span: Span, separator: str, keep: KeepSeparator) -> list[Span]:
    """The non-empty pieces of the span between separators."""
    start, end = span
    if not separator:
        return [(i, i + 1) for i in range(start, end)]
    found = re.compile(re.escape(separator)).finditer(text, start, end)
    if keep == "start":
        return list(between(start, end, (match.start() for match in found)))
    if keep == "end":
        return list(between(start, end, (match.end() for match in found)))
    pieces = []
    for match in found:
        pieces.append((start, match.start()))
        start = match.end()
    return [piece for piece in (*pieces, (start, end)) if piece[0] < piece[1]]


def _gaps(pieces: list[Span], width: int, separator_size: int) -> list[int]:
    """What stands between each piece and the one before it, in the unit: a whole number of separators."""
    if not separator_size:
        return [0] * len(pieces)
    return [0] + [(after[0] - before[1]) // width * separator_size for before, after in pairwise(pieces)]
