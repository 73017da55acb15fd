"""Years as questions name them: `FY2021`, `FY 21`, `Q2'2023`, `2018 to 2020`, `between 2018 and 2020`."""

from __future__ import annotations

import re

_FULL = r"(?:19|20)\d\d"
_FISCAL = r"(?:FY|CY|[Ff]iscal(?:\s+[Yy]ears?)?)\s?['’]?"
_YEAR = re.compile(
    rf"""(?:
        \b(?:Q[1-4]|[1-4]Q)\s?(?:of\s)?(?:{_FISCAL})?\s?['’]?(?P<quarter>{_FULL}|\d\d)(?!\d)
      | \b{_FISCAL}(?P<fiscal>{_FULL}|\d\d)(?![\d%])
      | (?<![\w.,$€£¥])(?P<quartered>{_FULL})(?=\s?Q[1-4]\b)
      | (?<![A-Za-z0-9.,$€£¥])(?P<plain>{_FULL})(?![A-Za-z0-9%]|[.,]\d)
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
    found: set[int] = set()
    last: tuple[int, int, int] | None = None
    for one in _YEAR.finditer(text):
        year = _number(next(filter(None, one.groups())))
        found.add(year)
        if last is not None and _joined(text, last[1], last[2], one.start()):
            found |= _range(last[0], year)
        last = (year, one.start(), one.end())
        short = _SHORT_END.match(text, one.end())
        if short is not None and year % 100 < int(short[1]):
            found |= _range(year, year - year % 100 + int(short[1]))
    return tuple(sorted(found))


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
