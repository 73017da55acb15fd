"""Langfuse: traces with their observations, or the observations alone, as its interface and API export them.

What its client sends are spans of OpenTelemetry, see `opentelemetry`. Sources: the Langfuse API reference
(TraceWithFullDetails, ObservationsView) and "Download JSON" of a trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.data.external.traces.recorded import passages_in, plain, unpacked
from harness.data.external.traces.trace_steps import StepKind, TraceStep

_KINDS: Mapping[str, StepKind] = {"GENERATION": "llm", "RETRIEVER": "retriever"}
_RETRIEVERS = ("retriev", "vector", "search")


def langfuse_steps(records: Iterable[Mapping[str, Any]]) -> list[TraceStep]:
    """A step for each trace, around those of its observations."""
    steps: list[TraceStep] = []
    for record in records:
        if isinstance(record.get("trace"), Mapping):
            record = {**record["trace"], "observations": record.get("observations")}
        observations = record.get("observations")
        if observations is None and "traceId" in record:
            steps.append(_observation(record, plain(record["traceId"])))
            continue
        trace, began = plain(record.get("id")), plain(record.get("timestamp"))
        steps.append(TraceStep(trace, trace, "", began, "other", record.get("input"), record.get("output")))
        # a list of traces may name its observations by their ids alone
        rows = observations if isinstance(observations, list) else []
        steps += [_observation(row, trace) for row in rows if isinstance(row, Mapping)]
    return steps


def _observation(row: Mapping[str, Any], trace: str) -> TraceStep:
    kind = _kind(row)
    received = unpacked(row.get("output"))
    return TraceStep(
        trace,
        plain(row.get("id")),
        plain(row.get("parentObservationId")) or trace,
        plain(row.get("startTime")),
        kind,
        row.get("input"),
        received,
        passages_in(received) if kind in ("retriever", "reranker") else (),
        plain(row.get("statusMessage")) or "error" if row.get("level") == "ERROR" else "",
    )


def _kind(row: Mapping[str, Any]) -> StepKind:
    """By its type; a plain span by its name, if it returned documents."""
    kind = _KINDS.get(plain(row.get("type")).upper(), "other")
    name = plain(row.get("name")).lower()
    if kind in ("other", "retriever") and "rerank" in name:
        return "reranker"
    if kind == "other" and any(part in name for part in _RETRIEVERS):
        return "retriever" if passages_in(unpacked(row.get("output"))) else "other"
    return kind
