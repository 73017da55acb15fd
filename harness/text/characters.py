"""Characters that need care: halves of one, wide ones, line ends in what should be one line."""

from __future__ import annotations

import re
import unicodedata

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate, which some PDFs yield and UTF-8 cannot hold."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def width(text: str) -> int:
    """How wide a text is: a full-width character, such as a Chinese one, counts as two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(char) in "WF" for char in text)


def snippet(text: str, length: int = 200) -> str:
    """The beginning of a text on one line of at most ``length`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"
