"""Lines of text broken as its script wants it: Chinese and Japanese have no blanks between words."""

from __future__ import annotations

import re
import textwrap

from harness.values.text.characters import WIDE, width

# A line never begins with what closes, nor ends with what opens.
_OPENING, _CLOSING = "（［｛〔〈《「『【“‘", "、。，．：；？！）］｝〕〉》」』】”’…"
_UNIT = re.compile(
    rf"\s+|[{_OPENING}]*[{WIDE}][{_CLOSING}]*|[{_OPENING}]*[^\s{WIDE}{_OPENING}{_CLOSING}]+[{_CLOSING}]*"
    rf"|[{_OPENING}{_CLOSING}]+"
)


def wrapped(text: str, cells: int, indent: str = "", break_words: bool = True) -> list[str]:
    """Lines of at most ``cells`` cells, a full-width character being two; broken at blanks or between those.

    With ``break_words`` a word that is wider is broken; else it is on a line of its own.
    """
    if text.isascii() or not re.search(f"[{WIDE}]", text):
        return textwrap.wrap(
            text,
            cells,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=break_words,
            break_on_hyphens=break_words,
        )
    room = max(2, cells - width(indent))
    lines, line, filled = [], "", 0
    for unit in _units(text, room if break_words else None):
        size = width(unit)
        if line and filled + size > room and not unit.isspace():
            lines.append(line.rstrip())
            line, filled = "", 0
        if line or not unit.isspace():
            line, filled = line + unit, filled + size
    return [indent + one for one in [*lines, line.rstrip()] if one]


def _units(text: str, room: int | None) -> list[str]:
    """Units that are never broken: words, full-width characters with the marks that cling to them, blanks."""
    found = []
    for unit in _UNIT.findall(text):
        while room is not None and width(unit) > room:
            end = next(i for i in range(len(unit), 0, -1) if width(unit[:i]) <= room)
            found.append(unit[:end])
            unit = unit[end:]
        found.append(unit)
    return found
