"""Before every chunk the title of its document, or the name of its file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from harness.steps.search.context import ContextText, Contextualizer, line
from harness.steps.search.passages import ContextConfig
from harness.steps.search.tools import Sources
from harness.values import Chunk


class DocumentConfig(ContextConfig):
    """A line that says which document the chunk is from."""

    kind: Literal["document"] = "document"
    show: Literal["title", "name", "name_and_title"] = Field(
        "title",
        description="`title`: the first Markdown heading, else the first line that holds a letter; `name`: "
        "that of the file without its ending, blanks for `_` and `-`.",
    )
    longest: int = Field(200, ge=1, description="A longer title ends after so many characters.")


class DocumentContext(Contextualizer[DocumentConfig]):
    """Every chunk of a document gets the same line."""

    def run(self, chunks: Sequence[Chunk], sources: Sources) -> list[ContextText]:
        """The line of its document, for each chunk."""
        lines = {doc_id: line(self._of(doc_id, sources)) for doc_id in {chunk.doc_id for chunk in chunks}}
        return [lines[chunk.doc_id] for chunk in chunks]

    def _of(self, doc_id: str, sources: Sources) -> str:
        name, title = "", ""
        if self.config.show != "title":
            name = " ".join(re.split(r"[\s_-]+", doc_id)).strip()
        if self.config.show != "name":
            title = self._title(doc_id, sources)[: self.config.longest].rstrip()
        return ": ".join(part for part in (name, title) if part)

    def _title(self, doc_id: str, sources: Sources) -> str:
        headings = (heading.title for heading in sources.headings(doc_id, "markdown") if heading.title)
        lines = (" ".join(paragraph.split()) for paragraph in sources.document(doc_id).text.splitlines())
        first = next((text for text in lines if any(map(str.isalpha, text))), "")
        return next(headings, first)
