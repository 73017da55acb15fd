"""The document data that a run offers its steps: text, and the neighbourhood of a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.steps.search.tools import Shared
from harness.values import Chunk, Document, Heading, HeadingStyle, StageConfig

WindowUnit = Literal["sentences", "characters"]


class Sources(Shared, Protocol):
    """The part of a run that contexts and readers may use; they see nothing else of it."""

    def document(self, doc_id: str) -> Document:
        """A document of the corpus."""

    def sentences(self, doc_id: str) -> NDArray[np.int64]:
        """The spans of its sentences, half-open [N, 2], in the order of the text."""

    def headings(self, doc_id: str, style: HeadingStyle) -> Sequence[Heading]:
        """Its headings in the order of the text."""

    def chunks(self, config: StageConfig) -> Sequence[Chunk]:
        """All chunks of another chunker, by document and in the order of the text."""


def window_of(chunk: Chunk, amount: int, unit: WindowUnit, sources: Sources) -> tuple[int, int]:
    """The span of a chunk and ``amount`` sentences or characters on both sides, within its document.

    A sentence that the border of the chunk cuts counts as the first on its side.
    """
    if unit == "characters":
        length = len(sources.document(chunk.doc_id).text)
        return max(0, chunk.start - amount), min(length, chunk.end + amount)
    spans = sources.sentences(chunk.doc_id)
    before = int(np.searchsorted(spans[:, 0], chunk.start, side="left"))
    after = int(np.searchsorted(spans[:, 1], chunk.end, side="right"))
    start = int(spans[max(0, before - amount), 0]) if before else chunk.start
    end = int(spans[min(len(spans), after + amount) - 1, 1]) if after < len(spans) else chunk.end
    return min(start, chunk.start), max(end, chunk.end)
