"""The extracted text of a document, and statistics of its extraction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from harness.values import Document

# Bumped whenever the same file would yield another text; part of every cache key.
TEXT_FORMAT = 1
# Bumped whenever TextStats changes; part of every cache key.
STATS_FORMAT = 2
PAGE_SEPARATOR = "\n"
# C0 and C1 except for tab, line ends, form feed and NEL; private use; noncharacters
_ODD = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextStats:
    """Problems that the extraction met and did not repair.

    Pages are 1-based. ``undecodable_characters`` counts U+FFFD in the text, among them the lone surrogates it
    stands for; ``odd_characters`` counts control and private-use characters and noncharacters. ``bytes`` is
    the size of the file, ``characters`` the length of the text. ``byte_order_marks`` counts the marks taken
    off the front of a text file (0 or 1). ``encryption`` is ``none`` or the cipher. ``warnings`` are distinct
    messages of the parser about what it worked around, and of a second reading that failed.

    ``second_reader`` read the file once more, '' where none did. ``blank_pages`` are those of the
    ``pages_without_text`` on which it finds next to nothing drawn; ``short_pages`` those on which it finds
    far more text, together ``missing_characters`` (without white space) more; ``damaged_pages`` those with a
    broken content stream. A short page may be one that the parser did not find at all, numbered above
    ``pages``.
    """

    pages: int
    pages_without_text: tuple[int, ...]
    undecodable_characters: int
    no_break_spaces: int
    characters: int
    bytes: int
    byte_order_marks: int = 0
    encryption: str = "none"
    warnings: tuple[str, ...] = ()
    odd_characters: int = 0
    second_reader: str = ""
    blank_pages: tuple[int, ...] = ()
    short_pages: tuple[int, ...] = ()
    missing_characters: int = 0
    damaged_pages: tuple[int, ...] = ()

    @property
    def silent_pages(self) -> tuple[int, ...]:
        """Pages without text though something is drawn on them; the short ones are listed separately."""
        return tuple(sorted(set(self.pages_without_text) - {*self.blank_pages, *self.short_pages}))

    @property
    def suspect_pages(self) -> tuple[int, ...]:
        """Pages that may have lost text: silent, short or damaged ones."""
        return tuple(sorted({*self.silent_pages, *self.short_pages, *self.damaged_pages}))

    @property
    def all_pages(self) -> int:
        """The number of pages, those that the second reading alone finds included."""
        return max((self.pages, *self.short_pages, *self.damaged_pages))

    @property
    def suspect_characters(self) -> int:
        """Characters that stand for no text that was written."""
        return self.undecodable_characters + self.odd_characters


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
        parsed = TypeAdapter(cls).validate_python(data)
        if parsed.document.sha256 != text_sha256(parsed.document.text):
            raise ValueError(f"{parsed.document.doc_id}: the stored text does not match its hash")
        return parsed


def text_sha256(text: str) -> str:
    """The hash a Document carries: SHA-256 of the text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def count_odd(text: str) -> int:
    """How many control characters (white space apart), private-use characters and noncharacters there are."""
    return len(_ODD.findall(text))


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
