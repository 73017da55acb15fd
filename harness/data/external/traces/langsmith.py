"""LangSmith: runs, one object each, as its SDK lists them and bulk exports write them.

Source: the LangSmith run schema (``run_type``, ``inputs``, ``outputs``, ``parent_run_id``, ``trace_id``) and
"Log retriever traces" of its documentation. Runs may also hold their ``child_runs``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.data.external.traces.step import Kind, TraceStep, passages_in, unpacked

_KINDS: Mapping[str, Kind] = {"llm": "llm", "retriever": "retriever"}


def langsmith_steps(records: Iterable[Mapping[str, Any]]) -> list[TraceStep]:
    """The runs of an export as steps."""
    return [_step(run, trace) for record in records for run, trace in _runs(record, "")]


def _runs(run: Mapping[str, Any], trace: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """A run and those within it, each with its trace."""
    own = str(run.get("trace_id") or trace or run.get("id", ""))
    yield run, own
    for child in run.get("child_runs") or ():
        yield from _runs({"parent_run_id": run.get("id"), **child}, own)


def _step(run: Mapping[str, Any], trace: str) -> TraceStep:
    kind = _KINDS.get(str(run.get("run_type", "")), "other")
    if kind in ("other", "retriever") and "rerank" in str(run.get("name") or "").lower():
        kind = "reranker"
    sent, received = unpacked(run.get("inputs")), unpacked(run.get("outputs"))
    return TraceStep(
        trace,
        str(run.get("id", "")),
        str(run.get("parent_run_id") or ""),
        # runs that began at one time are in the order in which they were called
        f"{run.get('start_time') or ''} {run.get('dotted_order') or ''}",
        kind,
        sent,
        received,
        passages_in(received) if kind in ("retriever", "reranker") else (),
        str(run.get("error") or "").split("\n")[0],
    )
