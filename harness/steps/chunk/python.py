"""A user-defined chunker."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from harness.steps.chunk import ChunkerConfig, Cuts, Documents, Vectors
from harness.steps.custom.code import CodeConfig, call_function, calling
from harness.values import Document, Span, Tokenizer


class PythonChunkerConfig(CodeConfig, ChunkerConfig):
    """Your own function cuts documents, by offsets."""

    kind: Literal["python"] = "python"

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """Call ``function(text, **arguments)`` with every document; it returns (start, end) of each chunk.

        Offsets are half-open and count characters of the text. Raises HarnessError for offsets outside of
        it, for those that do not rise, and for anything else that is not an offset.
        """
        with calling(self.call):
            return [_spans(document, self) for document in documents]


def _spans(document: Document, config: PythonChunkerConfig) -> list[Span]:
    returned = call_function(config.call, document.text, **config.arguments)
    if isinstance(returned, str) or not hasattr(returned, "__iter__"):
        raise config.broken(f"returned {type(returned).__name__} for {document.doc_id}, not offsets")
    spans: list[Span] = []
    for item in returned:
        start, end = _offsets(item, document, config)
        if spans and (start, end) <= spans[-1]:
            raise config.broken(
                f"returned {(start, end)} after {spans[-1]} for {document.doc_id}: chunks must be in "
                "text order, with no two the same"
            )
        spans.append((start, end))
    return spans


def _offsets(item: Any, document: Document, config: PythonChunkerConfig) -> Span:
    if isinstance(item, str):
        raise config.broken(
            f"returned text for {document.doc_id}; return (start, end) for each chunk, so that its "
            "position is known"
        )
    try:
        start, end = (
            int(one) if one == int(one) and not isinstance(one, bool | np.bool_) else None for one in item
        )
    except (TypeError, ValueError, OverflowError):
        start = end = None
    if start is None or end is None:
        raise config.broken(f"returned {str(item)[:60]} for {document.doc_id}, which is not (start, end)")
    if not 0 <= start < end <= len(document.text):
        raise config.broken(
            f"returned {(start, end)} for {document.doc_id}, which has the characters 0 to "
            f"{len(document.text)}"
        )
    return start, end
