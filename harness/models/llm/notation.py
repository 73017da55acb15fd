"""JSON in another notation: Python's quotes and names, typographic quotes, a comma before a bracket closes.

Only signs, numbers and short texts are read, and what they say is left to the reader of JSON: what it would
refuse, such as a field that is named twice, stays refused.
"""

from __future__ import annotations

import json
import re

_PART = re.compile(
    r"""(?P<text>"[^"\\\n]*"|'[^'"\\\n]*'|[“”][^“”"\\\n]*[“”])|(?P<space>[ \t\r\n]+)"""
    r"|-?[0-9]+(?:\.[0-9]+)?|true|false|null|True|False|None|[{}\[\]:,：，]"
)
_AS_JSON = {"：": ":", "，": ",", "True": "true", "False": "false", "None": "null"}


def in_json(text: str) -> str:
    """A value of such a notation as JSON; '' where there is none, or where it is JSON already."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return ""
        at = part.end()
        if part["text"]:
            parts.append(json.dumps(part["text"][1:-1], ensure_ascii=False))
        elif part["space"]:
            # two numbers beside each other are not to become one
            parts[-1:] = [f"{parts[-1]} "] if parts else []
        else:
            parts.append(_AS_JSON.get(part[0], part[0]))
    if not parts:
        return ""
    plain = "".join(
        part
        for left, part, right in zip(["", *parts], [*parts, ""], [*parts[1:], "", ""], strict=True)
        if not (_closes(right) and part.strip() == "," and not _opens(left))
    )
    return "" if plain == text else plain


def _closes(part: str) -> bool:
    return part.strip() in ("}", "]")


def _opens(part: str) -> bool:
    """Whether no comma may follow."""
    return part.strip() in ("", ",", ":", "{", "[")
