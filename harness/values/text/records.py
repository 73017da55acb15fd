"""Delimited text (CSV and the like): written, and its records as offsets, of which nothing is unquoted."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from harness.values.text.spans import Span

DELIMITERS = ("\t", ",", ";", "|")
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a text: the half-open range of each, without its line end, and its number of fields."""

    spans: tuple[Span, ...]
    widths: tuple[int, ...]


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would run; an apostrophe before it keeps it from that."""


def delimited_text(rows: Iterable[Iterable[object]], delimiter: str = ",") -> str:
    """Rows as lines of fields, which are quoted as in CSV where need be; lines end with LF."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


def records_of(text: str, delimiter: str, start: int, end: int) -> Records | None:
    """The records in ``text[start:end]``, blank lines left out; None if a quote is never closed.

    A field that begins with a double quote ends at the next one that is not doubled (RFC 4180), so it may
    hold delimiters and line ends.
    """
    token = re.compile(rf'"|\r\n|\n|\r|{re.escape(delimiter)}')
    spans: list[Span] = []
    widths: list[int] = []
    first = field = at = start
    width, quoted, closed = 1, False, -1
    while True:
        match = token.search(text, at, end)
        if match is None:
            break
        mark, at = match.group(), match.end()
        if mark == '"':
            # one that follows a closing quote doubles it
            if quoted or match.start() in (field, closed):
                quoted = not quoted
                closed = -1 if quoted else at
        elif quoted:
            continue
        elif mark == delimiter:
            width, field = width + 1, at
        else:
            if text[first : match.start()].strip():
                spans.append((first, match.start()))
                widths.append(width)
            first = field = at
            width = 1
    if quoted:
        return None
    if text[first:end].strip():
        spans.append((first, end))
        widths.append(width)
    return Records(tuple(spans), tuple(widths))


def delimited(text: str, start: int, end: int) -> Records | None:
    """The records in ``text[start:end]`` where it is a table; None if it is not.

    It is one where, under one of ``DELIMITERS``, it has at least three records, two fields and as many fields
    in each; of several the one with most fields.
    """
    best: Records | None = None
    for delimiter in DELIMITERS:
        records = records_of(text, delimiter, start, end) if delimiter in text[start:end] else None
        if records is None or len(records.spans) < _FEWEST or len(Counter(records.widths)) > 1:
            continue
        if records.widths[0] > (best.widths[0] if best else 1):
            best = records
    return best
