"""Which script a text is written in, as far as it matters to a model: Latin letters or others."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile("[A-Za-zªºÀ-ɏḀ-ỿﬀ-ﬆＡ-Ｚａ-ｚ]")
# The first word of a character's name in Unicode, in words that people know.
_NAMES = {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}


def outside_latin(text: str) -> float:
    """The share of letters that are not Latin; 0 for a text without letters."""
    if text.isascii():
        return 0.0
    letters = _LETTER.findall(text)
    return sum(_LATIN.match(letter) is None for letter in letters) / len(letters) if letters else 0.0


def main_script(text: str) -> str:
    """The name of the script that most letters outside of Latin have, such as ``Chinese`` or ``Cyrillic``."""
    counts = Counter(
        unicodedata.name(letter, "unknown").split()[0]
        for letter in _LETTER.findall(text)
        if _LATIN.match(letter) is None
    )
    name = max(counts, key=lambda one: counts[one]) if counts else "LATIN"
    return _NAMES.get(name, name.capitalize())
