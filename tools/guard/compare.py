"""The differences between the files of two runs, without what depends on the hour or the machine."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Files of timings, the caches themselves, and what only one of two states of the code writes beside them.
LEFT_OUT = ("latency.csv", ".cache", "history")
# Fields and columns that hold seconds, dates, versions or the state of the checkout.
_UNSTEADY = re.compile(
    r"^(seconds|.*_seconds|seconds_.*|timings?|date|begun|ended|git|versions|computed_share|latency|latency_.*|size|index_bytes|harness)$"
)
_HOUR = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+(?:\+[\d:]+)?|(?<= in )[\d.,]+ s\b")
_PAYLOAD = re.compile(r'id="data">([^<]*)<')
_SHOWN = 300


def differences(before: Path, after: Path) -> Iterator[tuple[str, str]]:
    """Every file that differs, with the first place where it does."""
    old, new = _files(before), _files(after)
    jobs_before, jobs_after = ({name.split("/")[0] for name in files} for files in (old, new))
    for job in sorted(jobs_before ^ jobs_after):
        yield job, "only before" if job in jobs_before else "only after"
    for name in sorted(old.keys() | new.keys()):
        if name.split("/")[0] in jobs_before ^ jobs_after:
            continue
        if name not in new:
            yield name, "only before"
        elif name not in old:
            yield name, "only after"
        else:
            found = _difference(old[name], new[name])
            if found:
                yield name, found


def _files(root: Path) -> dict[str, Path]:
    paths = (path for path in root.rglob("*") if path.is_file())
    named = {path.relative_to(root): path for path in paths}
    return {name.as_posix(): path for name, path in named.items() if not {*name.parts} & {*LEFT_OUT}}


def _difference(old: Path, new: Path) -> str:
    one, other = _content(old), _content(new)
    if one == other:
        return ""
    return _first(one, other, "")


def _content(path: Path) -> Any:
    """What a file says, without what is unsteady."""
    data = path.read_bytes()
    match path.suffix:
        case ".html":
            packed = _PAYLOAD.search(data.decode("utf-8"))
            return _steady(json.loads(gzip.decompress(base64.b64decode(packed[1])))) if packed else data
        case ".json":
            return _steady(json.loads(data))
        case ".csv":
            return _rows(data.decode("utf-8-sig"))
        case ".xlsx" | ".zip":
            with zipfile.ZipFile(io.BytesIO(data)) as file:
                return {name: file.read(name) for name in sorted(file.namelist()) if "docProps" not in name}
        case _:
            return _HOUR.sub("…", data.decode("utf-8", "replace")).splitlines()


def _rows(text: str) -> list[dict[str, Any]]:
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    return [{name: value for name, value in row.items() if not _UNSTEADY.match(name or "")} for row in rows]


def _steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _steady(part) for key, part in value.items() if not _UNSTEADY.match(key)}
    return [_steady(part) for part in value] if isinstance(value, list) else value


def _first(one: Any, other: Any, place: str) -> str:
    """The first place where two values differ, and both of them there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if one.get(key, _first) != other.get(key, _first):
                if key not in one or key not in other:
                    return f"{place}/{key} only {'before' if key in one else 'after'}"
                return _first(one[key], other[key], f"{place}/{key}")
        return f"{place}: the same keys in another order"
    if isinstance(one, list) and isinstance(other, list):
        for i, (first, second) in enumerate(zip(one, other, strict=False)):
            if first != second:
                return _first(first, second, f"{place}/{i}")
        return f"{place}: {len(one)} before, {len(other)} after"
    return f"{place}: {str(one)[:_SHOWN]!r} → {str(other)[:_SHOWN]!r}"
