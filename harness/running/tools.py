"""The search of a run: rewriters, filters, retrievers and fusions over queries, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, Self, TypeVar

from harness import steps
from harness.models import EncoderConfig, ModelConfig
from harness.running.config.models import Setting
from harness.running.context import Context, NotStoredError
from harness.running.resources import Resources
from harness.store import key_of
from harness.values import HarnessError, Query, Ranking, by_key, counted, kind_of

REWRITE = "rewrite"
RETRIEVE = "retrieve"


@dataclass(frozen=True, slots=True)
class RunTools(Resources):
    """``harness.steps.search.tools.Tools`` over the context of a run.

    ``questions`` are the queries by id as users asked them, for filters read those; without them, they read
    queries as they come to the retriever. ``uses_cache``: rankings are kept, and those kept are used.
    """

    uses_cache: ClassVar[bool] = True
    questions: Mapping[str, Query] = field(default_factory=dict)

    @classmethod
    def of(cls, queries: Sequence[Query], context: Context) -> Self:
        """The tools for a search of these queries, as users asked them."""
        return cls(context, {query.query_id: query for query in queries})

    def identity(self, retriever: steps.RetrieverConfig) -> steps.Identity:
        """All that decides the rankings of a retriever besides passages and queries."""
        own = steps.RETRIEVERS.make(retriever).identity(self)
        if retriever.filter is not None:
            own = [own, steps.FILTERS.make(retriever.filter).identity()]
        rewrite = retriever.rewrite
        return own if rewrite is None else [own, steps.REWRITERS.make(rewrite).identity()]

    def stage(self, name: str) -> AbstractContextManager[None]:
        """What follows is the work of this stage, or of this route of the stage around it."""
        return nullcontext()

    def retrieve(
        self, setting: Setting, passages: steps.Passages, queries: Sequence[Query]
    ) -> steps.RetrievalResult:
        """The rankings of a setting before any reranker."""
        with self.stage(REWRITE):
            put = self.put(setting.rewrite, queries)
        with self.stage(RETRIEVE):
            found = self.search("", setting.finder, passages, put.queries)
            return self.fused(setting.rewrite, put, found, setting.finder, passages, queries)

    def put(self, rewrite: steps.RewriterConfig | None, queries: Sequence[Query]) -> steps.Phrasings:
        """The queries as a rewriter puts them; as they are without one."""
        if rewrite is None:
            return steps.Phrasings([[query] for query in queries])
        return self.phrasings(rewrite, queries)

    def rewritten(self, rewrite: steps.RewriterConfig | None, queries: Sequence[Query]) -> Sequence[Query]:
        """The texts that a rewriter makes of the queries, one after the other; the queries without one."""
        return self.put(rewrite, queries).queries

    def phrasings(self, rewrite: steps.RewriterConfig, queries: Sequence[Query]) -> steps.Phrasings:
        """The texts that a rewriter makes of the queries, and how many for each; made once a run."""
        done = self.context.prepared.rewritten
        # its fields, since a query of another split is a different one
        key = key_of(rewrite.model_dump(mode="json"), [astuple(query) for query in queries])
        if key not in done:
            before = len(self.context.bills.answer_costs)
            rewriter = steps.REWRITERS.make(rewrite)
            if rewriter.own_code and not (self.context.may_compute or self.context.may_ask):
                raise NotStoredError("rewritings")
            groups = rewriter.phrasings(queries, self)
            costs = self.context.bills.answer_costs[before:]
            known = [cost for cost in costs if cost is not None]
            done[key] = steps.Phrasings(groups, sum(known) if len(known) == len(costs) else None)
        return done[key]

    def fused(
        self,
        rewrite: steps.RewriterConfig | None,
        put: steps.Phrasings,
        found: steps.RetrievalResult,
        retriever: steps.RetrieverConfig,
        passages: steps.Passages,
        queries: Sequence[Query],
    ) -> steps.RetrievalResult:
        """One ranking per query, of what the retriever has found for all that a rewriter made of it."""
        if rewrite is None:
            return found
        found = replace(found, rewritings=(put, *found.rewritings))
        sizes, fuse = [len(group) for group in put.groups], steps.REWRITERS.make(rewrite).fuse
        if all(size == 1 for size in sizes):
            return found
        return steps.fuse_phrasings(found, retriever, passages, queries, sizes, fuse)

    def filtered(
        self, config: steps.FilterConfig, documents: Sequence[str], queries: Sequence[Query]
    ) -> tuple[steps.FilterResult, ...]:
        """The results of a filter for each query among the documents, made once a run."""
        asked = [self.questions.get(query.query_id, query) for query in queries]
        done = self.context.prepared.filtered
        documents = list(dict.fromkeys(documents))
        key = key_of(config.model_dump(mode="json"), [[one.query_id, one.text] for one in asked], documents)
        if key not in done:
            done[key] = tuple(steps.FILTERS.make(config).run(asked, documents, self))
        return done[key]

    def run_filters(
        self, retriever: steps.RetrieverConfig, documents: Sequence[str], queries: Sequence[Query]
    ) -> dict[str, steps.PendingCalls]:
        """Run the filters of a retriever and its routes; raises what they raise.

        What a language model would have to be asked, and may not be, is returned by its key.
        """
        filters = (one.filter for one in retriever.every() if one.filter is not None)
        return pending_calls(partial(self.filtered, config, documents, queries) for config in filters)

    def run_rewriters(
        self, rewrite: steps.RewriterConfig | None, retriever: steps.RetrieverConfig, queries: Sequence[Query]
    ) -> dict[str, steps.PendingCalls]:
        """What language models would have to be asked to rewrite queries for a retriever and its routes.

        By its key. Where one rewriting is of another that is missing, it is estimated by the queries as they
        are.
        """
        missing: dict[str, steps.PendingCalls] = {}
        rewriters = (rewrite, *(one.rewrite for one in retriever.every()))
        # a plan runs no rewriter that it does not need, such as the user's code
        if not any(isinstance(one, ModelConfig) for one in rewriters):
            return missing

        def visit(
            rewrite: steps.RewriterConfig | None,
            parts: Sequence[steps.RetrieverConfig],
            queries: Sequence[Query],
            before: str,
        ) -> None:
            # on texts that are not known yet, the user's code is not run
            if not before or isinstance(rewrite, ModelConfig):
                try:
                    queries = self.rewritten(rewrite, queries)
                except steps.PendingCallsError as error:
                    for one in error.missing:
                        before += one.key
                        missing[before] = one
            for part in parts:
                visit(part.rewrite, part.parts, queries, before)

        visit(rewrite, [retriever], queries, "")
        return missing

    def visits(
        self, name: str, retriever: steps.RetrieverConfig, queries: Sequence[Query]
    ) -> Iterator[tuple[str, steps.RetrieverConfig, Sequence[Query]]]:
        """A retriever and its routes with their full names, and the queries as they come to each."""
        asked = self.rewritten(retriever.rewrite, queries)
        yield name, retriever, asked
        for route, part in retriever.named_parts:
            yield from self.visits(f"{name}.{route}", part, asked)

    def wants(
        self, retriever: steps.RetrieverConfig, passages: steps.Passages, queries: Sequence[Query]
    ) -> Iterator[tuple[EncoderConfig, list[str]]]:
        """The texts that searching by a retriever and its routes embeds."""
        for _, one, asked in self.visits(RETRIEVE, retriever, queries):
            yield from steps.RETRIEVERS.make(one).wants(passages, asked)

    def search(
        self, name: str, retriever: steps.RetrieverConfig, passages: steps.Passages, queries: Sequence[Query]
    ) -> steps.RetrievalResult:
        """The rankings of a retriever; those of a fusion are made of its routes', which are cached."""
        begun, before = perf_counter(), self.context.counts.get("vectors_computed", 0)
        with self.stage(name):
            put = self.put(retriever.rewrite, queries)
            asked = put.queries
            if retriever.filter is None:
                found = self._cached(
                    retriever, passages, asked, lambda: self.found(retriever, passages, asked)
                )
            else:
                found = self._filtered(retriever, retriever.filter, passages, asked)
            computed = self.context.counts.get("vectors_computed", 0) - before
            effort = steps.Effort(perf_counter() - begun, computed, computed)
            found = replace(found, name=name, asked=asked, effort=effort)
            return self.fused(retriever.rewrite, put, found, retriever, passages, queries)

    def found(
        self, retriever: steps.RetrieverConfig, passages: steps.Passages, queries: Sequence[Query]
    ) -> steps.RetrievalResult:
        """What a retriever finds for queries as they are, in no other documents.

        Raises HarnessError where it has not one ranking for each query: one without would score 0.
        """
        if not retriever.parts and not (queries and passages.ids):
            return steps.RetrievalResult([Ranking(query.query_id, (), ()) for query in queries])
        found = steps.RETRIEVERS.make(retriever).run(passages, queries, self)
        if [one.query_id for one in found.rankings] != [query.query_id for query in queries]:
            raise HarnessError(
                f"retrieve: kind {kind_of(retriever)} did not return one ranking for each of the "
                f"{counted(len(queries), 'query', 'queries')}, in their order. Mend the retriever."
            )
        return found

    def only(self, passages: steps.Passages, documents: frozenset[str] | None) -> steps.Passages:
        """The passages of some documents; all for None."""
        if documents is None:
            return passages
        kept = [i for i, document in enumerate(passages.documents) if document in documents]
        return passages.part(kept, key_of(passages.key, "documents", sorted(documents)))

    def _filtered(
        self,
        retriever: steps.RetrieverConfig,
        config: steps.FilterConfig,
        passages: steps.Passages,
        asked: Sequence[Query],
    ) -> steps.RetrievalResult:
        """The rankings of a retriever that has a filter; ``asked`` are the queries as it puts them.

        Restricted, a query is searched among the chunks of its documents as if there were no others, to the
        full depth. So what a retriever counts over all chunks, such as how rare a word is, it counts over
        those.
        """
        filtered = self.filtered(config, passages.documents, asked)
        bare = retriever.model_copy(update={"filter": None, "rewrite": None})
        if (weight := config.boost) is None:
            groups = by_key((one.documents, query) for query, one in zip(asked, filtered, strict=True))
            outputs = [
                self.search("", bare, self.only(passages, among), own) for among, own in groups.items()
            ]
            return replace(merged(outputs, asked), filtered=filtered)

        def raised() -> steps.RetrievalResult:
            """All chunks that the retriever can score, those of the documents named raised.

            A fusion scores what its routes have found.
            """
            deep = bare.model_copy(update={"top_k": max(1, len(passages.ids)), "top_chars": None})
            # such that the ranks of all passages fit in memory
            size, outputs = max(1, _CELLS // max(1, len(passages.ids))), []
            for begin in range(0, len(asked), size):
                found = self.found(deep, passages, asked[begin : begin + size])
                rankings = [
                    boosted(one, named.documents, weight, bare, passages)
                    for named, one in zip(filtered[begin : begin + size], found.rankings, strict=True)
                ]
                outputs.append(replace(found, rankings=rankings))
            return merged(outputs, asked)

        named = [None if one.documents is None else sorted(one.documents) for one in filtered]
        return replace(
            self._cached(bare, passages, asked, raised, ["boost", weight, named]), filtered=filtered
        )

    def _cached(
        self,
        retriever: steps.RetrieverConfig,
        passages: steps.Passages,
        asked: Sequence[Query],
        find: Callable[[], steps.RetrievalResult],
        more: Sequence[Any] = (),
    ) -> steps.RetrievalResult:
        """The stored result of a retriever, else that of ``find``; ``more`` also decides its rankings.

        The rankings of a fusion are made again of its routes', and not kept.
        """
        if retriever.parts or not self.uses_cache:
            return find()
        put = [[query.query_id, query.text] for query in asked]
        identity = steps.RETRIEVERS.make(retriever).identity(self)
        key = key_of(passages.key, put, retriever.kind, identity, *more)
        stored = self.kept("ranking", key)
        if stored is not None:
            rankings = [
                Ranking(query_id, tuple(ids), tuple(scores)) for query_id, ids, scores in stored["rankings"]
            ]
            return steps.RetrievalResult(rankings, stored["exact_share"])
        if not self.context.may_compute:
            raise NotStoredError("rankings")
        found = find()
        rows = [[r.query_id, r.chunk_ids, r.scores] for r in found.rankings]
        self.keep("ranking", key, {"rankings": rows, "exact_share": found.exact_share})
        return found


Own = TypeVar("Own", Query, steps.FilterResult, Ranking)

# ranks held in memory when all chunks are ranked
_CELLS = 4_000_000


def pending_calls(attempts: Iterable[Callable[[], object]]) -> dict[str, steps.PendingCalls]:
    """The first calls that models would get, by their keys, in a context that may not ask."""
    missing: dict[str, steps.PendingCalls] = {}
    for attempt in attempts:
        try:
            attempt()
        except steps.PendingCallsError as error:
            missing |= {one.key: one for one in error.missing}
    return missing


def merged(outputs: Sequence[steps.RetrievalResult], queries: Sequence[Query]) -> steps.RetrievalResult:
    """The results for parts of the queries, in the order of all."""
    if not outputs:
        return steps.RetrievalResult([])
    place = {query.query_id: at for at, query in reversed(list(enumerate(queries)))}

    def in_place(parts: Iterable[Sequence[Own]]) -> list[Own]:
        return sorted((one for part in parts for one in part), key=lambda one: place[one.query_id])

    known = [(one.exact_share, len(one.rankings)) for one in outputs if one.exact_share is not None]
    total = sum(weight for _, weight in known)
    return replace(
        outputs[0],
        rankings=in_place(one.rankings for one in outputs),
        asked=tuple(in_place(one.asked for one in outputs)),
        effort=sum((one.effort for one in outputs), steps.Effort()),
        exact_share=sum(share * weight for share, weight in known) / total if total else None,
        routes=tuple(merged(own, queries) for own in zip(*(one.routes for one in outputs), strict=True)),
        filtered=tuple(in_place(one.filtered for one in outputs)),
        rewritings=tuple(made for one in outputs for made in one.rewritings),
    )


def boosted(
    ranking: Ranking,
    documents: frozenset[str] | None,
    weight: float,
    config: steps.RetrieverConfig,
    passages: steps.Passages,
) -> Ranking:
    """A ranking of all chunks with ``weight`` added to the scores of those of ``documents``; None: to none.

    Cut as ``config`` asks for.
    """
    if documents is not None:
        scores = [
            score + weight * (passages.document_of[chunk_id] in documents)
            for chunk_id, score in zip(ranking.chunk_ids, ranking.scores, strict=True)
        ]
        ranking = Ranking.by_score(ranking.query_id, ranking.chunk_ids, scores)
    return steps.cut(ranking, config, passages.length_of)
