"""Sections under Markdown headings, and pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from harness.steps.chunk import ChunkerConfig, Cuts, Documents, OverlappingConfig, Vectors
from harness.steps.chunk.recursive import DEFAULT_SEPARATORS, RecursiveSplitter
from harness.steps.chunk.sizes import SizeMeasure, measure_in
from harness.values import Span, Tokenizer, between, markdown_headings


class MarkdownConfig(OverlappingConfig):
    """Sections under Markdown headings; a long section is split recursively.

    Text without headings, such as the text of a PDF, is one section: the result is that of `recursive`.
    """

    kind: Literal["markdown"] = "markdown"
    heading_level: int = Field(
        6, ge=1, le=6, description="The deepest level of heading that begins a section."
    )
    merge_short: bool = Field(
        False, description="Join neighbouring sections that fit into `chunk_size` together."
    )
    separators: tuple[str, ...] = Field(
        DEFAULT_SEPARATORS, min_length=1, description="Where a long section is split, tried in this order."
    )

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The sections of each document, long ones in parts."""
        measure = measure_in(self.unit, tokenizer)
        splitter = RecursiveSplitter(measure, self.chunk_size, self.chunk_overlap, self.separators)
        return [list(_chunks(document.text, self, measure, splitter)) for document in documents]


def section_spans(text: str, heading_level: int = 6) -> list[Span]:
    """The sections of a text, from one heading to the next; the text before the first is one too."""
    cuts = (heading.start for heading in markdown_headings(text) if heading.level <= heading_level)
    return list(between(0, len(text), cuts))


def _chunks(
    text: str, config: MarkdownConfig, measure: SizeMeasure, splitter: RecursiveSplitter
) -> Iterator[Span]:
    sections = section_spans(text, config.heading_level)
    if config.merge_short:
        sections = _merged(text, sections, measure, config.chunk_size)
    for section, size in zip(sections, measure(text, sections), strict=True):
        if size <= config.chunk_size:
            yield section
        else:
            yield from splitter.split(text, section)


def _merged(text: str, sections: list[Span], measure: SizeMeasure, limit: int) -> list[Span]:
    """Neighbouring sections joined as long as they measure no more than ``limit`` together."""
    merged: list[Span] = []
    size = 0
    for section, length in zip(sections, measure(text, sections), strict=True):
        if merged and size + length <= limit:
            merged[-1] = merged[-1][0], section[1]
            size += length
        else:
            merged.append(section)
            size = length
    return merged


class PageConfig(ChunkerConfig):
    """One chunk per page; a document without pages is one chunk."""

    kind: Literal["page"] = "page"

    def split(self, documents: Documents, tokenizer: Tokenizer | None, vectors: Vectors | None) -> Cuts:
        """The pages of each document."""
        return [list(between(0, len(document.text), document.page_starts)) for document in documents]
