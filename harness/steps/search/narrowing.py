"""A search narrowed by a filter: among some documents alone, or with their chunks raised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from harness.steps.search.depth import cut
from harness.steps.search.passages import Passages
from harness.steps.search.step import FilterResult, RetrievalResult, RetrieverConfig
from harness.values import Query, Ranking, key_of

Own = TypeVar("Own", Query, FilterResult, Ranking)


def only(passages: Passages, documents: frozenset[str] | None) -> Passages:
    """The passages of some documents, and those that are in none; all for None."""
    if documents is None:
        return passages
    kept = [i for i, document in enumerate(passages.documents) if not document or document in documents]
    names = sorted(documents)
    return passages.part(kept, lambda key: key_of(key, "documents", names))


def merged(outputs: Sequence[RetrievalResult], queries: Sequence[Query]) -> RetrievalResult:
    """The results for parts of the queries, in the order of all."""
    if not outputs:
        return RetrievalResult([])
    place = {query.query_id: at for at, query in reversed(list(enumerate(queries)))}

    def in_place(parts: Iterable[Sequence[Own]]) -> list[Own]:
        return sorted((item for part in parts for item in part), key=lambda one: place[one.query_id])

    shares = [
        (output.exact_share, len(output.rankings)) for output in outputs if output.exact_share is not None
    ]
    total = sum(weight for _, weight in shares)
    return replace(
        outputs[0],
        rankings=in_place(output.rankings for output in outputs),
        asked=tuple(in_place(output.asked for output in outputs)),
        exact_share=sum(share * weight for share, weight in shares) / total if total else None,
        routes=tuple(
            merged(own, queries) for own in zip(*(output.routes for output in outputs), strict=True)
        ),
        filtered=tuple(in_place(output.filtered for output in outputs)),
        rewritings=tuple(rewriting for output in outputs for rewriting in output.rewritings),
        indexes=tuple(dict.fromkeys(index for output in outputs for index in output.indexes)),
    )


def boosted(
    ranking: Ranking,
    documents: frozenset[str] | None,
    weight: float,
    config: RetrieverConfig,
    passages: Passages,
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
    return cut(ranking, config, passages.length_of)
