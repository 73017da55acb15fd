"""Passages as rows of a labels file: what `labels` reads, and what a spreadsheet may open."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping

from harness.text.characters import on_one_line

COLUMNS = ("query_id", "document", "page", "start", "end", "quote", "grade")
# What a spreadsheet would run as a formula gets an apostrophe; reading labels overlooks it.
_FORMULA = ("=", "+", "-", "@")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def quote_of(passage: str) -> str:
    """A passage as the quote of a label: on one line, without control characters."""
    line = on_one_line(_CONTROL.sub(" ", passage))
    return f"'{line}" if line.startswith(_FORMULA) else line


def label_lines(rows: Iterable[Mapping[str, object]], columns: Iterable[str] = COLUMNS) -> str:
    """Rows as CSV without a header; a column that a row lacks is empty."""
    out = io.StringIO()
    names = list(columns)
    csv.writer(out, lineterminator="\n").writerows([row.get(name, "") for name in names] for row in rows)
    return out.getvalue()
