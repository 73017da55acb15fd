"""Traces of production: exports of OpenTelemetry, Langfuse and LangSmith as they are. One file per tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data.corpus.text_file import read_json
from harness.data.external.answer_files import AnsweredQuery
from harness.data.external.traces.trace_steps import SkippedTraces, TraceStep, assemble
from harness.data.import_formats import TRACES
from harness.values import CorpusError

_LISTS = ("data", "runs", "traces", "results")
_OBJECTS = {"resourceSpans", "resource_spans", "run_type", "traceId", "post", "observations"}


@dataclass(frozen=True, slots=True)
class Traces:
    """The queries in an export, the tools whose records it has, and how many traces were left out and why."""

    tools: tuple[str, ...]
    exchanges: tuple[AnsweredQuery, ...]
    skipped: SkippedTraces


def read_traces(source: Path, tool: str = "") -> Traces:
    """The queries in a file of JSON or JSON Lines, or in all such files of a folder.

    Each record shows the tool that wrote it, unless ``tool`` is named. Raises CorpusError if a file cannot be
    read, has a record of no known tool, or if there is no trace with a question.
    """
    if tool and tool not in TRACES:
        raise CorpusError(f"There is no format of traces {tool!r}. Known: {', '.join(TRACES)}.")
    by_tool: dict[str, list[Mapping[str, Any]]] = {}
    for path in _files(source):
        for record in _records(path):
            by_tool.setdefault(tool or _tool(path, record), []).append(record)
    steps: list[TraceStep] = []
    for name, records in by_tool.items():
        steps += TRACES[name].steps(records)
    exchanges, skipped = assemble(source, steps)
    if not exchanges:
        raise CorpusError(
            f"{source}: no trace has a question with what was retrieved for it or an answer ({skipped}). "
            "Export traces with their inputs and outputs, all steps of each."
        )
    return Traces(tuple(by_tool), tuple(exchanges), skipped)


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    paths = sorted(path for path in source.iterdir() if path.suffix.lower() in (".json", ".jsonl", ".ndjson"))
    if not paths:
        raise CorpusError(
            f"{source} holds no .json, .jsonl or .ndjson file. Name a file or folder of traces."
        )
    return paths


def _records(path: Path) -> list[Mapping[str, Any]]:
    """The objects of a file; an answer of a web interface gives those in its list."""
    records: list[Mapping[str, Any]] = []
    for number, entry in enumerate(read_json(path), start=1):
        if not isinstance(entry, dict):
            raise CorpusError(f"{path}, entry {number}: is no object. Write one object per line or one list.")
        lists = [entry[key] for key in _LISTS if isinstance(entry.get(key), list)]
        if lists and not _OBJECTS & entry.keys():
            records += [row for row in lists[0] if isinstance(row, dict)]
        else:
            records.append(entry)
    return records


def _tool(path: Path, record: Mapping[str, Any]) -> str:
    """The first tool that knows the record."""
    for name, format_ in TRACES.items():
        if format_.knows(record):
            return name
    raise CorpusError(
        f"{path}: has a record of no known tool, with {', '.join(list(record)[:8]) or 'nothing in it'}. "
        f"Known: {', '.join(TRACES)}; or write one JSON object a line with user_input, retrieved_contexts "
        "and response, and import that with `harness import ragas`."
    )
