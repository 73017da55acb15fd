"""How long one query takes: the same search again, one query at a time, models and indexes warm."""

from __future__ import annotations

import os
import platform
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from heapq import heapreplace
from time import perf_counter
from typing import Any, ClassVar, TypeVar

import numpy as np

from harness import models, steps
from harness.report import LatencyRow
from harness.running.config.models import LatencyConfig
from harness.running.context import Context
from harness.running.search import Searched, rerank_lists, reranker_names
from harness.running.tools import RETRIEVE, REWRITE, RunTools
from harness.store import key_of
from harness.values import Query, Ranking

# Raised when the measurement changes.
_VERSION = 4
_SEED = 7
# asked beforehand and not counted
_WARM_UP = 3
FILTER = "filter"
READ = "read"

T = TypeVar("T")
Part = tuple[str, str]
"""A stage, and what of it: its rewriting, its filter, or '' for its own work."""


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
            over_chunks = one.over_chunks or one
            key = _key(over_chunks, sample, config, context)
            stored = context.artifacts.get("latency", key)
            if stored is None:
                stored = [asdict(row) for row in _measured(over_chunks, sample, config, context)]
                context.artifacts.put("latency", key, stored)
            rows += [LatencyRow(**{**row, "setting": one.setting.name}) for row in stored]
            task.advance()
    return rows


def _key(one: Searched, sample: Sequence[Query], config: LatencyConfig, context: Context) -> str:
    setting = one.setting
    rewrite = None if setting.rewrite is None else steps.REWRITERS.make(setting.rewrite).identity()
    return key_of(
        _VERSION,
        [platform.machine(), platform.processor(), os.cpu_count()],
        one.chunking.passages.key,
        [rewrite, RunTools(context).identity(setting.finder)],
        setting.model_dump(mode="json", include={"filter", "retrieve", "rerank", "read"}),
        [context.models.reranker(reranker).fingerprint for reranker in setting.rerank],
        [query.text for query in sample],
        config.model_dump(mode="json"),
    )


@dataclass(slots=True)
class Stopwatch:
    """The seconds of one query by part; those of a part inside another count for the inner one alone."""

    seconds: dict[Part, float] = field(default_factory=lambda: defaultdict(float))
    _running: list[Part | None] = field(default_factory=lambda: [None])
    _read: float = 0.0

    @contextmanager
    def on(self, part: Part | None) -> Iterator[None]:
        """Time the with block for a part; None: for nothing."""
        self._lap()
        self._running.append(part)
        try:
            yield
        finally:
            self._lap()
            self._running.pop()

    def add(self, seconds: float) -> None:
        """Add what was waited for at another time."""
        if (part := self._running[-1]) is not None:
            self.seconds[part] += seconds

    def _lap(self) -> None:
        now = perf_counter()
        self.add(now - self._read)
        self._read = now


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedTools(RunTools):
    """Tools that time each part of a search, use no ranking of the cache and call no model again.

    ``one`` is the search that is timed. Where a part cannot be timed, ``why`` says so, and its result is
    taken from there. ``opened`` are the indexes, filters and cut passages in use; making them is not counted.
    """

    uses_cache: ClassVar[bool] = False
    one: Searched
    config: LatencyConfig
    stack: ExitStack
    watch: Stopwatch = field(default_factory=Stopwatch)
    why: dict[Part, str] = field(default_factory=dict)
    opened: dict[Any, Any] = field(default_factory=dict)
    stages: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what follows for this stage or route."""
        above = self.stages[-1] if self.stages else ""
        self.stages.append(f"{above}.{name}" if above and name else name or above)
        try:
            with self.watch.on((self.stages[-1], "")):
                yield
        finally:
            self.stages.pop()

    def measured(self, part: str, unless: str, ask: Callable[[], T], otherwise: Callable[[], T]) -> T:
        """What ``ask`` returns, timed for a part of the stage; if that cannot be measured, the ``otherwise``.

        ``unless`` says why it is not, '' where it is.
        """
        place = self.stages[-1], part
        if not unless and place not in self.why:
            try:
                with self.watch.on(place):
                    return ask()
            except steps.PendingCallsError:
                unless = "the ledger does not have the answers of the language model"
            except steps.NotMeasuredError as error:
                unless = str(error)
        self.why.setdefault(place, unless)
        with self.watch.on(None):
            return otherwise()

    def kept_open(self, key: Any, make: Callable[[], T]) -> T:
        """What ``make`` has made for this stage and key before, else makes now, which is not timed."""
        with self.watch.on(None):
            place = self.stages[-1], key
            if place not in self.opened:
                self.opened[place] = make()
            made: T = self.opened[place]
            return made

    def not_called(self, own_code: bool) -> str:
        """Why the user's code is not measured; '' where it is, and for all other steps."""
        if not own_code or self.config.own_code:
            return ""
        return "your own code is not called again unless latency: {own_code: true} allows it"

    def talks(self, request: models.Request) -> list[steps.Talked]:
        """The answers of the ledger, which take as long as they took when they were paid for.

        Those that do not wait for each other are taken to be asked at once, as many as the endpoint takes.
        """
        with self.watch.on(None):
            found = RunTools.talks(self, request)
        if any(models.came_in_batch(one) for talk in found for one in talk.answers):
            raise steps.NotMeasuredError(
                "the language model has answered in batches, whose time is not that of a query"
            )
        ends = [0.0] * request.model.endpoint.max_concurrency
        for talk in found:
            heapreplace(ends, ends[0] + sum(one.seconds for one in talk.answers))
        self.watch.add(max(ends))
        return found

    def phrasings(self, rewrite: steps.RewriterConfig, queries: Sequence[Query]) -> steps.Phrasings:
        """The texts, made again."""
        rewriter = self.kept_open(rewrite.kind, lambda: steps.REWRITERS.make(rewrite))
        unless = self.not_called(rewriter.own_code)
        if not rewriter.repeatable and not rewriter.own_code:
            unless = f"{rewrite.kind} may cost money"
        return self.measured(
            "rewrite",
            unless,
            lambda: steps.Phrasings(rewriter.again(queries, self)),
            lambda: self.put(None, queries),
        )

    def filtered(
        self, config: steps.FilterConfig, documents: Sequence[str], queries: Sequence[Query]
    ) -> tuple[steps.FilterResult, ...]:
        """The documents of each question, found with the table open."""
        asked = [self.questions[query.query_id] for query in queries]
        find = self.kept_open(documents, lambda: steps.FILTERS.make(config).opened(documents, self))
        return self.measured(
            "filter",
            "",
            lambda: tuple(map(find, asked)),
            lambda: tuple(steps.FilterResult(q.query_id, config.mode, {}, (), None, 0) for q in asked),
        )

    def only(self, passages: steps.Passages, documents: frozenset[str] | None) -> steps.Passages:
        """The passages of some documents, cut once."""
        return self.kept_open((passages.key, documents), lambda: RunTools.only(self, passages, documents))

    def found(
        self, retriever: steps.RetrieverConfig, passages: steps.Passages, queries: Sequence[Query]
    ) -> steps.RetrievalResult:
        """What a retriever finds with its index open; a fusion combines what its routes find."""
        if retriever.parts:
            return RunTools.found(self, retriever, passages, queries)
        made = steps.RETRIEVERS.make(retriever)

        def search() -> list[Ranking]:
            if not passages.ids or not queries:
                return [Ranking(query.query_id, (), ()) for query in queries]
            return list(map(self.kept_open(passages.key, opened), queries))

        def opened() -> steps.SearchOne:
            find = self.stack.enter_context(made.warm(passages, self))
            # so that each index has been searched once
            find(queries[0])
            return find

        unless = self.not_called(made.own_code) if self.one.chunking.chunks else "there are no chunks"
        return steps.RetrievalResult(
            self.measured("", unless, search, lambda: _ranked(self.one, self.stages[-1], queries))
        )


def _ranked(one: Searched, stage: str, queries: Sequence[Query]) -> list[Ranking]:
    """The rankings of a stage as they were searched."""
    by_id = {ranking.query_id: ranking for ranking in one.rankings[stage]}
    return [by_id[query.query_id] for query in queries]


def _measured(
    one: Searched, sample: Sequence[Query], config: LatencyConfig, context: Context
) -> Iterator[LatencyRow]:
    passages, reading = one.chunking.passages, one.chunking.reading
    last = _ranked(one, one.steps[-1], sample)
    taken: list[Mapping[Part, float]] = []
    with ExitStack() as stack:
        questions = {query.query_id: query for query in sample}
        tools = TimedTools(context.again(), questions, one=one, config=config, stack=stack)
        rerankers = [_reranker(place, sample, tools) for place in range(len(one.setting.rerank))]

        def ask(at: int) -> Mapping[Part, float]:
            tools.watch.seconds = defaultdict(float)
            tools.retrieve(one.setting, passages, [sample[at]])
            for score in rerankers:
                score(at)
            if reading is not None:
                with tools.stage(READ):
                    reading.ranking(last[at])
            return tools.watch.seconds

        for at in range(min(_WARM_UP, len(sample))):
            ask(at)
        began = perf_counter()
        while len(taken) < len(sample) and perf_counter() - began < config.seconds:
            taken.append(ask(len(taken)))
    yield from _rows(one, taken, tools.why)


def _reranker(place: int, sample: Sequence[Query], tools: TimedTools) -> Callable[[int], None]:
    """Scores the pairs of one query, by its place in the sample, and sorts them."""
    one = tools.one
    config, name = one.setting.rerank[place], reranker_names(one.setting)[place]
    scorer = tools.context.models.reranker(config)
    unless = tools.not_called(scorer.own_code)
    if not isinstance(scorer, steps.LocalModelScorer | steps.ListScorer) and not scorer.own_code:
        unless = f"{config.kind} is not a model on this machine"
    chosen = {stage: _ranked(one, stage, sample) for stage in one.rankings}
    lists = rerank_lists(replace(one, rankings=chosen), place, sample)
    before = chosen[one.steps[place]]

    def score(at: int) -> Ranking:
        if isinstance(scorer, steps.ListScorer):
            ((scores, _),) = scorer.ordered([lists[at]], tools)
            return steps.rerank(before[at], scores)
        scorer.forget()
        pairs = steps.pairs_of([lists[at]])
        found = np.zeros(len(pairs), dtype=np.float32)
        for batch in scorer.batches(pairs) if pairs else ():
            found[batch] = scorer.score([pairs[i] for i in batch])
        return steps.rerank(before[at], found.tolist())

    def timed(at: int) -> None:
        with tools.stage(name):
            tools.measured("", unless, lambda: score(at), lambda: before[at])

    return timed


def _rows(
    one: Searched, taken: Sequence[Mapping[Part, float]], why: Mapping[Part, str]
) -> Iterator[LatencyRow]:
    """The rows of a setting: of each stage with its routes, and of all up to it."""
    setting = one.setting
    every = dict.fromkeys(part for parts in (*taken, why) for part in parts)
    # the filter of the setting takes the place of one that the retriever has
    filtering = {(RETRIEVE, "filter")} if setting.filter is not None else set()
    stages = {stage: {p for p in every if _within(p[0], stage)} - filtering for stage in one.rankings}
    if filtering:
        stages = {FILTER: filtering} | stages
    if setting.rewrite is not None:
        stages = {REWRITE: {p for p in every if p[0] == REWRITE}} | stages
    if one.chunking.reading is not None:
        stages[READ] = {(READ, "")}
    before: set[Part] = set()
    for stage, parts in stages.items():
        # a route is reached after the rewriting and the filter of its fusion
        above = {p for p in every if p[0] != stage and _within(stage, p[0]) and p[1]}
        total = before | above | parts
        own, whole = _percentiles(parts, taken, why), _percentiles(total, taken, why)
        reasons = [*(why[p] for p in why if p in parts), *(why[p] for p in why if p in total)]
        queries = 0 if own[0] is None else len(taken)
        yield LatencyRow(setting.name, stage, queries, *own, *whole, remark=next(iter(reasons), ""))
        if stage in one.steps or stage not in one.rankings:
            before |= parts


def _within(stage: str, outer: str) -> bool:
    return f"{stage}.".startswith(f"{outer}.")


def _percentiles(
    parts: Set[Part], taken: Sequence[Mapping[Part, float]], why: Mapping[Part, str]
) -> tuple[float | None, float | None, float | None]:
    """The 50th, 95th and 99th percentile of the milliseconds for some parts; None if one is not measured."""
    if not taken or not parts.isdisjoint(why):
        return None, None, None
    seconds = [sum(value for part, value in one.items() if part in parts) for one in taken]
    low, high, highest = (round(1000 * float(q), 3) for q in np.percentile(seconds, [50, 95, 99]))
    return low, high, highest
