"""Read the files of a result, and check that they are as a benchmark wrote them."""

from __future__ import annotations

import csv
import gzip
import json
import math
import zlib
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from harness.report.rendering import original
from harness.report.table_spec import TABLES, R, TableSpec, spec_of
from harness.values import Cells, HarnessError

RECORD = "record.json"
REPORT = "report.html"
PICTURE = "glance.svg"
VERDICT = "verdict.json"
Row = Cells

_ANY = "*"
# A key that is there holds what is here: a type, a mapping of keys, or a list of one kind; null only
# where it is in a tuple. `*` stands for all other keys.
_RECORD: dict[str, Any] = {
    "config": {
        "name": str,
        "bootstrap": {"level": float, "seed": int},
        "queries": str,
        "labels": (str,),
        "settings": [{"name": str, "chunk": {_ANY: object}, _ANY: object}],
    },
    "config_sha256": str,
    "date": str,
    "hashes": {_ANY: str},
    "models": {_ANY: {_ANY: object}},
    "versions": {_ANY: str},
    "timings": {_ANY: float},
    "judge": {_ANY: object},
    "warnings": [{"kind": str, "text": str, "measures": [str], "settings": [str]}],
    "counts": {
        "conventions": [str],
        "answered_at": {_ANY: str},
        "settings": {_ANY: {"seconds": {_ANY: (float,)}, "computed_share": {_ANY: (float,)}, _ANY: object}},
        _ANY: object,
    },
    _ANY: object,
}


class NoResultError(HarnessError):
    """A folder lacks a file of results."""

    def __init__(self, path: Path) -> None:
        gone = f"{path.name} is missing" if path.parent.exists() else f"no such folder, from {Path.cwd()}"
        super().__init__(
            f"{path.parent} contains no benchmark results ({gone}). Name a folder such as "
            "results/quickstart, written by harness bench."
        )


def damaged(path: Path, why: str = "") -> HarnessError:
    """The error for a file of results that is not as a benchmark has left it."""
    if path.parent.is_file():
        return HarnessError(
            f"{path.parent} is a file, not a folder of results. Name a folder such as results/quickstart, "
            "written by harness bench."
        )
    reason = f" ({why})" if why else ""
    return HarnessError(
        f"{path} is damaged: it is not as a benchmark wrote it{reason}. Run the benchmark again: what is "
        "cached is not paid for again."
    )


PACKED = ".gz"
"""The ending of a table that is too large to lie there as plain text."""
# Of a column so many distinct cells are remembered as checked.
_MOST_KNOWN = 10_000
# So many rows are checked at once.
_BLOCK = 1024
Kept = Mapping[str, Collection[str]]
"""By column, the cells of which a row must hold one to be kept."""


def read_rows(folder: Path, table: str, keep: Kept | None = None) -> list[Row]:
    """The rows of a table, as text without the apostrophes of spreadsheets; checked by its declaration.

    ``keep`` chooses rows of a table too long to hold as a whole. Raises NoResultError if there is no such
    file, HarnessError that names file, row and column for a damaged one.
    """
    spec = TABLES[table]
    path = spec.path_in(folder)
    rows: list[Row] = []
    seen: set[str | tuple[str, ...]] = set()
    key_of = itemgetter(*spec.key) if spec.key else None
    for number, row in _rows(path, spec, keep or {}):
        rows.append(row)
        if key_of is None:
            continue
        if (key := key_of(row)) in seen:
            shown = key if isinstance(key, str) else ", ".join(key)
            raise damaged(path, f"row {number} repeats one above it: {shown[:80]!a}")
        seen.add(key)
    if spec.some and not rows:
        raise damaged(path, "it has no rows")
    return rows


def read_as(folder: Path, row: type[R]) -> list[R]:
    """The rows of the table that ``row`` declares; errors as `read_rows`."""
    spec = spec_of(row)
    return [spec.parsed(cells) for cells in read_rows(folder, spec.name)]


def read_record(folder: Path) -> dict[str, Any]:
    """The run record; raises NoResultError if there is none, HarnessError for a damaged one."""
    path = folder / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoResultError(path) from None
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, _reason(error)) from None
    if not isinstance(record, dict) or not isinstance(record.get("config"), dict):
        raise damaged(path, "it does not contain a configuration")
    wrong = _wrong(record, _RECORD, "")
    if wrong:
        raise damaged(path, f"{wrong} has the wrong type or value")
    return record


def _rows(path: Path, spec: TableSpec[Any], keep: Kept) -> Iterator[tuple[int, Row]]:
    """Those rows to keep with their numbers in the file; every cell is checked, of all rows."""
    # passages are longer than the 128 KiB that csv takes for a cell by default
    csv.field_size_limit(2**31 - 1)
    try:
        opened = gzip.open if path.suffix == PACKED else open
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            records = (record for record in csv.reader(file, strict=True) if record)
            header = next(records, [])
            if missing := [column for column in spec.names if column not in header]:
                raise damaged(path, f"it has no column {missing[0]}")
            if len(set(header)) != len(header):
                raise damaged(path, "a column occurs twice")
            checks = [
                (header.index(declared.name), declared.name, *check, set[str]())
                for declared in spec.columns
                if (check := declared.check)
            ]
            restored = {
                declared.name: declared.column.restored
                for declared in spec.columns
                if declared.column.restored
            }
            wanted = [(header.index(name), cells) for name, cells in keep.items()]
            number = 0
            # a column at a time: most of its cells repeat
            while block := list(islice(records, _BLOCK)):
                for at, record in enumerate(block):
                    if len(record) != len(header):
                        why = f"row {number + at + 1} has {len(record)} cells, the header {len(header)}"
                        raise damaged(path, why)
                    text = "".join(record)
                    if "'" in text or "\\" in text:
                        block[at] = list(map(original, record))
                for column, name, what, holds, checked in checks:
                    new = {record[column] for record in block} - checked
                    if not all(map(holds, new)):
                        at, cell = next((i, r[column]) for i, r in enumerate(block) if not holds(r[column]))
                        why = f"row {number + at + 1}, {name}: {cell[:40]!a} where there should be {what}"
                        raise damaged(path, why)
                    if len(checked) < _MOST_KNOWN:
                        checked |= new
                for at, record in enumerate(block, number + 1):
                    if all(record[column] in some for column, some in wanted):
                        cells = dict(zip(header, record, strict=True))
                        yield at, cells | {name: restore(cells) for name, restore in restored.items()}
                number += len(block)
    except FileNotFoundError:
        raise NoResultError(path) from None
    except (OSError, EOFError, zlib.error, csv.Error, ValueError) as error:
        raise damaged(path, _reason(error)) from None


def _wrong(value: Any, spec: Any, where: str) -> str:
    """The place of the first value that is not as ``spec`` says; '' where all are."""
    if isinstance(spec, tuple):
        return "" if value is None else _wrong(value, spec[0], where)
    if isinstance(spec, type):
        return "" if spec is object or _is(value, spec) else where
    if not isinstance(value, type(spec)):
        return where
    if isinstance(spec, list):
        parts = [_wrong(item, spec[0], f"{where}[]") for item in value]
    else:
        parts = [
            _wrong(item, spec.get(key, spec.get(_ANY, object)), f"{where}.{key}")
            for key, item in value.items()
        ]
    return next(filter(None, parts), "")


def _is(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return False
    if kind is float:
        return isinstance(value, int | float) and math.isfinite(value)
    if kind is int:
        return isinstance(value, int) and 0 <= value < 2**63
    return isinstance(value, kind)


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return str(error).partition("\n")[0][:80]
