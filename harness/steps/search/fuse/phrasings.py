"""Several phrasings of one query, each searched by itself → one ranking per query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.steps.search.fuse.routes import ranked_by
from harness.steps.search.step import FilterResult, Passages, RetrievalResult, RetrieverConfig
from harness.values import Query, Ranking

Fuse = Callable[[Sequence[Ranking]], Mapping[str, float]]


def fuse_phrasings(
    output: RetrievalResult,
    retriever: RetrieverConfig,
    passages: Passages,
    queries: Sequence[Query],
    sizes: Sequence[int],
    fuse: Fuse,
) -> RetrievalResult:
    """The output of a retriever that was asked ``sizes[i]`` texts for query i, as one ranking per query.

    The routes of a fusion are treated alike, so that each can be scored. A query that asks nothing has an
    empty ranking. Where no query asks more than one text, nothing is fused and the scores stay. Rankings are
    as deep as the retriever, or the route, asks for.
    """
    length = passages.length_of

    def of(one: RetrievalResult, config: RetrieverConfig) -> RetrievalResult:
        routes = tuple(of(route, part) for route, part in zip(one.routes, config.parts, strict=False))
        return replace(
            one,
            rankings=list(_fused(one.rankings, config, queries, sizes, fuse, length)),
            routes=routes,
            filtered=tuple(_one_each(one.filtered, queries)),
        )

    return of(output, retriever)


def _one_each(filtered: Sequence[FilterResult], queries: Sequence[Query]) -> Iterator[FilterResult]:
    """One filter result a query: filters read the question, so all phrasings of one are filtered alike."""
    by_query = {one.query_id: one for one in filtered}
    return (by_query[query.query_id] for query in queries if query.query_id in by_query)


def _fused(
    rankings: Sequence[Ranking],
    config: RetrieverConfig,
    queries: Sequence[Query],
    sizes: Sequence[int],
    fuse: Fuse,
    length: Mapping[str, int],
) -> Iterator[Ranking]:
    several = max(sizes, default=0) > 1
    end = 0
    for query, size in zip(queries, sizes, strict=True):
        begin, end = end, end + size
        own = rankings[begin:end]
        if not own:
            yield Ranking(query.query_id, (), ())
        elif several:
            yield ranked_by(fuse(own), query.query_id, config, length)
        else:
            yield own[0]
