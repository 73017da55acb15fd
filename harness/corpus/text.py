"""The extracted text of a document, and what is worth knowing about it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.types import Document

# Bumped whenever the same file would yield another text; part of every cache key.
TEXT_FORMAT = 1
PAGE_SEPARATOR = "\n"
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextStats:
    """What the extraction met and did not repair.

    ``pages_without_text`` are 1-based. ``undecodable_characters`` counts U+FFFD in the text, among them the
    lone surrogates it stands for. ``bytes`` is the size of the file, ``characters`` the length of the text.
    ``byte_order_marks`` counts the marks taken off the front of a text file (0 or 1). ``encryption`` is
    ``none`` or the cipher. ``warnings`` are distinct messages of the parser about what it worked around.
    """

    pages: int
    pages_without_text: tuple[int, ...]
    undecodable_characters: int
    no_break_spaces: int
    characters: int
    bytes: int
    byte_order_marks: int
    encryption: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document and the statistics of its extraction; goes through JSON and back unchanged."""

    document: Document
    stats: TextStats

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON values."""
        return {"document": asdict(self.document), "stats": asdict(self.stats)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ParsedDocument:
        """The inverse of ``to_json``; raises ValueError when the text does not match its hash."""
        document, stats = dict(data["document"]), dict(data["stats"])
        document["page_starts"] = tuple(document["page_starts"])
        stats["pages_without_text"] = tuple(stats["pages_without_text"])
        stats["warnings"] = tuple(stats["warnings"])
        parsed = cls(Document(**document), TextStats(**stats))
        if parsed.document.sha256 != text_sha256(parsed.document.text):
            raise ValueError(f"{parsed.document.doc_id}: the stored text does not match its hash")
        return parsed


def text_sha256(text: str) -> str:
    """The hash a Document carries: SHA-256 of the text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def join_pages(pages: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """One text with a newline after every page but the last, and the offset at which each page begins."""
    starts, offset = [], 0
    for page in pages:
        starts.append(offset)
        offset += len(page) + len(PAGE_SEPARATOR)
    return PAGE_SEPARATOR.join(pages), tuple(starts)


def without_surrogates(text: str) -> str:
    """Text that UTF-8 can hold: surrogate pairs joined into their character, each lone one as U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
