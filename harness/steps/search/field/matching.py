"""Search among names: those of a query find names of the index, and these the passages that have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from harness.steps.search.depth import cut
from harness.steps.search.field import KINDS, Field, FieldConfig, NamesOfQueries
from harness.steps.search.needs import Fingerprints
from harness.steps.search.passages import Passages
from harness.steps.search.step import Phrasings, RetrievalResult, RetrieverConfig
from harness.values import Part, Query, Ranking, Run, by_key, key_of, under_way

# names of the index that a name of a query finds at most
_NAMES = 100


@dataclass(frozen=True, slots=True)
class NameIndex:
    """The distinct names of all passages, as passages of their own, and the rows that have each by its id."""

    names: Passages
    holders: dict[str, list[int]]


def index_of(config: FieldConfig, passages: Passages) -> Run[NameIndex]:
    """The names in the passages, found once a run."""
    field, fingerprint = KINDS.make(config), (yield Fingerprints())
    facts = ["names", passages.key, field.identity(fingerprint)]
    index: NameIndex = yield Part(
        _indexed(field, passages, key_of(*facts)),
        what="names",
        guess=lambda: NameIndex(Passages((), (), (), "unknown"), {}),
        same=facts,
        config=config,
    )
    return index


def _indexed(field: Field[Any], passages: Passages, key: str) -> Run[NameIndex]:
    of_passages = yield from under_way(field.of_passages(passages.texts))
    rows = by_key((name, row) for row, names in enumerate(of_passages) for name in names)
    ids = tuple(f"names:{place}" for place in range(len(rows)))
    texts = Passages(ids, tuple(rows), tuple(max(1, len(name)) for name in rows), key)
    return NameIndex(texts, dict(zip(ids, rows.values(), strict=True)))


def names_of(config: FieldConfig, index: NameIndex, queries: Sequence[Query]) -> Run[NamesOfQueries]:
    """The names in the queries, found once a run; what the passages name is looked for too."""
    texts = [query.text for query in queries]
    names: NamesOfQueries = yield Part(
        under_way(KINDS.make(config).of_queries(texts, index.names.texts)),
        what="names",
        guess=lambda: NamesOfQueries([()] * len(texts)),
        same=["names of queries", index.names.key, texts],
        config=config,
    )
    return names


def asked_by_names(config: FieldConfig, passages: Passages, queries: Sequence[Query]) -> Run[Phrasings]:
    """The names of each query as one text, nothing where it names nothing, and what finding them has cost."""
    index = yield from index_of(config, passages)
    of_queries = yield from names_of(config, index, queries)
    groups = [
        (replace(query, text="; ".join(names)),) if names else ()
        for query, names in zip(queries, of_queries.names, strict=True)
    ]
    return Phrasings(groups, of_queries.cost)


Search = Callable[[str, RetrieverConfig, Passages, Sequence[Query]], Run[RetrievalResult]]
"""Searches by a retriever, under a name."""


def search_names(
    retriever: RetrieverConfig, passages: Passages, queries: Sequence[Query], search: Search
) -> Run[RetrievalResult]:
    """The rankings of a retriever that has a field.

    A passage scores, for every name of the query, as the best of its names that this name finds, and the mean
    over the names of the query is its score; for a name that finds none of its own it gets 0, or the lowest
    score there is where that is less. A query that names nothing finds nothing.
    """
    config = cast("FieldConfig", retriever.field)
    index = yield from index_of(config, passages)
    names = (yield from names_of(config, index, queries)).names
    searched = _queries(names)
    # what is around the chunks is among their names already
    left_out = dict.fromkeys(("field", "context", "rewrite", "filter", "top_chars"))
    bare = retriever.model_copy(update={**left_out, "top_k": _NAMES})
    retrieved = yield Part(search("", bare, index.names, searched))
    scores_of = {
        query.text: _of_passages(ranking, index)
        for query, ranking in zip(searched, retrieved.rankings, strict=True)
    }
    rankings = [
        _merged(query.query_id, [scores_of[name] for name in names_of_query], retriever, passages)
        for query, names_of_query in zip(queries, names, strict=True)
    ]
    return RetrievalResult(rankings, retrieved.exact_share, indexes=retrieved.indexes)


def _queries(names: Iterable[Iterable[str]]) -> list[Query]:
    """The distinct names of all queries, as queries."""
    distinct = dict.fromkeys(name for of_query in names for name in of_query)
    return [Query(f"name{place}", name, "train") for place, name in enumerate(distinct)]


def _of_passages(ranking: Ranking, index: NameIndex) -> dict[int, float]:
    """The best score of each passage, by its row, for one name."""
    best: dict[int, float] = {}
    for name, score in zip(ranking.chunk_ids, ranking.scores, strict=True):
        for row in index.holders[name]:
            best.setdefault(row, score)
    return best


def _merged(
    query_id: str, results: Sequence[dict[int, float]], retriever: RetrieverConfig, passages: Passages
) -> Ranking:
    rows = sorted({row for scores in results for row in scores})
    absent = [min([0.0, *scores.values()]) for scores in results]
    means = [
        sum(scores.get(row, least) for scores, least in zip(results, absent, strict=True)) / len(results)
        for row in rows
    ]
    ranking = Ranking.by_score(query_id, [passages.ids[row] for row in rows], means)
    return cut(ranking, retriever, passages.length_of)
