"""The text around the passages that a reader of the results sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.report import PASSAGE_RANKS, RankedRow, SurroundingRow, spans_of_chunk
from harness.text.spans import Span, outside
from harness.types import Document

AROUND = 300
"""Characters shown before and after a passage."""


def surrounding_rows(ranked: Iterable[RankedRow], documents: Sequence[Document]) -> list[SurroundingRow]:
    """The text up to ``AROUND`` characters before and after every passage that passages.csv holds."""
    shown: dict[str, list[Span]] = {}
    around: dict[str, list[Span]] = {}
    for chunk_id, document in _passages(ranked).items():
        *before, (start, end) = spans_of_chunk(chunk_id)
        shown.setdefault(document, []).extend((*before, (start, end)))
        around.setdefault(document, []).append((max(0, start - AROUND), end + AROUND))
    texts = {document.doc_id: document.text for document in documents}
    return [
        SurroundingRow(document, start, end, texts[document][start:end].replace("\r\n", " \n"))
        for document in sorted(around)
        for start, end in _within(outside(around[document], shown[document]), len(texts[document]))
    ]


def _passages(ranked: Iterable[RankedRow]) -> Mapping[str, str]:
    """The document of every chunk among the first ranks, by its id."""
    return {row.chunk_id: row.document for row in ranked if row.rank <= PASSAGE_RANKS}


def _within(spans: Iterable[Span], length: int) -> Iterable[Span]:
    """The spans cut at the end of the document."""
    return ((start, min(end, length)) for start, end in spans if start < length)
