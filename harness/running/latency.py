"""How long a query takes, alone and in a batch: the same search again, with models and indexes warm."""

from __future__ import annotations

import math
import os
import platform
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from heapq import heapreplace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from harness import models, steps
from harness.report import LatencyRow
from harness.running.config.models import LatencyConfig
from harness.running.engine import value_bytes
from harness.running.frames import Unknown, Where
from harness.running.loop import Loop, Met, Wanted
from harness.running.meeting import Running, opened_index
from harness.running.pipeline import RETRIEVE, REWRITE, Reranked, filters, rewrites, search_facts
from harness.running.run_models import RunModels
from harness.running.search import Chunked, Searched, searching_of
from harness.running.session import Session
from harness.steps import (
    AllAtOnce,
    Built,
    Cells,
    CheckOnly,
    Cluster,
    Index,
    Noted,
    OwnCode,
    PairScores,
    PriceOfIndex,
    Prompts,
    RetrievalResult,
    TableRows,
    TermsOf,
    Texts,
    Warned,
)
from harness.store import key_of
from harness.values import Kept, Part, Query, Ranking, kind_of

# Raised when the measurement changes.
_VERSION = 5
_SEED = 7
# asked beforehand and not counted
_WARM_UP = 3
FILTER = "filter"
READ = "read"

Place = tuple[str, str]
"""A stage, and what of it: its rewriting, its filter, or '' for its own work."""


def latency_rows(
    searched: Sequence[Searched], queries: Sequence[Query], config: LatencyConfig, session: Session
) -> list[LatencyRow]:
    """The time of every step of every setting for one query; nothing without queries.

    Earlier measurements on this machine are not repeated.
    """
    if not queries:
        return []
    order = np.random.default_rng(_SEED).permutation(len(queries))[: config.queries]
    sample = [queries[place] for place in order]
    rows: list[LatencyRow] = []
    with session.notes.timed("latency"), session.notes.reporter.task("latency", len(searched)) as task:
        for result in searched:
            over_chunks = result.over_chunks or result
            key = _key(over_chunks, sample, config, session.models)
            stored = session.artifacts.get("latency", key)
            if stored is None:
                stored = [asdict(row) for row in _measured(over_chunks, sample, config, session)]
                session.artifacts.put("latency", key, stored)
            rows += [LatencyRow(**{**row, "setting": result.setting.name}) for row in stored]
            task.advance()
    return rows


def _key(result: Searched, sample: Sequence[Query], config: LatencyConfig, models: RunModels) -> str:
    return key_of(
        _VERSION,
        [platform.machine(), platform.processor(), os.cpu_count()],
        result.chunking.passages.key,
        *search_facts(result.setting, lambda encoder: models.encoder(encoder).fingerprint, models.reranker),
        [query.text for query in sample],
        config.model_dump(mode="json"),
    )


@dataclass(slots=True)
class Timing(Running):
    """Times each part of a search: uses no ranking of the cache and calls no model again.

    ``search`` is the search that is timed, and ``seconds`` what a query takes by part. Where a part cannot be
    timed, ``why`` says so, and its result is taken from there. ``opened`` are the indexes and tables in use;
    making them is not counted. ``batch``: texts of several queries are embedded in one call.
    """

    shares = False
    guesses = False
    search: Searched = field(kw_only=True)
    config: LatencyConfig = field(kw_only=True)
    stack: ExitStack = field(kw_only=True)
    seconds: dict[Place, float] = field(default_factory=lambda: defaultdict(float))
    why: dict[Place, str] = field(default_factory=dict)
    opened: dict[Any, Any] = field(default_factory=dict)
    batch: bool = False

    def stored(self, kept: Kept, where: Where, key: str) -> Any | None:
        """Nothing."""
        return None

    def keep(self, kept: Kept, key: str, value: Any) -> None:
        """Nothing."""

    def mention(self, wanted: Wanted) -> None:
        """Nothing."""

    def spent(self, where: Where, seconds: float) -> None:
        """Count a step's own work."""
        self.seconds[where.stage, where.what] += seconds

    def ended(self, where: Where, part: Part, value: Any) -> Any:
        """The rankings as they were searched: those of a single query may differ in a last digit."""
        if (
            part.name
            and where.stage in self.search.rankings
            and isinstance(value, RetrievalResult | Reranked)
        ):
            return replace(value, rankings=_ranked(self.search, where.stage, value.rankings))
        return value

    def instead(self, where: Where, part: Part, why: Unknown) -> Any:
        """What was found by the search that is timed."""
        self.why.setdefault((where.stage, where.what), why.why)
        value = part.guess() if part.guess is not None else None
        if isinstance(value, RetrievalResult):
            return RetrievalResult(_ranked(self.search, where.stage, value.rankings))
        return value

    def give(self, wanted: Wanted) -> Any:
        """What is made once is kept open; what checks a result is left out."""
        need, where = wanted.need, wanted.where
        match need:
            case CheckOnly() | Cluster() | Warned() | Noted() | PriceOfIndex():
                return None
            case AllAtOnce():
                return Unknown(need.why)
            case OwnCode():
                return self._own_code()
            case Built():
                return self._kept_open(where, need.facts, need.make)
            case TermsOf():
                return self._kept_open(where, need.passages.key, partial(Running.give, self, wanted))
            case Cells():
                return self._kept_open(where, str(need.file), partial(Running.give, self, wanted))
            case TableRows():
                return self._kept_open(where, str(need.file), partial(Running.give, self, wanted))
            case Index():
                return self._kept_open(where, key_of(*need.facts), partial(self._open, need))
        return Running.give(self, wanted)

    def _open(self, need: Index) -> Any:
        return self.stack.enter_context(opened_index(need, self.resources))

    def _kept_open(self, where: Where, key: Any, make: Callable[[], Any]) -> Any:
        place = where.stage, where.what, key
        if place not in self.opened:
            self.opened[place] = make()
        return self.opened[place]

    def _own_code(self) -> Unknown | None:
        if self.config.own_code:
            return None
        return Unknown("your own code is not called again unless latency: {own_code: true} allows it")

    def meet(self, wanted: Sequence[Wanted]) -> Sequence[Met | Unknown]:
        """What queries need is computed now, by itself; what passages need is looked up."""
        return list(map(self._meet, wanted))

    def _meet(self, wanted: Wanted) -> Met | Unknown:
        need, where = wanted.need, wanted.where
        match need:
            case Texts() if need.whose == "passages":
                rows = self._kept_open(
                    where, (need.key, need.encoder.model_name), partial(self._rows, wanted)
                )
                return Met(lambda: rows)
            case Texts():
                return self._encoded(need, where)
            case PairScores():
                return self._scored(need, where)
            case Prompts():
                return self._answered(wanted)
        return Unknown(f"{kind_of(need.service)} cannot be searched one query at a time")

    def _rows(self, wanted: Wanted) -> Any:
        (met,) = Running.meet(self, [wanted])
        rows: Any = met.make() if isinstance(met, Met) else ()
        return rows[:] if wanted.need.shape == "rows" else rows

    def _encoded(self, need: Texts, where: Where) -> Met | Unknown:
        encoder = self.session.models.encoder(need.encoder)
        if not isinstance(encoder, models.LocalEncoder):
            return Unknown(f"{need.encoder.model_name} is not a model on this machine")
        start = perf_counter()
        texts = need.texts
        batches = encoder.batches(texts) if self.batch and texts else [[at] for at in range(len(texts))]
        by_place = {
            at: value
            for batch in batches
            for at, value in zip(batch, encoder.encode([texts[at] for at in batch]), strict=True)
        }
        self.seconds[where.stage, where.what] += perf_counter() - start
        values = [by_place[at] for at in range(len(texts))]
        if need.shape == "encodings":
            return Met(lambda: list(map(value_bytes, values)))
        return Met(lambda: np.stack([np.asarray(value, dtype=np.float32) for value in values]))

    def _scored(self, need: PairScores, where: Where) -> Met | Unknown:
        scorer = self.session.models.reranker(need.reranker)
        if scorer.own_code and (unknown := self._own_code()):
            return unknown
        if not isinstance(scorer, steps.LocalModelScorer) and not scorer.own_code:
            return Unknown(f"{need.reranker.kind} is not a model on this machine")
        scorer.forget()
        start = perf_counter()
        pairs = steps.pairs_of(need.lists)
        scores = np.zeros(len(pairs), dtype=np.float32)
        for batch in scorer.batches(pairs) if pairs else ():
            scores[batch] = scorer.score([pairs[place] for place in batch])
        self.seconds[where.stage, where.what] += perf_counter() - start
        each = iter(scores.tolist())
        by_list = [list(islice(each, len(passages) - 1)) for passages in need.lists]
        return Met(lambda: by_list)

    def _answered(self, wanted: Wanted) -> Met | Unknown:
        """The answers of the ledger, which take as long as they took when they were paid for.

        Those that do not wait for each other are taken to be asked at once, as many as the endpoint takes.
        """
        request, where = wanted.need.request, wanted.where
        if self.resources.pending(request) is not None:
            return Unknown("the ledger does not have the answers of the language model")
        (met,) = Running.meet(self, [wanted])
        talks = met.make() if isinstance(met, Met) else []
        if any(models.came_in_batch(answer) for talk in talks for answer in talk.answers):
            return Unknown("the language model has answered in batches, whose time is not that of a query")
        ends = [0.0] * request.model.endpoint.max_concurrency
        for talk in talks:
            heapreplace(ends, ends[0] + sum(answer.seconds for answer in talk.answers))
        self.seconds[where.stage, where.what] += max(ends)
        return met


def _ranked(result: Searched, stage: str, inputs: Sequence[Ranking] | Sequence[Query]) -> list[Ranking]:
    """The rankings of a stage as they were searched, of the same queries."""
    by_id = {ranking.query_id: ranking for ranking in result.rankings[stage]}
    return [by_id[query.query_id] for query in inputs]


def _measured(
    result: Searched, sample: Sequence[Query], config: LatencyConfig, session: Session
) -> Iterator[LatencyRow]:
    point, reading = Chunked(result.setting, result.chunking), result.chunking.reading
    last = _ranked(result, result.steps[-1], sample)
    times: list[Mapping[Place, float]] = []
    with ExitStack() as stack:
        timing = Timing(session.again(), search=result, config=config, stack=stack)
        if not result.chunking.chunks:
            timing.why[RETRIEVE, ""] = "there are no chunks"

        def ask(first: int, count: int = 1) -> Mapping[Place, float]:
            timing.seconds, timing.batch = defaultdict(float), count > 1
            part = slice(first, first + count)
            Loop(timing).run({"0": searching_of(point, sample[part], timing.session.models)})
            if reading is not None:
                start = perf_counter()
                for ranking in last[part]:
                    reading.ranking(ranking)
                timing.seconds[READ, ""] += perf_counter() - start
            return timing.seconds

        def warm(first: int, count: int = 1) -> Mapping[Place, float]:
            # each index is searched once before it counts
            before, seconds = len(timing.opened), ask(first, count)
            return ask(first, count) if len(timing.opened) > before else seconds

        for at in range(min(_WARM_UP, len(sample))):
            ask(at)
        begin = perf_counter()
        while len(times) < len(sample) and perf_counter() - begin < config.seconds:
            times.append(warm(len(times)))
        # as many as were timed alone, so that it does not take longer than they did
        batch = warm(0, len(times)) if len(times) > 1 else None
    yield from _rows(result, times, batch, timing.why)


def _rows(
    result: Searched,
    seconds: Sequence[Mapping[Place, float]],
    batch: Mapping[Place, float] | None,
    why: Mapping[Place, str],
) -> Iterator[LatencyRow]:
    """The rows of a setting: of each stage with its routes, and of all up to it.

    ``seconds`` are those of each query alone, ``batch`` those of all of them together; None: not asked so.
    """
    setting = result.setting
    every = dict.fromkeys(part for parts in (*seconds, why) for part in parts)
    # the filter of the setting takes the place of one that the retriever has
    filtering = {(RETRIEVE, "filter")} if filters(setting) else set()
    stages = {stage: {p for p in every if _within(p[0], stage)} - filtering for stage in result.rankings}
    if filtering:
        stages = {FILTER: filtering} | stages
    if rewrites(setting):
        stages = {REWRITE: {p for p in every if p[0] == REWRITE}} | stages
    if result.chunking.reading is not None:
        stages[READ] = {(READ, "")}
    before: set[Place] = set()
    for stage, parts in stages.items():
        # a route is reached after the rewriting and the filter of its fusion
        above = {p for p in every if p[0] != stage and _within(stage, p[0]) and p[1]}
        total = before | above | parts
        of_part, whole = _percentiles(parts, seconds, why), _percentiles(total, seconds, why)
        reasons = [*(why[p] for p in why if p in parts), *(why[p] for p in why if p in total)]
        queries = 0 if of_part[0] is None else len(seconds)
        row = LatencyRow(setting.name, stage, queries, *of_part, *whole, remark=next(iter(reasons), ""))
        yield row if whole[0] is None else replace(row, total_in_batch=_in_batch(total, batch, len(seconds)))
        if stage in result.steps or stage not in result.rankings:
            before |= parts


def _within(stage: str, outer: str) -> bool:
    return f"{stage}.".startswith(f"{outer}.")


def _in_batch(parts: Set[Place], batch: Mapping[Place, float] | None, queries: int) -> float | None:
    """The mean milliseconds of a query for some parts, where all queries were asked at once."""
    if batch is None:
        return None
    seconds = math.fsum(value for part, value in batch.items() if part in parts)
    return round(1000 * seconds / queries, 3)


def _percentiles(
    parts: Set[Place], measured: Sequence[Mapping[Place, float]], why: Mapping[Place, str]
) -> tuple[float | None, float | None, float | None]:
    """The 50th, 95th and 99th percentile of the milliseconds for some parts; None if one is not measured."""
    if not measured or not parts.isdisjoint(why):
        return None, None, None
    seconds = [sum(value for part, value in seconds_of.items() if part in parts) for seconds_of in measured]
    low, high, highest = (round(1000 * float(q), 3) for q in np.percentile(seconds, [50, 95, 99]))
    return low, high, highest
