"""How long one query takes: a warm second pass, one query at a time, step by step."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from harness.report import LatencyRow
from harness.running.config.models import LatencyConfig
from harness.running.context import Context
from harness.running.search import RETRIEVE, Searched, reranker_names
from harness.running.timed import StepTimes, TimedSearch, TimedTools, Wordings
from harness.running.tools import RunTools
from harness.steps import REWRITERS
from harness.store import key_of
from harness.values import Query, Silent

# Raised when the measurement changes.
_VERSION = 3
_SEED = 7
REWRITE = "rewrite"
FILTER = "filter"
READ = "read"


def latency_rows(
    searched: Sequence[Searched], queries: Sequence[Query], config: LatencyConfig, context: Context
) -> list[LatencyRow]:
    """The time of every step of every setting for one query; nothing without queries.

    Earlier measurements on this machine are not repeated.
    """
    if not queries:
        return []
    order = np.random.default_rng(_SEED).permutation(len(queries))[: config.queries]
    sample = [queries[place] for place in order]
    rows: list[LatencyRow] = []
    with context.timed("latency"), context.reporter.task("latency", len(searched)) as task:
        for one in searched:
            own = one.over_chunks or one
            key = _key(own, sample, config, context)
            stored = context.artifacts.get("latency", key)
            if stored is None:
                stored = [asdict(row) for row in _rows(own, sample, config, context)]
                context.artifacts.put("latency", key, stored)
            rows += [LatencyRow(**{**row, "setting": one.setting.name}) for row in stored]
            task.advance()
    return rows


def _key(one: Searched, sample: Sequence[Query], config: LatencyConfig, context: Context) -> str:
    setting = one.setting
    rewrite = None if setting.rewrite is None else REWRITERS.make(setting.rewrite).identity()
    return key_of(
        _VERSION,
        [platform.machine(), platform.processor(), os.cpu_count()],
        one.chunking.passages.key,
        [rewrite, RunTools(context).identity(setting.finder)],
        setting.model_dump(mode="json", include={"filter", "retrieve", "rerank", "read"}),
        [context.reranker(reranker).fingerprint for reranker in setting.rerank],
        [query.text for query in sample],
        config.model_dump(mode="json"),
    )


def _rows(
    one: Searched, sample: Sequence[Query], config: LatencyConfig, context: Context
) -> Iterator[LatencyRow]:
    fresh: dict[str, Any] = {"timings": {}, "counts": {}, "spent": {}, "rewritten": {}, "answer_costs": []}
    quiet = replace(context, reporter=Silent(), may_ask=False, **fresh)
    run = TimedSearch(one, sample, config, TimedTools(quiet))
    setting, name = one.setting, one.setting.name
    asked: Wordings = [(query,) for query in sample]
    before, asked = run.rewritten(setting.rewrite, asked)
    if setting.rewrite is not None:
        yield _row(name, REWRITE, before, before)
    among, retriever = run.everything, setting.retrieve
    if setting.filter is not None:
        # it takes the place of one that the retriever has
        taken, among = run.filtered(setting.filter, among)
        before, retriever = before + taken, retriever.model_copy(update={"filter": None})
        yield _row(name, FILTER, taken, before)
    for stage, taken in run.retrieved(retriever, RETRIEVE, asked, among).items():
        yield _row(name, stage, taken, before + taken)
        if stage == RETRIEVE:
            before = before + taken
    for place, stage in enumerate(reranker_names(setting)):
        taken = run.reranked(place)
        before = before + taken
        yield _row(name, stage, taken, before)
    if one.chunking.reading is not None:
        taken = run.read(one.chunking.reading)
        yield _row(name, READ, taken, before + taken)


def _row(setting: str, stage: str, own: StepTimes, total: StepTimes) -> LatencyRow:
    return LatencyRow(
        setting,
        stage,
        len(own.seconds),
        *_percentiles(own),
        *_percentiles(total),
        remark=own.why or total.why,
    )


def _percentiles(taken: StepTimes) -> tuple[float | None, float | None, float | None]:
    if not taken.seconds:
        return None, None, None
    low, high, highest = (round(1000 * float(q), 3) for q in np.percentile(taken.seconds, [50, 95, 99]))
    return low, high, highest
