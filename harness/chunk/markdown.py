"""Sections under Markdown headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from harness.chunk.recursive import DEFAULT_SEPARATORS, RecursiveSplitter
from harness.chunk.sizes import Measure, OverlappingConfig, measure_in
from harness.text.spans import Span, between
from harness.text.tokenizer import Tokenizer
from harness.types import Document

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_SETEXT = re.compile(r" {0,3}(=+|-+)\s*$")
# A line that cannot be part of a paragraph, hence not of a setext heading.
_NO_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:>|[-*+]\s|\d{1,9}[.)]\s|\|)")


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


def split_documents(
    documents: Sequence[Document], config: MarkdownConfig, tokenizer: Tokenizer | None
) -> list[list[Span]]:
    """The sections of each document, long ones in parts."""
    measure = measure_in(config.unit, tokenizer)
    splitter = RecursiveSplitter(measure, config.chunk_size, config.chunk_overlap, config.separators)
    return [list(_chunks(document.text, config, measure, splitter)) for document in documents]


def section_spans(text: str, heading_level: int = 6) -> list[Span]:
    """The sections of a text, from one heading to the next; what stands before the first is one too."""
    cuts = (offset for offset, level in _headings(text) if level <= heading_level)
    return list(between(0, len(text), cuts))


def _chunks(
    text: str, config: MarkdownConfig, measure: Measure, splitter: RecursiveSplitter
) -> Iterator[Span]:
    sections = section_spans(text, config.heading_level)
    if config.merge_short:
        sections = _merged(text, sections, measure, config.chunk_size)
    for section, size in zip(sections, measure.spans(text, sections), strict=True):
        if size <= config.chunk_size:
            yield section
        else:
            yield from splitter.split(text, section)


def _merged(text: str, sections: list[Span], measure: Measure, limit: int) -> list[Span]:
    """Neighbouring sections joined as long as they measure no more than ``limit`` together."""
    merged: list[Span] = []
    size = 0
    for section, length in zip(sections, measure.spans(text, sections), strict=True):
        if merged and size + length <= limit:
            merged[-1] = merged[-1][0], section[1]
            size += length
        else:
            merged.append(section)
            size = length
    return merged


def _headings(text: str) -> Iterator[tuple[int, int]]:
    """Offset and level of each heading, ATX (``## Title``) or setext (underlined), outside fenced code."""
    fence = ""
    paragraph: int | None = None
    offset = 0
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\r\n")
        mark = _FENCE.match(body)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence, paragraph = mark[1], None
        elif heading := _ATX.match(body):
            yield offset, len(heading[1])
            paragraph = None
        elif paragraph is not None and (underline := _SETEXT.match(body)):
            yield paragraph, 1 if underline[1][0] == "=" else 2
            paragraph = None
        elif _NO_PARAGRAPH.match(body):
            paragraph = None
        elif paragraph is None:
            paragraph = offset
        offset += len(line)
