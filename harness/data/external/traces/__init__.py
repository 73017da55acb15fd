"""Traces of production: exports of OpenTelemetry, Langfuse and LangSmith as they are. One file per format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data.external.answer_files import AnsweredQuery
from harness.data.external.traces.step import SkippedTraces, TraceStep, assemble, read_records
from harness.data.import_formats import TRACES, TraceFormat
from harness.values import CorpusError


@dataclass(frozen=True, slots=True)
class Traces:
    """The questions in an export, the format it was read as, and how many traces were left out, and why."""

    format: str
    exchanges: tuple[AnsweredQuery, ...]
    left: SkippedTraces


def read_traces(path: Path, name: str = "") -> Traces:
    """The questions of an export; its records show the format, unless it is named.

    Raises CorpusError if the file cannot be read, is of no known format, or has no question.
    """
    records = read_records(path)
    format_ = _format(path, records, name)
    exchanges, left = assemble(path, format_.steps(records))
    if not exchanges:
        raise CorpusError(
            f"{path}: no trace has a question with what was retrieved for it or an answer ({left}). Export "
            "traces with their inputs and outputs, all steps of each."
        )
    return Traces(format_.name, tuple(exchanges), left)


def _format(path: Path, records: Sequence[Mapping[str, Any]], name: str) -> TraceFormat:
    """The format that is named, else the one that knows the first record."""
    if name and name not in TRACES:
        raise CorpusError(f"There is no format of traces {name!r}. Known: {', '.join(TRACES)}.")
    found = TRACES.get(name) or next((one for one in TRACES.values() if one.knows(records[0])), None)
    if found is None:
        raise CorpusError(
            f"{path}: its records are of no known format: the first has {', '.join(list(records[0])[:8])}. "
            f"Known: {', '.join(TRACES)}; or write one JSON object a line with user_input, "
            "retrieved_contexts and response, and import that with `harness import ragas`."
        )
    return found
