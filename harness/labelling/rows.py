"""Passages as rows of a labels file: what `labels` reads, and what a spreadsheet may open."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

from harness.text.characters import on_one_line

COLUMNS = ("query_id", "document", "page", "start", "end", "quote", "grade")
# What a spreadsheet would run as a formula gets an apostrophe; reading labels overlooks it.
_FORMULA = ("=", "+", "-", "@")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def quote_of(passage: str) -> str:
    """A passage as the quote of a label: on one line, without control characters."""
    return str(harmless(on_one_line(_CONTROL.sub(" ", passage))))


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet runs, without control characters; numbers as they are."""
    if not isinstance(value, str):
        return value
    text = _CONTROL.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))
    return f"'{text}" if text.startswith(_FORMULA) else text


def label_lines(
    rows: Iterable[Mapping[str, object]], columns: Iterable[str] = COLUMNS, mark: str = ","
) -> str:
    """Rows as CSV without a header; a column that a row lacks is empty."""
    out = io.StringIO()
    names = list(columns)
    writer = csv.writer(out, delimiter=mark, lineterminator="\n")
    writer.writerows([row.get(name, "") for name in names] for row in rows)
    return out.getvalue()
