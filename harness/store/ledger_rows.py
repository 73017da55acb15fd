"""One row of the ledger, as SQLite and as the lines of an export hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from harness.types import MAX_GRADE, Answered

_JSON_COLUMNS = ("query", "passages", "parameters", "grades", "raw", "reason", "logprobs")


@dataclass(frozen=True, slots=True)
class LedgerEntry(Answered):
    """One row: an answer under the ``key`` of its call; ``answered_at`` is UTC, ISO 8601."""

    key: str
    answered_at: str


ANSWERED = [field.name for field in fields(Answered)]
COLUMNS = [field.name for field in fields(LedgerEntry)]
# Columns that rows and exports of earlier versions lack.
_OPTIONAL = {field.name for field in fields(LedgerEntry) if field.default is not MISSING}


def to_row(entry: LedgerEntry) -> list[object]:
    """The values of an entry in the order of ``COLUMNS``."""
    return [
        dump(value) if name in _JSON_COLUMNS and value is not None else value
        for name in COLUMNS
        for value in (getattr(entry, name),)
    ]


def from_row(row: Sequence[Any]) -> LedgerEntry:
    """The entry of a row, whose values stand in the order of ``COLUMNS``."""
    values = dict(zip(COLUMNS, row, strict=True))
    for name in _JSON_COLUMNS:
        values[name] = None if values[name] is None else json.loads(values[name])
    return from_json(values)


def from_json(row: Mapping[str, Any]) -> LedgerEntry:
    """The entry of a line of an export, which may be of an earlier version.

    Raises KeyError where a field is missing, ValueError where grades and passages do not agree.
    """
    values = {name: row[name] for name in COLUMNS if name in row or name not in _OPTIONAL}
    values["settled"] = bool(values["settled"])
    values["passages"] = tuple(values["passages"])
    grades = values["grades"]
    values["grades"] = None if grades is None else tuple(grades)
    if grades is not None and (
        len(grades) != len(values["passages"])
        or any(type(grade) is not int or not 0 <= grade <= MAX_GRADE for grade in grades)
    ):
        raise ValueError(f"grades {grades!r} for {len(values['passages'])} passages")
    return LedgerEntry(**values)


def dump(value: object) -> str:
    """ASCII JSON: one form for one value, and lone surrogates pass."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
