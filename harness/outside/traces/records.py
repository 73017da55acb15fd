"""The JSON objects of an export: one a line, a list of them, or pages that hold a list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.corpus.reading import read_utf8
from harness.errors import CorpusError

# Where answers of web interfaces keep their list.
_LISTS = ("data", "runs", "traces", "results")


def read_records(path: Path) -> list[dict[str, Any]]:
    """All objects of a JSON or JSON Lines file; raises CorpusError that names the line at fault."""
    text = read_utf8(path).removeprefix("\ufeff")
    try:
        found: list[Any] = [json.loads(text)]
    except RecursionError as error:
        raise CorpusError(f"{path}: is nested too deeply for JSON of an export. Export it again.") from error
    except ValueError:
        found = [_line(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    records = [one for whole in found for one in _unpacked(whole)]
    if not records:
        raise CorpusError(f"{path}: there is no record. Export some traces.")
    odd = next((one for one in records if not isinstance(one, dict)), None)
    if odd is not None:
        raise CorpusError(f"{path}: holds {json.dumps(odd)[:60]} where an object is expected.")
    return records


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CorpusError(
            f"{path}, line {number}: not valid JSON ({error}). Write one object a line, or one list."
        ) from error


def _unpacked(whole: Any) -> list[Any]:
    if isinstance(whole, list):
        return whole
    if isinstance(whole, dict):
        for key in _LISTS:
            if isinstance(whole.get(key), list) and not {"resourceSpans", "run_type", "traceId"} & set(whole):
                return list(whole[key])
    return [whole]
