"""Headings of a text: those of Markdown, and the numbered ones of reports and filings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_SETEXT = re.compile(r" {0,3}(=+|-+)\s*$")
# A line that cannot be part of a paragraph, hence not of a setext heading.
_NO_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:>|[-*+]\s|\d{1,9}[.)]\s|\|)")
_CLOSING = re.compile(r"(?:^|\s)#+\s*$")

_LONGEST = 120
_FOLLOWED = r"(?=\s*(?:$|[.:：—–-])|\s+[^\W\d_a-z])"
_ZH = r"第\s*[〇零一二三四五六七八九十百\d]+\s*"
# "PART II", "Item 7A. Risk", "Chapter 3", "Note 12", "2.1 Scope", "第三章 …", "第二节 …"
_NUMBERED = re.compile(
    rf"""\s*(?:
      (?P<part>    (?:PART|Part)\s+(?:[IVX]+|\d+)\b{_FOLLOWED} | {_ZH}[部编編篇] )
    | (?P<chapter> (?i:item|chapter|article|appendix)\s+(?:[IVX]+|\d+[A-Z]?|[A-Z])\b{_FOLLOWED} | {_ZH}章 )
    | (?P<section> (?i:section|note)\s+\d+[A-Z]?\b{_FOLLOWED} | {_ZH}[节節] )
    | (?P<number>  \d{{1,2}}(?:\.\d{{1,2}}){{1,4}}\.?(?=\s+[^\W\d_a-z]) )
    )""",
    re.VERBOSE,
)
# A line of a table of contents ends in its page, prose in a full stop, a comma or a semicolon.
_NO_HEADING = re.compile(r"(?:\s|\.{2,})\d{1,4}\s*$|[,;，；。]\s*$|[a-z]\w*\.\s*$")


HeadingStyle = Literal["markdown", "numbered"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that begins at the offset ``start``; level 1 is the highest."""

    start: int
    level: int
    title: str


def markdown_headings(text: str) -> Iterator[Heading]:
    """The headings outside fenced code, ATX (``## Title``) or setext (underlined)."""
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
            yield Heading(offset, len(heading[1]), _CLOSING.sub("", body[heading.end() :]).strip())
            paragraph = None
        elif paragraph is not None and (underline := _SETEXT.match(body)):
            title = " ".join(text[paragraph:offset].split())
            yield Heading(paragraph, 1 if underline[1][0] == "=" else 2, title)
            paragraph = None
        elif _NO_PARAGRAPH.match(body):
            paragraph = None
        elif paragraph is None:
            paragraph = offset
        offset += len(line)


def numbered_headings(text: str) -> Iterator[Heading]:
    """Lines that begin as a numbered heading does: parts, items, chapters, sections, ``2.1 Scope``.

    A rule of thumb for extracted text, where no type size is left. Levels: parts 1, items and chapters 2,
    sections and notes 3, bare numbers by their dots from 3 on. Lines of a table of contents, prose and lines
    of more than 120 characters are none.
    """
    offset = 0
    for line in text.splitlines(keepends=True):
        match = _NUMBERED.match(line)
        title = " ".join(line.split())
        if match and len(title) <= _LONGEST and not _NO_HEADING.search(title):
            kind = match.lastgroup or "number"
            level = {"part": 1, "chapter": 2, "section": 3}.get(kind)
            yield Heading(offset, level or 2 + match[0].strip().rstrip(".").count("."), title)
        offset += len(line)
