"""LangSmith: runs, one object each, as its SDK lists them and bulk exports write them, or batches of them.

Sources: the LangSmith run schema (``run_type``, ``inputs``, ``outputs``, ``parent_run_id``, ``trace_id``) and
"Log retriever traces" of its documentation. Runs may hold their ``child_runs``; its client sends batches, in
which ``patch`` completes the runs of ``post``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.data.external.traces.recorded import passages_in, plain, unpacked
from harness.data.external.traces.trace_steps import StepKind, TraceStep

_KINDS: Mapping[str, StepKind] = {"llm": "llm", "retriever": "retriever"}


def langsmith_steps(records: Iterable[Mapping[str, Any]]) -> list[TraceStep]:
    """The runs of an export as steps, a run that comes in parts once."""
    runs: dict[str, dict[str, Any]] = {}
    for run in _runs(records):
        parts = runs.setdefault(plain(run.get("id")) or f"run {len(runs)}", {})
        parts.update({name: value for name, value in run.items() if value is not None})
    return [_step(run) for run in runs.values()]


def _runs(records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The runs, and those within them, each with its trace and parent."""
    for record in records:
        batch = [record.get(name) for name in ("post", "patch")]
        rows = [row for rows in batch if isinstance(rows, list) for row in rows]
        waiting = rows[::-1] if rows else [record]
        while waiting:
            run = waiting.pop()
            if not isinstance(run, Mapping):
                continue
            yield run
            children = run.get("child_runs")
            trace = run.get("trace_id") or run.get("id")
            context = {"parent_run_id": run.get("id"), "trace_id": trace}
            rows = children if isinstance(children, list) else []
            waiting += [{**context, **row} for row in reversed(rows) if isinstance(row, Mapping)]


def _step(run: Mapping[str, Any]) -> TraceStep:
    kind = _KINDS.get(plain(run.get("run_type")), "other")
    if kind in ("other", "retriever") and "rerank" in plain(run.get("name")).lower():
        kind = "reranker"
    received = unpacked(run.get("outputs"))
    began = plain(run.get("start_time"))
    return TraceStep(
        plain(run.get("trace_id")) or plain(run.get("id")),
        plain(run.get("id")),
        plain(run.get("parent_run_id")),
        began,
        kind,
        unpacked(run.get("inputs")),
        received,
        passages_in(received) if kind in ("retriever", "reranker") else (),
        plain(run.get("error")).split("\n")[0],
    )
