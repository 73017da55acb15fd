"""Traces of production: exports of OpenTelemetry, Langfuse and LangSmith as they are. One file per format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.data.external.answer_files import AnsweredQuery
from harness.data.external.traces.langfuse import langfuse_steps
from harness.data.external.traces.langsmith import langsmith_steps
from harness.data.external.traces.opentelemetry import otel_steps
from harness.data.external.traces.step import SkippedTraces, TraceStep, assemble, read_records
from harness.values import CorpusError, OpenTable


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """How to recognise an export by one of its records, and how to read its steps."""

    name: str
    knows: Callable[[Mapping[str, Any]], bool]
    steps: Callable[[Iterable[Mapping[str, Any]]], list[TraceStep]]


_OURS = (
    TraceFormat("opentelemetry", lambda r: "resourceSpans" in r or "resource_spans" in r, otel_steps),
    TraceFormat("langsmith", lambda r: "run_type" in r, langsmith_steps),
    TraceFormat(
        "langfuse",
        lambda r: "observations" in r or "traceId" in r or isinstance(r.get("trace"), dict),
        langfuse_steps,
    ),
)
FORMATS: OpenTable[TraceFormat] = OpenTable("traces", TraceFormat, {one.name: one for one in _OURS})
"""By name; other packages add theirs, see docs/own-steps.md."""


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
    if name and name not in FORMATS:
        raise CorpusError(f"There is no format of traces {name!r}. Known: {', '.join(FORMATS)}.")
    found = FORMATS.get(name) or next((one for one in FORMATS.values() if one.knows(records[0])), None)
    if found is None:
        raise CorpusError(
            f"{path}: its records are of no known format: the first has {', '.join(list(records[0])[:8])}. "
            f"Known: {', '.join(FORMATS)}; or write one JSON object a line with user_input, "
            "retrieved_contexts and response, and import that with `harness import ragas`."
        )
    return found
