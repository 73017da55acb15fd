"""Answers that are lists: one thing a line, whatever marks a model puts before it."""

from __future__ import annotations

import re

# A bullet, or a number that ends in a mark and a blank: "3M" and "2.5 GHz" are no numbering.
_MARK = re.compile(r"^(?:[-*•–]\s+|[(（]?\d{1,2}(?:[.):]\s+|[、．）]\s*))")
_AROUND = {'"': '"', "“": "”", "「": "」", "'": "'"}
_FENCE = "```"


def lines_of(text: str) -> list[str]:
    """The distinct lines of an answer in their order, without list marks, quotation marks and code fences."""
    found: dict[str, None] = {}
    for raw in text.splitlines():
        line = _MARK.sub("", raw.strip()).strip()
        if len(line) > 1 and _AROUND.get(line[0]) == line[-1]:
            line = line[1:-1].strip()
        if line and not line.startswith(_FENCE):
            found[line] = None
    return list(found)
