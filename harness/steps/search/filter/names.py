"""Names and years in queries, found among the values of a table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# a letter of Chinese or Japanese is a word, as no blank parts them
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+|&"
)
_ACCENTS = re.compile(r"[\u0300-\u036f]")
# US, GE, IT: in lower case they are words
_SHORT = re.compile(r"[A-Z]{1,3}")


@dataclass(frozen=True, slots=True)
class Names:
    """Names and their values: ``meant`` maps a name, its letters run together, to the values it stands for.

    ``capitals`` are the names that count in capitals alone; ``longest`` is the most words that any name may
    be written in.
    """

    meant: Mapping[str, tuple[str, ...]]
    capitals: frozenset[str]
    longest: int

    @classmethod
    def of(cls, named: Iterable[tuple[str, str]]) -> Names:
        """From pairs of a name and the value it stands for."""
        meant: dict[str, tuple[str, ...]] = {}
        capitals: set[str] = set()
        small: set[str] = set()
        for name, value in named:
            key = "".join(_normal(word) for word in _words(name))
            if not key:
                continue
            meant[key] = tuple(dict.fromkeys((*meant.get(key, ()), value)))
            (capitals if _SHORT.fullmatch(name.strip()) else small).add(key)
        return cls(meant, frozenset(capitals - small), max(map(len, meant), default=0))

    def found_in(self, text: str) -> tuple[str, ...]:
        """The values whose names are in a text, in the order of the text; a longer name hides those in it.

        Words are compared without case, accents and punctuation, and may be written apart or together:
        `JP Morgan` is `JPMorgan`, `10K` is `10-K`.
        """
        words = _words(text)
        hits: list[tuple[int, int, str]] = []
        for begin in range(len(words)):
            key = ""
            for end in range(begin + 1, len(words) + 1):
                key += _normal(words[end - 1])
                if len(key) > self.longest:
                    break
                if key in self.meant and not (
                    key in self.capitals and any(not word.isupper() for word in words[begin:end])
                ):
                    hits.append((begin, end, key))
        # those in no longer one
        kept = (
            key
            for begin, end, key in hits
            if not any(b <= begin and end <= e and e - b > end - begin for b, e, _ in hits)
        )
        return tuple(dict.fromkeys(value for key in kept for value in self.meant[key]))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def _normal(word: str) -> str:
    if word == "&":
        return "and"
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFC", bare)


_FULL = r"(?:19|20)\d\d"
_FISCAL = r"(?i:FY|CY|fiscal(?:\s+years?)?)\s?['’]?"
_YEAR = re.compile(
    rf"""(?:
        \b(?i:Q[1-4]|[1-4]Q)\s?(?:of\s)?(?:{_FISCAL})?\s?['’]?(?P<quarter>{_FULL}|\d\d)(?!\d)
      | \b{_FISCAL}(?P<fiscal>{_FULL}|\d\d)(?![\d%])
      | (?<![\w.,$€£¥])(?P<quartered>{_FULL})(?=\s?[Qq][1-4]\b)
      | (?<![A-Za-z0-9.,$€£¥])(?<![$€£¥]\s)(?P<plain>{_FULL})(?![A-Za-z0-9]|\s?%|[.,]\d)
    )""",
    re.VERBOSE,
)
_TO = re.compile(r"(?i)\s*年?\s*(?:[-–—~～至到]|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\btill\b)\s*")
_AND = re.compile(r"(?i)\s*(?:and|&)\s+(?:the\s+)?(?:Q[1-4]\s+of\s+)?")
_BETWEEN = re.compile(r"(?i)\bbetween\s+(?:the\s+)?(?:years?\s+)?(?:Q[1-4]\s+of\s+)?$")
_SHORT_END = re.compile(r"\s?[-–—/](\d\d)(?![\d%]|[-/.]\d)")
# a longer range is not a range of years
_WIDEST = 50
_PIVOT = 70


def years_in(text: str) -> tuple[int, ...]:
    """The years that a text names, all those of a range among them, in ascending order.

    A year is a number from 1900 to 2099 by itself, or one of two digits after FY or a quarter (70 to 99 are
    of the 20th century). Amounts of money, shares in percent and longer numbers are none.
    """
    text, years = unicodedata.normalize("NFKC", text), set[int]()
    last: tuple[int, int, int] | None = None
    for match in _YEAR.finditer(text):
        year = _number(next(filter(None, match.groups())))
        years.add(year)
        if last is not None and _joined(text, last[1], last[2], match.start()):
            years |= _range(last[0], year)
        last = (year, match.start(), match.end())
        short = _SHORT_END.match(text, match.end())
        if short is not None and year % 100 < int(short[1]):
            years |= _range(year, year - year % 100 + int(short[1]))
    return tuple(sorted(years))


def _number(digits: str) -> int:
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (1900 if int(digits) >= _PIVOT else 2000)


def _joined(text: str, start: int, end: int, begin: int) -> bool:
    """Whether the words between two years, and before the first, make them the ends of a range."""
    between = text[end:begin]
    if _TO.fullmatch(between):
        return True
    return bool(_AND.fullmatch(between) and _BETWEEN.search(text[:start]))


def _range(first: int, last: int) -> set[int]:
    return set(range(first, last + 1)) if 0 < last - first <= _WIDEST else set()
