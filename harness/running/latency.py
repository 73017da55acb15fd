"""How long one query takes: a warm second pass, one query at a time, step by step."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from harness.config import LatencyConfig
from harness.llm import Form, ModelConfig, came_in_batch
from harness.progress import Silent
from harness.report import LatencyRow
from harness.running.context import Context
from harness.running.search import RETRIEVE, Searched, rerank_pairs, reranker_names
from harness.running.tools import RunTools
from harness.search import (
    RETRIEVERS,
    REWRITERS,
    NotAskedError,
    NotMeasuredError,
    Passages,
    RetrieverConfig,
    RewriterConfig,
)
from harness.search.fuse import Fusion, route_names
from harness.search.fuse.routes import ranked_by
from harness.search.rerank import rerank
from harness.search.rerank.local_model import LocalModelScorer
from harness.search.tools import Purpose
from harness.store import key_of
from harness.types import Answered, Query, Ranking

# Raised when the same would be measured otherwise than before.
_VERSION = 2
_SEED = 7
# asked beforehand and not counted
_WARM_UP = 3
REWRITE = "rewrite"

Asked = list[tuple[Query, ...]]
"""What is asked for each query of the sample."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The seconds of each query of the sample, or of its first ones; none, and why, where not measured."""

    seconds: tuple[float, ...] = ()
    why: str = ""

    def __add__(self, other: Taken) -> Taken:
        """One after the other, for the queries that both were measured on."""
        if self.why or other.why:
            return Taken(why=self.why or other.why)
        return Taken(tuple(a + b for a, b in zip(self.seconds, other.seconds, strict=False)))


@dataclass(frozen=True, slots=True)
class _Tools(RunTools):
    """Tools that say nothing, ask no model anew, and count what the answers of the ledger once took.

    ``waited`` is what is to be added to the clock for them.
    """

    waited: list[float] = field(default_factory=list)

    def answers(
        self,
        model: ModelConfig,
        form: Form,
        texts: Sequence[str],
        name: str,
        *,
        purpose: Purpose = "rewriting",
        passages: Sequence[tuple[str, ...]] = (),
    ) -> list[Answered]:
        """The answers of the ledger; raises NotMeasuredError for those that came in batches."""
        begun = perf_counter()
        found = RunTools.answers(self, model, form, texts, name, purpose=purpose, passages=passages)
        if any(came_in_batch(one) for one in found):
            raise NotMeasuredError(
                "the language model has answered in batches, whose time is not that of a query"
            )
        self.waited.append(sum(one.seconds for one in found) - (perf_counter() - begun))
        return found


def latency_rows(
    searched: Sequence[Searched], queries: Sequence[Query], config: LatencyConfig, context: Context
) -> list[LatencyRow]:
    """What every step of every setting takes for one query; nothing where it is not asked for.

    What was measured before, on this machine, is not measured again.
    """
    if not config.queries or not queries:
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
        setting.model_dump(mode="json", include={"filter", "retrieve", "rerank"}),
        [context.reranker(reranker).fingerprint for reranker in setting.rerank],
        [query.text for query in sample],
        config.model_dump(mode="json"),
    )


def _rows(
    one: Searched, sample: Sequence[Query], config: LatencyConfig, context: Context
) -> Iterator[LatencyRow]:
    fresh: dict[str, Any] = {"timings": {}, "counts": {}, "spent": {}, "rewritten": {}, "answer_costs": []}
    quiet = replace(context, reporter=Silent(), may_ask=False, **fresh)
    run = _Run(one, sample, config.seconds, _Tools(quiet))
    before, asked = run.rewritten(one.setting.rewrite, [(query,) for query in sample])
    name = one.setting.name
    if one.setting.rewrite is not None:
        yield _row(name, REWRITE, before, before)
    for stage, taken in run.retrieved(one.setting.finder, RETRIEVE, asked).items():
        yield _row(name, stage, taken, before + taken)
        if stage == RETRIEVE:
            before = before + taken
    for place, stage in enumerate(reranker_names(one.setting)):
        taken = run.reranked(place)
        before = before + taken
        yield _row(name, stage, taken, before)


@dataclass(frozen=True, slots=True)
class _Run:
    """One setting that is measured on ``sample``, no step longer than ``most`` seconds."""

    one: Searched
    sample: Sequence[Query]
    most: float
    tools: _Tools

    def rewritten(self, rewrite: RewriterConfig | None, asked: Asked) -> tuple[Taken, Asked]:
        """What rewriting takes, and what it makes of all that is asked."""
        if rewrite is None:
            return Taken((0.0,) * len(asked)), asked
        rewriter = REWRITERS.make(rewrite)
        if not rewriter.repeatable:
            return Taken(why=f"{rewrite.kind} may cost something"), asked

        def again(texts: tuple[Query, ...]) -> tuple[Query, ...]:
            return tuple(query for group in rewriter.phrasings(texts, self.tools) for query in group)

        taken = self._timed(lambda place: again(asked[place]))
        return taken, asked if taken.why else [again(texts) for texts in asked]

    def retrieved(self, retriever: RetrieverConfig, name: str, asked: Asked) -> dict[str, Taken]:
        """What a retriever and its routes take, by stage, the routes first, with rewriting of their own."""
        if retriever.filter is not None:
            why = Taken(why="a search among the documents of a filter is not measured")
            own = [stage for stage in self.one.rankings if stage.startswith(f"{name}.")]
            return dict.fromkeys([*own, name], why)
        rewriting, asked = self.rewritten(retriever.rewrite, asked)
        if not retriever.parts:
            return {name: rewriting + self._searched(retriever, asked)}
        found: dict[str, Taken] = {}
        total = rewriting
        names = [f"{name}.{route}" for route in route_names(retriever.parts)]
        for part, route in zip(retriever.parts, names, strict=True):
            below = self.retrieved(part, route, asked)
            total = total + below[route]
            # a route is reached after what its fusion has rewritten
            found |= {stage: rewriting + taken for stage, taken in below.items()}
        return found | {name: total + self._fused(retriever, names)}

    def _searched(self, retriever: RetrieverConfig, asked: Asked) -> Taken:
        passages = self.one.chunking.passages
        if not passages.ids:
            return Taken(why="there are no chunks")
        try:
            with RETRIEVERS.make(retriever).warm(passages, self.tools) as search:
                return self._timed(lambda place: [search(query) for query in asked[place]])
        except NotMeasuredError as error:
            return Taken(why=str(error))

    def _fused(self, retriever: RetrieverConfig, routes: Sequence[str]) -> Taken:
        """What it takes to fuse what the routes have found."""
        fusion: Any = RETRIEVERS.make(retriever)
        if not isinstance(fusion, Fusion):
            return Taken(why=f"{retriever.kind} cannot be searched one query at a time")
        weights = fusion.config.weights or (1.0,) * len(routes)
        length = _lengths(self.one.chunking.passages)
        found = [self._rankings(route) for route in routes]

        def fuse(place: int) -> Ranking:
            scores = fusion.combine([rankings[place] for rankings in found], weights)
            return ranked_by(scores, self.sample[place].query_id, retriever, length)

        return self._timed(fuse)

    def reranked(self, place: int) -> Taken:
        """What it takes to score the pairs of one query and to sort them."""
        config = self.one.setting.rerank[place]
        scorer = self.tools.context.reranker(config)
        if not isinstance(scorer, LocalModelScorer):
            return Taken(why=f"{config.kind} is no model on this machine")
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

    def _rankings(self, stage: str) -> list[Ranking]:
        """The rankings of a stage in the order of the sample."""
        by_id = {ranking.query_id: ranking for ranking in self.one.rankings[stage]}
        return [by_id[query.query_id] for query in self.sample]

    def _timed(self, ask: Callable[[int], object]) -> Taken:
        """The seconds of each query, by its place in the sample; fewer where they would be too many."""
        try:
            for place in range(min(_WARM_UP, len(self.sample))):
                ask(place)
            seconds: list[float] = []
            first = perf_counter()
            while len(seconds) < len(self.sample) and perf_counter() - first < self.most:
                self.tools.waited.clear()
                begun = perf_counter()
                ask(len(seconds))
                seconds.append(perf_counter() - begun + sum(self.tools.waited))
        except NotAskedError:
            return Taken(why="the ledger does not have the answers of the language model")
        except NotMeasuredError as error:
            return Taken(why=str(error))
        return Taken(tuple(seconds))


def _lengths(passages: Passages) -> Mapping[str, int]:
    return dict(zip(passages.ids, passages.lengths, strict=True))


def _row(setting: str, stage: str, own: Taken, total: Taken) -> LatencyRow:
    return LatencyRow(
        setting,
        stage,
        len(own.seconds),
        *_percentiles(own),
        *_percentiles(total),
        remark=own.why or total.why,
    )


def _percentiles(taken: Taken) -> tuple[float | None, float | None, float | None]:
    if not taken.seconds:
        return None, None, None
    low, high, highest = (round(1000 * float(q), 3) for q in np.percentile(taken.seconds, [50, 95, 99]))
    return low, high, highest
