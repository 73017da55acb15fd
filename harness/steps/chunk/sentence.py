"""Whole sentences, grouped up to a size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
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
    sentences = Sentences(text, config.chunk_size, measure)
    count, first = len(sentences.spans), 0
    for i in range(1, count):
        if sentences.size(first, i + 1) > config.chunk_size:
            yield sentences.span(first, i)
            repeated = range(max(0, i - config.sentence_overlap), i)
            first = next((k for k in repeated if sentences.size(k, i + 1) <= config.chunk_size), i)
    if count:
        yield sentences.span(first, count)


class Sentences:
    """The sentences of a text in their order, those longer than ``limit`` cut at whitespace."""

    def __init__(self, text: str, limit: int, measure: SizeMeasure) -> None:
        cutter = RecursiveSplitter(measure, limit, separators=("\n", " ", ""), keep="end")
        whole = sentence_spans(text)
        self.spans: list[Span] = []
        sizes: list[int] = []
        for sentence, size in zip(whole, measure(text, whole), strict=True):
            parts = [sentence] if size <= limit else _without_repeats(cutter.split(text, sentence))
            self.spans += parts
            sizes += [size] if size <= limit else measure(text, parts)
        gaps = measure(text, [(before[1], after[0]) for before, after in pairwise(self.spans)])
        # where each begins and ends, in the unit
        self._ends = list(accumulate(gap + size for gap, size in zip([0, *gaps], sizes, strict=False)))
        self._begins = [end - size for end, size in zip(self._ends, sizes, strict=True)]

    def span(self, first: int, last: int) -> Span:
        """The range of the sentences from ``first`` up to ``last``, which is not among them."""
        return self.spans[first][0], self.spans[last - 1][1]

    def size(self, first: int, last: int) -> int:
        """How long that range is, in the unit: its sentences and the gaps between them."""
        return self._ends[last - 1] - self._begins[first]


def _without_repeats(parts: Sequence[Span]) -> list[Span]:
    """The parts, each from the end of the one before.

    The splitter, as LangChain's, begins a part with what ended the last one and has no size, such as a tab
    where sizes are in tokens.
    """
    ends = [0, *(end for _, end in parts)]
    return [(max(start, before), end) for (start, end), before in zip(parts, ends, strict=False)]
