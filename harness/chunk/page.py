"""One chunk per page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.chunk.sizes import ChunkerConfig, Vectors
from harness.text.spans import Span, between
from harness.text.tokenizer import Tokenizer
from harness.types import Document


class PageConfig(ChunkerConfig):
    """One chunk per page; a document without pages is one chunk."""

    kind: Literal["page"] = "page"

    def split(
        self, documents: Sequence[Document], tokenizer: Tokenizer | None, vectors: Vectors | None
    ) -> list[list[Span]]:
        """The pages of each document."""
        return [list(between(0, len(document.text), document.page_starts)) for document in documents]
