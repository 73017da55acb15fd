"""One chunk per page."""

from __future__ import annotations

from typing import Literal

from harness.steps.chunk.sizes import ChunkerConfig, Cuts, Documents, Vectors
from harness.values import Tokenizer, between


class PageConfig(ChunkerConfig):
    """One chunk per page; a document without pages is one chunk."""

    kind: Literal["page"] = "page"

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The pages of each document."""
        return [list(between(0, len(document.text), document.page_starts)) for document in documents]
