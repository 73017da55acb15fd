"""A retriever as a step: its rewriting, its filter, its routes, and its search, whose rankings are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from harness.models import ModelConfig
from harness.steps.search.depth import SearchDepth
from harness.steps.search.field.matching import asked_by_names, search_names
from harness.steps.search.filter import KINDS as FILTERS
from harness.steps.search.fuse import fuse_phrasings
from harness.steps.search.identity import bare_identity_of
from harness.steps.search.narrowing import boosted, merged, only
from harness.steps.search.needs import AllAtOnce, Built, Fingerprints, OwnCode, Route, Unwritten
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve import KINDS as RETRIEVERS
from harness.steps.search.rewrite import KINDS as REWRITERS
from harness.steps.search.step import (
    FilterConfig,
    FilterResult,
    IndexPrice,
    Phrasings,
    RetrievalResult,
    RetrieverConfig,
    RewriterConfig,
)
from harness.values import (
    HarnessError,
    Kept,
    Mention,
    Need,
    Part,
    Query,
    Ranking,
    Run,
    Together,
    ask,
    by_key,
    counted,
    kind_of,
    under_way,
)

REWRITE = "rewrite"
FILTER = "filter"
# ranks held in memory when all chunks are ranked
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Search:
    """Searches the passages of a setting.

    ``questions`` are the queries by id as users asked them, which filters read. ``decides``: a language
    model is asked about queries after it, so that its price depends on what rewriters before it make.
    """

    questions: Mapping[str, Query]
    decides: bool = False

    @classmethod
    def of(
        cls, queries: Sequence[Query], rewrite: RewriterConfig | None, retriever: RetrieverConfig
    ) -> Search:
        """The search for queries by a retriever, after a rewriter of the whole setting."""
        steps = (rewrite, *(step for part in retriever.every() for step in (part.rewrite, part)))
        asks = any(isinstance(step, ModelConfig) for step in steps)
        return cls({query.query_id: query for query in queries}, asks)

    def run(
        self, name: str, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]
    ) -> Run[RetrievalResult]:
        """The rankings of a retriever; those of a fusion are made of its routes'."""
        passages = passages.within(retriever.context)
        phrasings: Phrasings = yield from self.rewritten(retriever.rewrite, queries)
        questions = phrasings.queries
        if retriever.filter is None:
            result = yield from self._ranked(retriever, passages, questions)
        else:
            result = yield from self._filtered(retriever, passages, questions)
        result = replace(result, name=name, asked=questions)
        if retriever.field is not None:
            named = yield from asked_by_names(retriever.field, passages, questions)
            # the parts that a filter makes have their own
            filters = () if retriever.filter is not None and retriever.filter.boost is None else (named,)
            result = replace(result, asked=named.queries, rewritings=(*result.rewritings, *filters))
        return fused(retriever.rewrite, phrasings, result, retriever, passages, queries)

    def rewritten(self, rewrite: RewriterConfig | None, queries: Sequence[Query]) -> Run[Phrasings]:
        """The texts that a rewriter makes of the queries, and how many for each; the queries without one."""
        if rewrite is None:
            return Phrasings([[query] for query in queries])
        # its fields, since a query of another split is a different one
        same = [REWRITE, rewrite.model_dump(mode="json"), [astuple(query) for query in queries]]
        groups, cost = yield Part(
            _phrasings(rewrite, queries),
            what=REWRITE,
            guess=lambda: [_worded(query, rewrite.most, rewrite.longest) for query in queries],
            same=same,
            priced=True,
            config=rewrite,
            decides=self.decides,
        )
        return Phrasings(groups, cost)

    def _ranked(
        self,
        retriever: RetrieverConfig,
        passages: Passages,
        questions: Sequence[Query],
        run: Run[RetrievalResult] | None = None,
        more: Sequence[Any] = (),
    ) -> Run[RetrievalResult]:
        """The stored result of a retriever, else that of its search, or ``run``; ``more`` also decides it.

        The rankings of a fusion are made again of its routes', and not kept; nor those of a retriever that
        asks a language model, whose answers are kept with their price.
        """
        run = self._found(retriever, passages, questions) if run is None else run
        guess = partial(guessed, retriever, passages, questions)
        if retriever.parts or isinstance(retriever, ModelConfig):
            fused: RetrievalResult = yield Part(run, guess=guess)
            return fused
        fingerprint = yield Fingerprints()
        texts = [[query.query_id, query.text] for query in questions]
        facts = [passages.key, texts, retriever.kind, bare_identity_of(retriever, fingerprint), *more]
        kept = Kept("ranking", facts, run, packed, unpacked)
        retrieved: RetrievalResult = yield Part(ask(kept), guess=guess)
        return retrieved

    def _found(
        self, retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]
    ) -> Run[RetrievalResult]:
        """What a retriever finds for queries as they are, in no other documents.

        Raises HarnessError where it has not one ranking for each query: one without would score 0.
        """
        if passages.guessed:
            yield Part(ask(Unwritten()), guess=lambda: None)
        if not retriever.parts and not (queries and passages.ids):
            return RetrievalResult([Ranking(query.query_id, (), ()) for query in queries])
        if retriever.field is not None:
            yield AllAtOnce("what it names is found for all queries at once", runs=False)
            return (yield from search_names(retriever, passages, queries, self.run))
        searcher = RETRIEVERS.make(retriever)
        if searcher.own_code:
            yield OwnCode()
        if not retriever.parts and not searcher.one_by_one:
            # a plan goes on to what a language model would be asked
            runs = not isinstance(retriever, ModelConfig)
            yield AllAtOnce(f"{retriever.kind} cannot be searched one query at a time", runs)
        result = yield from self._with_routes(under_way(searcher.run(passages, queries)))
        if [ranking.query_id for ranking in result.rankings] != [query.query_id for query in queries]:
            raise HarnessError(
                f"retrieve: kind {kind_of(retriever)} did not return one ranking for each of the "
                f"{counted(len(queries), 'query', 'queries')}, in their order. Mend the retriever."
            )
        return result

    def _with_routes(self, run: Run[RetrievalResult]) -> Run[RetrievalResult]:
        """A search whose routes are searched like any retriever."""

        def expanded(need: Need) -> Need:
            if isinstance(need, Together):
                return Together([expanded(part) for part in need.needs])
            if isinstance(need, Route):
                search = self.run(need.name, need.retriever, need.passages, need.queries)
                return Part(search, need.name, config=need.retriever)
            return need

        value: Any = None
        try:
            while True:
                value = yield expanded(run.send(value))
        except StopIteration as end:
            result: RetrievalResult = end.value
            return result
        finally:
            run.close()

    def _filtered(
        self, retriever: RetrieverConfig, passages: Passages, questions: Sequence[Query]
    ) -> Run[RetrievalResult]:
        """The rankings of a retriever that has a filter; ``asked`` are the queries as it puts them.

        Restricted, a query is searched among the chunks of its documents as if there were no others, to the
        full depth. So what a retriever counts over all chunks, such as how rare a word is, it counts over
        those.
        """
        config = retriever.filter
        assert config is not None
        results = yield from self.filtered(config, passages.documents, questions)
        bare = retriever.model_copy(update={"filter": None, "rewrite": None})
        # so that what is embedded is the same, and in the same order, whatever a filter leaves
        yield Mention(self._found(bare, passages, questions))
        if config.boost is not None:
            named = [None if result.documents is None else sorted(result.documents) for result in results]
            run = self._raised(bare, passages, questions, results, config.boost)
            retrieved = yield from self._ranked(
                bare, passages, questions, run, ["boost", config.boost, named]
            )
            return replace(retrieved, filtered=tuple(results))
        groups = by_key(
            (question.documents, query) for query, question in zip(questions, results, strict=True)
        )
        searches = []
        for documents, queries in groups.items():
            part = yield Built(partial(only, passages, documents), (passages.key, documents))
            searches.append(Part(self.run("", bare, part, queries)))
        return replace(merged((yield Together(searches)), questions), filtered=tuple(results))

    def filtered(
        self, config: FilterConfig, documents: Sequence[str], queries: Sequence[Query]
    ) -> Run[Sequence[FilterResult]]:
        """What a filter makes of each query as the user asked it, among the documents."""
        questions = [self.questions.get(query.query_id, query) for query in queries]
        documents = list(dict.fromkeys(filter(None, documents)))
        pairs = [[question.query_id, question.text] for question in questions]
        results: Sequence[FilterResult] = yield Part(
            FILTERS.make(config).run(questions, documents),
            what=FILTER,
            guess=lambda: [
                FilterResult(question.query_id, config.mode, {}, (), None, 0) for question in questions
            ],
            same=[FILTER, config.model_dump(mode="json"), pairs, documents],
            config=config,
        )
        return results

    def _raised(
        self,
        bare: RetrieverConfig,
        passages: Passages,
        questions: Sequence[Query],
        results: Sequence[FilterResult],
        weight: float,
    ) -> Run[RetrievalResult]:
        """All chunks that the retriever can score, those of the documents named raised.

        A fusion scores what its routes have found.
        """
        deep = bare.model_copy(update={"top_k": max(1, len(passages.ids)), "top_chars": None})
        # such that the ranks of all passages fit in memory
        size, outputs = max(1, _CELLS // max(1, len(passages.ids))), []
        for begin in range(0, len(questions), size):
            retrieved = yield from self._found(deep, passages, questions[begin : begin + size])
            rankings = [
                boosted(ranking, named.documents, weight, bare, passages)
                for named, ranking in zip(results[begin : begin + size], retrieved.rankings, strict=True)
            ]
            outputs.append(replace(retrieved, rankings=rankings))
        return merged(outputs, questions)


def _phrasings(rewrite: RewriterConfig, queries: Sequence[Query]) -> Run[list[tuple[Query, ...]]]:
    rewriter = REWRITERS.make(rewrite)
    if rewriter.own_code:
        yield OwnCode()
    elif not rewriter.repeatable:
        yield AllAtOnce(f"{rewrite.kind} may cost money", runs=False)
    return (yield from under_way(rewriter.phrasings(queries)))


def _worded(query: Query, most: int, longest: int) -> tuple[Query, ...]:
    """A query in place of what may be asked for it: as often, as long, and each time in other words."""
    texts = (f"{query.text} {at}".ljust(longest, "-") for at in range(1, most + 1))
    return tuple(replace(query, text=text) for text in texts)


def guessed(retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query]) -> RetrievalResult:
    """Rankings in place of those not known yet: the longest chunks, as many as there may be."""
    depth = SearchDepth.of(retriever, passages.lengths).most if passages.ids else 0
    longest = np.argsort(-np.array(list(map(len, passages.texts)), dtype=np.int64), kind="stable")
    places = longest[:depth].tolist()
    ids, scores = tuple(passages.ids[place] for place in places), tuple(-float(rank) for rank in range(depth))
    return RetrievalResult([Ranking(query.query_id, ids, scores) for query in queries])


def packed(result: RetrievalResult) -> dict[str, Any]:
    """A result without routes as it is kept."""
    rows = [[ranking.query_id, ranking.chunk_ids, ranking.scores] for ranking in result.rankings]
    indexes = [astuple(index) for index in result.indexes]
    return {"rankings": rows, "exact_share": result.exact_share, "indexes": indexes}


def unpacked(stored: Mapping[str, Any]) -> RetrievalResult:
    """The result of what is kept."""
    rankings = [Ranking(query_id, tuple(ids), tuple(scores)) for query_id, ids, scores in stored["rankings"]]
    # earlier states kept none
    indexes = tuple(IndexPrice(*index) for index in stored.get("indexes", ()))
    return RetrievalResult(rankings, stored["exact_share"], indexes=indexes)


def fused(
    rewrite: RewriterConfig | None,
    phrasings: Phrasings,
    result: RetrievalResult,
    retriever: RetrieverConfig,
    passages: Passages,
    queries: Sequence[Query],
) -> RetrievalResult:
    """One ranking per query, of what the retriever has found for all that a rewriter made of it."""
    if rewrite is None:
        return result
    result = replace(result, rewritings=(phrasings, *result.rewritings))
    sizes, fuse = [len(group) for group in phrasings.groups], REWRITERS.make(rewrite).fuse
    if all(size == 1 for size in sizes):
        return result
    return fuse_phrasings(result, retriever, passages, queries, sizes, fuse)
