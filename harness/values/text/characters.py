"""Characters that need care: lone surrogates, wide ones, scripts, line ends, and what is not safe to show.

Text from files, configurations and endpoints is made safe here, and nowhere else.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache

from harness.values.secrets import redacted

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
    if text.isascii():
        return " ".join(text.split())
    return _BLANKS.sub(lambda match: " " if match["wrap"] is None else "", text).strip()


@lru_cache(maxsize=8192)  # a chunk is shown at many ranks
def snippet(text: str, length: int = 200) -> str:
    """The beginning of a text on one line of at most ``length`` characters."""
    line = on_one_line(text)
    return line if len(line) <= length else f"{line[: length - 1]}…"


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
    if not text or text.isspace():
        # textwrap takes the square of their number
        return []
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
    return [indent + row for row in [*lines, line.rstrip()] if row]


def _units(text: str, room: int | None) -> Iterator[str]:
    """Units that are never broken: words, full-width characters with the marks that cling to them, blanks."""
    for unit in _UNIT.findall(text):
        start = filled = 0
        for at, letter in enumerate(unit if room is not None and width(unit) > room else ""):
            filled += width(letter)
            if room is not None and filled > room:
                yield unit[start:at]
                start, filled = at, width(letter)
        yield unit[start:]


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
    name = max(counts, key=lambda script: counts[script]) if counts else "LATIN"
    return _NAMES.get(name, name.capitalize())


# They join letters of Persian, of Indic scripts and of emoji; they steer nothing.
_JOINERS = "\u200c\u200d"
# Workflow commands of GitHub Actions (`::error::`) and Azure Pipelines (`##vso[`): a runner obeys the first
# at the beginning of any line, wherever the text was wrapped, and the second anywhere.
_COMMAND = re.compile(r":(?=:[A-Za-z][\w-]*(?:[ \t][^\n]*?)?::)|#(?=#\w*\[)")


def printable(text: str) -> str:
    r"""Text on one line, where nothing steers a terminal, reorders letters or commands a CI runner.

    Blanks of any kind become a space. Control characters, lone surrogates, marks of writing direction and
    other invisible characters are shown as Python would write them, such as ``\x1b``. What looks like a
    secret is not shown.
    """
    text = redacted(text)
    shown = text if text.isprintable() else "".join(map(_shown, text))
    return _COMMAND.sub(lambda match: _escape(match[0]), shown)


def printable_lines(text: str) -> str:
    """The same for a message of several lines, which stay lines."""
    return "\n".join(map(printable, text.split("\n")))


def quoted(value: object, longest: int = 100) -> str:
    """A value as Python would write it, cut where it is long: for messages about what was found instead."""
    # before it is cut: half of a secret looks like none
    text = redacted(repr(value))
    return printable(text if len(text) <= longest else f"{text[: longest - 1]}…")


def suggestion(name: str, names: Iterable[str], likeness: float = 0.6) -> str:
    """The tail of a message that suggests the known name most like another; '' where none is close.

    ``likeness`` is the least share of their letters that agree, 0 to 1, as difflib counts it.
    """
    lowered = {candidate.lower(): candidate for candidate in names}
    near = get_close_matches(name.lower(), lowered, n=1, cutoff=likeness)
    return f" (did you mean {lowered[near[0]]!r}?)" if near else ""


def without_controls(text: str) -> str:
    """Text for another program: lines, tabs and invisible letters stay; control characters are escaped."""
    return _CONTROL.sub(lambda match: _escape(match[0]), text)


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def _shown(letter: str) -> str:
    if letter.isprintable() or letter in _JOINERS:
        return letter
    return " " if letter.isspace() else _escape(letter)


def _escape(letter: str) -> str:
    r"""``\x1b``, ``\u202e`` or ``\U000e0041``."""
    code = ord(letter)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def wording_pattern(wordings: Iterable[str]) -> re.Pattern[str]:
    """Matches any of the wordings in any case, the longest first; none at all without any.

    One that begins or ends in an ASCII letter or digit is no part of a longer word or number: `7` is not in
    `17`. Text without blanks between words, such as Chinese, is matched everywhere. Between words any blanks
    match, line breaks too.
    """
    ordered = sorted(
        {text for wording in wordings if (text := " ".join(wording.split()))},
        key=lambda wording: (-len(wording), wording),
    )
    parts = [
        ("(?<![A-Za-z0-9])" if _WORD.match(wording) else "")
        + r"\s+".join(map(re.escape, wording.split()))
        + ("(?![A-Za-z0-9])" if _WORD.match(wording[-1]) else "")
        for wording in ordered
    ]
    return re.compile("|".join(parts) if parts else r"(?!)", re.IGNORECASE)


_WORD = re.compile("[A-Za-z0-9]")
