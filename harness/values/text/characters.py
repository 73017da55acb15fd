"""Characters that need care: lone surrogates, wide characters, line ends within one line."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Full-width characters, their punctuation among them; Korean parts its words by blanks.
WIDE = "\u2e80-\u312f\u3190-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_BLANKS = re.compile(
    rf"(?P<wrap>(?<=[{WIDE}])[^\S\n]*\n[^\S\n]*(?=[{WIDE}“‘])|(?<=[”’])[^\S\n]*\n[^\S\n]*(?=[{WIDE}]))|\s+"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate, which some PDFs yield and UTF-8 cannot hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def width(text: str) -> int:
    """How wide a text is: a full-width character, such as a Chinese one, counts as two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(char) in "WF" for char in text)


def on_one_line(text: str) -> str:
    """The text on one line: a blank for white space, nothing for one line break in Chinese or Japanese."""
    return _BLANKS.sub(lambda found: " " if found["wrap"] is None else "", text).strip()


@lru_cache(maxsize=8192)  # a chunk is shown at many ranks
def snippet(text: str, length: int = 200) -> str:
    """The beginning of a text on one line of at most ``length`` characters."""
    line = on_one_line(text)
    return line if len(line) <= length else f"{line[: length - 1]}…"
