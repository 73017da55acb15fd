"""How long one query takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from harness.report.columns import Column, table
from harness.report.rows.common import Setting

_OWN = "the time of the step alone"
_TOTAL = "the search up to and including the step, with all rewriting for it"


@table(
    "latency",
    "how long one query takes",
    key=("setting", "stage"),
    when="with `latency: {queries: 50}` or similar",
)
@dataclass(frozen=True, slots=True)
class LatencyRow:
    """How long one step of a setting takes for a query, on the machine of the run.

    Queries are asked once more after everything else, one after the other, with models loaded and indexes
    open; the first few are asked beforehand and not counted. So an embedding is computed for each query, a
    store is searched as in a deployment (Chroma and FAISS without the check against a full scan), and the
    time to build an index is no part of it. Routes of a fusion are asked one after the other. Under a filter
    each query is searched in an index of the documents that it names, as in the run; a filter that a
    retriever or a route has for itself is part of that. ``multi_vector`` reads its token vectors from the
    cache for each query, as in the run. For the answer of a language model stands the time that its call took
    when it was paid for, which the ledger has. Services and endpoints are not asked again, and code of your
    own only with ``latency: {own_code: true}``; ``remark`` says so.
    What is measured is kept in the cache and not measured again on the same machine before `harness cache
    --clear`. It is no part of the outcome: two results that differ in this file alone are the same.
    """

    setting: Setting
    stage: Annotated[
        str,
        Column(
            "the step: `rewrite` and `filter` are those of the setting, `read` replaces chunks by what is "
            "read; with a dot, a route",
            filled=True,
        ),
    ]
    queries: Annotated[
        int, Column("the number of queries measured; with fewer than 100, p99 is close to the maximum")
    ]
    p50: Annotated[float | None, Column(f"{_OWN}, the median", unit="milliseconds")]
    p95: Annotated[float | None, Column(f"{_OWN}, 95th percentile", unit="milliseconds")]
    p99: Annotated[float | None, Column(f"{_OWN}, 99th percentile", unit="milliseconds")]
    total_p50: Annotated[float | None, Column(f"{_TOTAL}, the median", unit="milliseconds")]
    total_p95: Annotated[float | None, Column("the same, 95th percentile", unit="milliseconds")]
    total_p99: Annotated[float | None, Column("the same, 99th percentile", unit="milliseconds")]
    remark: Annotated[str, Column("why it was not measured")] = ""
