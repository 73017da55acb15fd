"""CSV that opens safely in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

# A cell that starts with one of these is run as a formula by spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# What may stand behind the apostrophe: a carriage return was made a line feed.
_STARTS = (*_FORMULA, "\n")
SNIPPET = 200


def to_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV text; numbers in full precision, None as an empty cell, text made harmless."""
    out = io.StringIO()
    write_csv(out, columns, rows)
    return out.getvalue()


def write_csv(out: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """The same, row by row into an open file: for tables too long to hold twice."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(row[column]) for column in columns] for row in rows)


def cell(value: Any) -> Any:
    """One cell: text that a spreadsheet would run gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        # a bare carriage return ends a row for some readers, and csv does not quote it
        text = value.replace("\r\n", "\n").replace("\r", "\n")
        return f"'{text}" if value.startswith(_FORMULA) else text
    return repr(value) if isinstance(value, float) else value


def original(text: str) -> str:
    """The text of a cell without the apostrophe that ``cell`` put before it.

    Text that began with an apostrophe and a formula's sign by itself loses it: the two look alike.
    """
    return text[1:] if text[:1] == "'" and text[1:].startswith(_STARTS) else text


def snippet(text: str, length: int = SNIPPET) -> str:
    """The beginning of a passage on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
