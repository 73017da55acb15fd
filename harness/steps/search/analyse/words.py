"""Unicode words and CJK runs: how text is cut before a language is applied, and runs without a dictionary."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

# Han with its extensions and iteration marks, kana, Hangul. What NFKC unfolds need not be named.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096"
    "\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_HAN = re.compile("[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
# A line break within a run is the end of a line, not of a word; Korean, which has blanks, is left alone.
_UNSPACED = "\u3005-\u3007\u3041-\u309f\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_WRAP = re.compile(rf"(?<=[{_UNSPACED}])[^\S\n]*\n[^\S\n]*(?=[{_UNSPACED}])")
# NFKC would make a comma of these, and one number of two: 2024，2025.
_ASIDE = str.maketrans({"，": " ", "：": " ", "；": " ", "’": "'", "\u00ad": None, "\u200b": None})


def normalise(text: str) -> str:
    """Compatibility forms unified (NFKC), lower case, soft hyphens out, wrapped lines of Chinese joined."""
    return _WRAP.sub("", unicodedata.normalize("NFKC", text.translate(_ASIDE)).lower())


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The words and CJK runs of a normalised text in order; the flag says which of them are runs.

    A number with its separators and per cent sign is one word (``96,773``, ``4.2%``), and so are a word with
    an apostrophe within and letters or digits that touch (``q3``, ``10k``).
    """
    for match in _pattern().finditer(text):
        yield match.group(), match.lastgroup == "cjk"


def is_han(run: str) -> bool:
    """Whether a CJK run holds Chinese characters alone, neither kana nor Hangul."""
    return _HAN.fullmatch(run) is not None


@cache
def _pattern() -> re.Pattern[str]:
    letter = rf"(?:[^\W_{_CJK}]|[{_marks()}])"
    word = rf"{letter}+(?:(?<=\d)[.,](?=\d){letter}+|'(?=[^\W\d_]){letter}+)*(?:(?<=\d)%)?"
    return re.compile(rf"(?P<cjk>[{_CJK}]+)|(?P<word>{word})")


def _marks() -> str:
    """The marks that belong to the letter before them, such as the vowels of Devanagari, as ranges."""
    marks = [i for i in range(0x300, 0xFE00) if unicodedata.category(chr(i)).startswith("M")]
    cjk = re.compile(f"[{_CJK}]")
    return "".join(chr(i) for i in marks if not cjk.match(chr(i)))


def bigrams(run: str) -> list[str]:
    """All pairs of neighbours in a run of CJK characters; a character that is alone is a term.

    Needs no dictionary and misses no word: see Nie and Ren (1999) on bigrams against word segmentation.
    """
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
