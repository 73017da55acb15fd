"""Whole sentences, grouped up to a size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal

from pydantic import Field

from harness.steps.chunk import Cuts, Documents, SizedConfig, Vectors
from harness.steps.chunk.recursive import RecursiveSplitter
from harness.steps.chunk.sizes import SizeMeasure, measure_in
from harness.values import SENTENCES_VERSION, Span, Tokenizer, sentence_spans

PARTS_VERSION = 2
"""Raised whenever a sentence that is too long may be cut elsewhere than before; part of cache keys."""


class SentenceConfig(SizedConfig):
    """Whole sentences grouped up to `chunk_size`; a longer sentence is cut at whitespace."""

    versions: ClassVar[Mapping[str, Any]] = {"sentences": (SENTENCES_VERSION, PARTS_VERSION)}

    kind: Literal["sentence"] = "sentence"
    sentence_overlap: int = Field(
        0,
        ge=0,
        description="How many sentences a chunk repeats from the end of the previous one; fewer if they "
        "do not fit.",
    )

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The groups of sentences of each document."""
        measure = measure_in(self.unit, tokenizer)
        return [list(_groups(document.text, self, measure)) for document in documents]


def _groups(text: str, config: SentenceConfig, measure: SizeMeasure) -> Iterator[Span]:
    sentences, sizes = short_sentences(text, config.chunk_size, measure)
    if not sentences:
        return
    gaps = [0, *measure.spans(text, [(before[1], after[0]) for before, after in pairwise(sentences)])]
    first = total = 0
    for i, size in enumerate(sizes):
        if first < i and total + gaps[i] + size > config.chunk_size:
            yield sentences[first][0], sentences[i - 1][1]
            room = config.chunk_size - gaps[i] - size
            first, total = _repeat(sizes, gaps, i, config.sentence_overlap, room)
        total += size + (gaps[i] if first < i else 0)
    yield sentences[first][0], sentences[-1][1]


def _repeat(sizes: list[int], gaps: list[int], i: int, most: int, room: int) -> tuple[int, int]:
    """Where a chunk begins that repeats up to ``most`` sentences before sentence ``i``, and their size.

    They are no longer than ``room``. It never reaches back to the beginning of the chunk before: all of
    that did not fit.
    """
    first, total = i, 0
    while i - first < most and first > 0:
        longer = total + sizes[first - 1] + (gaps[first] if first < i else 0)
        if longer > room:
            break
        first, total = first - 1, longer
    return first, total


def short_sentences(text: str, limit: int, measure: SizeMeasure) -> tuple[list[Span], list[int]]:
    """The sentences of a text with their sizes, those above ``limit`` cut at whitespace."""
    cutter = RecursiveSplitter(measure, limit, separators=("\n", " ", ""), keep="end")
    sentences = sentence_spans(text)
    spans: list[Span] = []
    sizes: list[int] = []
    for sentence, size in zip(sentences, measure.spans(text, sentences), strict=True):
        parts = [sentence] if size <= limit else _without_repeats(cutter.split(text, sentence))
        spans += parts
        sizes += [size] if size <= limit else measure.spans(text, parts)
    return spans, sizes


def _without_repeats(parts: Sequence[Span]) -> list[Span]:
    """The parts, each from the end of the one before.

    The splitter, as LangChain's, begins a part with what ended the last one and has no size, such as a tab
    where sizes are in tokens.
    """
    ends = [0, *(end for _, end in parts)]
    return [(max(start, before), end) for (start, end), before in zip(parts, ends, strict=False)]
