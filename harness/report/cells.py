"""CSV that opens safely in a spreadsheet and prints safely in a terminal."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any, TextIO

# A cell that starts with one of these is run as a formula by spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# Characters that may follow the apostrophe: a carriage return was made a line feed.
_STARTS = (*_FORMULA, "\n")
# Escapes such as \x1b or \ud800 with the backslashes before them, and text that looks like one.
_CONTROL = re.compile(r"(\\*)([\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff])")
_LOOKALIKE = re.compile(r"\\+(?=x[0-9a-f]{2}|ud[89a-f][0-9a-f]{2})")
_ESCAPE = re.compile(r"(\\+)(x[0-9a-f]{2}|ud[89a-f][0-9a-f]{2})")


# csv writes these as ``cell`` does
_AS_IT_IS = {int, float, NoneType}


def to_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV text; numbers in full precision, None as an empty cell, text made safe."""
    out = io.StringIO()
    write_csv(out, columns, ([row[column] for column in columns] for row in rows))
    return out.getvalue()


def write_csv(out: TextIO, columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """The same, line by line into an open file: for tables too long to hold as text."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [
            value
            if (kind := value.__class__) in _AS_IT_IS
            else _text_cell(value)
            if kind is str
            else cell(value)
            for value in line
        ]
        for line in lines
    )


def cell(value: Any) -> Any:
    r"""One cell: text that a spreadsheet would run gets an apostrophe before it.

    Control characters are escaped, ESC as ``\x1b``; the backslash of text that holds such letters is doubled.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return _text_cell(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else value


@lru_cache(maxsize=8192)  # names of settings, stages and queries repeat in every row
def _text_cell(value: str) -> str:
    # a bare carriage return ends a row for some readers, and csv does not quote it
    text = _escaped(value.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{text}" if value.startswith(_FORMULA) else text


def original(text: str) -> str:
    """The text of a cell as it was before ``cell``.

    Text that began with an apostrophe and a formula's sign by itself loses it: the two look alike.
    """
    text = text[1:] if text[:1] == "'" and text[1:].startswith(_STARTS) else text
    return _ESCAPE.sub(_from_escape, text) if "\\" in text else text


def _escaped(text: str) -> str:
    text = _LOOKALIKE.sub(lambda found: 2 * found[0], text) if "\\" in text else text
    return text if text.isprintable() else _CONTROL.sub(_as_escape, text)


def _as_escape(found: re.Match[str]) -> str:
    code = ord(found[2])
    return 2 * found[1] + (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _from_escape(found: re.Match[str]) -> str:
    before = found[1][: len(found[1]) // 2]
    return before + (chr(int(found[2][1:], 16)) if len(found[1]) % 2 else found[2])
