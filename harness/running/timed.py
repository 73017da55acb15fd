"""The steps of one setting, timed one query at a time with models and indexes open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from harness.models import Request, came_in_batch
from harness.running.config.models import LatencyConfig
from harness.running.filtering import Boost, only, to_full_depth
from harness.running.reading import Reading
from harness.running.search import Searched, rerank_pairs
from harness.running.tools import RunTools
from harness.steps import (
    FILTERS,
    RETRIEVERS,
    REWRITERS,
    FilterConfig,
    Fusion,
    LocalModelScorer,
    NotMeasuredError,
    Passages,
    PendingCallsError,
    RetrieverConfig,
    RewriterConfig,
    SearchOne,
    ranked_by,
    rerank,
    route_names,
)
from harness.values import LlmAnswer, Query, Ranking

# asked beforehand and not counted
_WARM_UP = 3

Wordings = list[tuple[Query, ...]]
"""The wordings to search for, of each query of the sample."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """The seconds of each query of the sample, or of its first ones; none, and why, if not measured."""

    seconds: tuple[float, ...] = ()
    why: str = ""

    def __add__(self, other: StepTimes) -> StepTimes:
        """One after the other, for the queries that both were measured on."""
        if self.why or other.why:
            return StepTimes(why=self.why or other.why)
        return StepTimes(tuple(a + b for a, b in zip(self.seconds, other.seconds, strict=False)))


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where each query is searched: ``passages`` by its place, the same object for the same.

    With a ``weight``, the chunks of its ``documents`` are raised by it; None: it names none.
    """

    passages: tuple[Passages, ...]
    weight: float | None = None
    documents: tuple[frozenset[str] | None, ...] = ()

    def first_places(self) -> dict[str, int]:
        """The first query that is searched in each of the passages, by their keys."""
        return {self.passages[at].key: at for at in reversed(range(len(self.passages)))}


@dataclass(frozen=True, slots=True)
class TimedTools(RunTools):
    """Tools that report nothing, call no model again, and count the time of answers in the ledger.

    ``waited`` is what is to be added to the clock for them.
    """

    waited: list[float] = field(default_factory=list)

    def answers(self, request: Request) -> list[LlmAnswer]:
        """The answers of the ledger; raises NotMeasuredError for those that came in batches."""
        begun = perf_counter()
        found = RunTools.answers(self, request)
        if any(came_in_batch(one) for one in found):
            raise NotMeasuredError(
                "the language model has answered in batches, whose time is not that of a query"
            )
        self.waited.append(sum(one.seconds for one in found) - (perf_counter() - begun))
        return found


@dataclass(frozen=True, slots=True)
class TimedSearch:
    """One setting that is measured on ``sample``, as ``config`` allows."""

    one: Searched
    sample: Sequence[Query]
    config: LatencyConfig
    tools: TimedTools

    @property
    def everything(self) -> SearchScope:
        """Every query is searched in all chunks."""
        return SearchScope((self.one.chunking.passages,) * len(self.sample))

    def rewritten(self, rewrite: RewriterConfig | None, asked: Wordings) -> tuple[StepTimes, Wordings]:
        """The time of rewriting, and the rewritten queries."""
        if rewrite is None:
            return StepTimes((0.0,) * len(asked)), asked
        rewriter = REWRITERS.make(rewrite)
        if why := self._not_called(rewriter.own_code):
            return StepTimes(why=why), asked
        if not rewriter.repeatable and not rewriter.own_code:
            return StepTimes(why=f"{rewrite.kind} may cost money"), asked

        def again(texts: tuple[Query, ...]) -> tuple[Query, ...]:
            return tuple(query for group in rewriter.again(texts, self.tools) for query in group)

        taken = self._timed(lambda place: again(asked[place]))
        return taken, asked if taken.why else [again(texts) for texts in asked]

    def filtered(self, config: FilterConfig, among: SearchScope) -> tuple[StepTimes, SearchScope]:
        """The time to find the documents of each question, and the passages left to search.

        A filter reads the question as the user asked it. If it cannot be measured, nothing changes.
        """
        opened = FILTERS.make(config).opened
        firsts = among.first_places().items()
        filters = {key: opened(among.passages[at].documents, self.tools) for key, at in firsts}
        taken = self._timed(lambda place: filters[among.passages[place].key](self.sample[place]))
        if taken.why:
            return taken, among
        documents = tuple(
            filters[passages.key](query).documents
            for passages, query in zip(among.passages, self.sample, strict=True)
        )
        if config.boost is not None:
            return taken, replace(among, weight=config.boost, documents=documents)
        pairs = list(zip(among.passages, documents, strict=True))
        distinct = {(passages.key, own): (passages, own) for passages, own in pairs}
        cut = {key: only(*one) for key, one in distinct.items()}
        return taken, SearchScope(tuple(cut[passages.key, own] for passages, own in pairs))

    def retrieved(
        self, retriever: RetrieverConfig, name: str, asked: Wordings, among: SearchScope
    ) -> dict[str, StepTimes]:
        """The time of a retriever and its routes, by stage, the routes first.

        Rewriting and filters of their own are part of it; a route is reached after those of its fusion.
        """
        before, asked = self.rewritten(retriever.rewrite, asked)
        if retriever.filter is not None:
            filtering, among = self.filtered(retriever.filter, among)
            before = before + filtering
        if not retriever.parts:
            return {name: before + self._searched(retriever, asked, among)}
        found: dict[str, StepTimes] = {}
        total = before
        names = [f"{name}.{route}" for route in route_names(retriever.parts)]
        for part, route in zip(retriever.parts, names, strict=True):
            # a preference for documents counts for what is fused
            below = self.retrieved(part, route, asked, SearchScope(among.passages))
            total = total + below[route]
            found |= {stage: before + taken for stage, taken in below.items()}
        return found | {name: total + self._fused(retriever, names, among)}

    def _searched(self, retriever: RetrieverConfig, asked: Wordings, among: SearchScope) -> StepTimes:
        if not any(passages.ids for passages in among.passages):
            return StepTimes(why="there are no chunks")
        made = RETRIEVERS.make(retriever)
        if why := self._not_called(made.own_code):
            return StepTimes(why=why)
        firsts = among.first_places()
        try:
            with ExitStack() as stack:
                search = {
                    key: self._opened(retriever, among, among.passages[at], stack)
                    for key, at in firsts.items()
                }

                def find(place: int) -> list[Ranking]:
                    documents = among.documents[place] if among.documents else None
                    own = search[among.passages[place].key]
                    return [own(query, documents) for query in asked[place]]

                # so that each index has been searched once
                return self._timed(find, tuple(firsts.values()))
        except NotMeasuredError as error:
            return StepTimes(why=str(error))

    def _opened(
        self, retriever: RetrieverConfig, among: SearchScope, passages: Passages, stack: ExitStack
    ) -> Callable[[Query, frozenset[str] | None], Ranking]:
        """The search in some passages for one query and the documents that are raised for it."""
        if not passages.ids:
            return lambda query, _: Ranking(query.query_id, (), ())
        if among.weight is None:
            plain: SearchOne = stack.enter_context(RETRIEVERS.make(retriever).warm(passages, self.tools))
            return lambda query, _: plain(query)
        deep = RETRIEVERS.make(to_full_depth(retriever, passages))
        search: SearchOne = stack.enter_context(deep.warm(passages, self.tools))
        boost = Boost.of(retriever, passages, among.weight)
        return lambda query, documents: boost(search(query), documents)

    def _fused(self, retriever: RetrieverConfig, routes: Sequence[str], among: SearchScope) -> StepTimes:
        """The time to fuse the results of the routes."""
        fusion: Any = RETRIEVERS.make(retriever)
        if not isinstance(fusion, Fusion):
            return StepTimes(why=f"{retriever.kind} cannot be searched one query at a time")
        weights = fusion.config.weights or (1.0,) * len(routes)
        passages = self.one.chunking.passages
        length = passages.length_of
        found = [self._rankings(route) for route in routes]
        deep = to_full_depth(retriever, passages)
        boost = None if among.weight is None else Boost.of(retriever, passages, among.weight)

        def fuse(place: int) -> Ranking:
            scores = fusion.combine([rankings[place] for rankings in found], weights)
            query_id = self.sample[place].query_id
            if boost is None:
                return ranked_by(scores, query_id, retriever, length)
            return boost(ranked_by(scores, query_id, deep, length), among.documents[place])

        return self._timed(fuse)

    def reranked(self, place: int) -> StepTimes:
        """The time to score the pairs of one query and to sort them."""
        config = self.one.setting.rerank[place]
        scorer = self.tools.context.reranker(config)
        if why := self._not_called(scorer.own_code):
            return StepTimes(why=why)
        if not isinstance(scorer, LocalModelScorer) and not scorer.own_code:
            return StepTimes(why=f"{config.kind} is not a model on this machine")
        before = self._rankings(self.one.steps[place])
        chosen = {stage: self._rankings(stage) for stage in self.one.rankings}
        texts = iter(rerank_pairs(replace(self.one, rankings=chosen), place, self.sample))
        pairs = [[next(texts) for _ in ranking.chunk_ids[: config.top_n]] for ranking in before]

        def score(at: int) -> Ranking:
            scorer.forget()
            scores = np.zeros(len(pairs[at]), dtype=np.float32)
            for batch in scorer.batches(pairs[at]) if pairs[at] else ():
                scores[batch] = scorer.score([pairs[at][i] for i in batch])
            return rerank(before[at], scores.tolist())

        return self._timed(score)

    def read(self, reading: Reading) -> StepTimes:
        """The time to replace the chunks found by the text that is read."""
        found = self._rankings(self.one.steps[-1])
        return self._timed(lambda place: reading.ranking(found[place]))

    def _not_called(self, own_code: bool) -> str:
        """Why the user's code is not measured; '' where it is, and for all other steps."""
        if not own_code or self.config.own_code:
            return ""
        return "your own code is not called again unless latency: {own_code: true} allows it"

    def _rankings(self, stage: str) -> list[Ranking]:
        """The rankings of a stage in the order of the sample."""
        by_id = {ranking.query_id: ranking for ranking in self.one.rankings[stage]}
        return [by_id[query.query_id] for query in self.sample]

    def _timed(self, ask: Callable[[int], object], first: Sequence[int] = ()) -> StepTimes:
        """The seconds of each query, by its place in the sample; fewer where they would be too many.

        Those at the places ``first``, and the first few, are asked beforehand.
        """
        try:
            first = tuple(dict.fromkeys((*range(min(_WARM_UP, len(self.sample))), *first)))
            for place in first:
                ask(place)
            seconds: list[float] = []
            began = perf_counter()
            while len(seconds) < len(self.sample) and perf_counter() - began < self.config.seconds:
                self.tools.waited.clear()
                begun = perf_counter()
                ask(len(seconds))
                seconds.append(perf_counter() - begun + sum(self.tools.waited))
        except PendingCallsError:
            return StepTimes(why="the ledger does not have the answers of the language model")
        except NotMeasuredError as error:
            return StepTimes(why=str(error))
        return StepTimes(tuple(seconds))
