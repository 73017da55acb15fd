"""Langfuse: traces with their observations, or the observations alone, as its interface and API export them.

Sources: the Langfuse API reference (TraceWithFullDetails, ObservationsView) and "Download JSON" of a trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.data.external.traces.step import Kind, TraceStep, passages_in, unpacked

_KINDS: Mapping[str, Kind] = {"GENERATION": "llm", "RETRIEVER": "retriever"}
_RERANKS = ("rerank",)
_RETRIEVES = ("retriev", "vector", "search")


def langfuse_steps(records: Iterable[Mapping[str, Any]]) -> list[TraceStep]:
    """A step for each trace, around those of its observations."""
    steps: list[TraceStep] = []
    for record in records:
        if isinstance(record.get("trace"), Mapping):
            record = {**record["trace"], "observations": record.get("observations")}
        observations = record.get("observations")
        if observations is None and "traceId" in record:
            steps.append(_observation(record, str(record["traceId"])))
            continue
        trace = str(record.get("id", ""))
        began = str(record.get("timestamp") or "")
        steps.append(TraceStep(trace, trace, "", began, "other", record.get("input"), record.get("output")))
        # a list of traces may name its observations by their ids alone
        own = [one for one in observations or () if isinstance(one, Mapping)]
        steps += [_observation(one, trace) for one in own]
    return steps


def _observation(one: Mapping[str, Any], trace: str) -> TraceStep:
    kind = _kind(one)
    got = unpacked(one.get("output"))
    failed = one.get("level") == "ERROR"
    return TraceStep(
        trace,
        str(one.get("id", "")),
        str(one.get("parentObservationId") or trace),
        str(one.get("startTime") or ""),
        kind,
        one.get("input"),
        got,
        passages_in(got) if kind in ("retriever", "reranker") else (),
        str(one.get("statusMessage") or "error") if failed else "",
    )


def _kind(one: Mapping[str, Any]) -> Kind:
    """By its type; a plain span by its name, if it returned documents."""
    kind = _KINDS.get(str(one.get("type", "")).upper(), "other")
    name = str(one.get("name") or "").lower()
    if kind in ("other", "retriever") and any(part in name for part in _RERANKS):
        return "reranker"
    if (
        kind == "other"
        and any(part in name for part in _RETRIEVES)
        and passages_in(unpacked(one.get("output")))
    ):
        return "retriever"
    return kind
