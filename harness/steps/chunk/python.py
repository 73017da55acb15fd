"""A user-defined chunker."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from harness.steps.chunk import ChunkerConfig, Cuts, Documents, Vectors
from harness.steps.custom.code import CodeConfig, call_function, calling
from harness.values import Document, Span, Tokenizer, quoted


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
        span = _offsets(item)
        if span is None or not 0 <= span[0] < span[1] <= len(document.text):
            among = "" if span is None else f" with 0 <= start < end <= {len(document.text)}"
            raise config.broken(
                f"returned {quoted(item, 60)} for {document.doc_id}, which is not (start, end){among}"
            )
        if spans and span <= spans[-1]:
            raise config.broken(
                f"returned {span} after {spans[-1]} for {document.doc_id}: chunks must be in text order, no "
                "two the same"
            )
        spans.append(span)
    return spans


def _offsets(item: Any) -> Span | None:
    """Two whole numbers, of whatever type; None for anything else."""
    try:
        start, end = (
            int(number)
            for number in item
            if number == int(number) and not isinstance(number, bool | np.bool_)
        )
    except (TypeError, ValueError, OverflowError):
        return None
    return start, end
