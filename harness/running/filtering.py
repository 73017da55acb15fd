"""The documents that a filter leaves: passages cut to them, scores raised, results put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from harness.steps import Effort, FilterResult, Passages, RetrievalResult, RetrieverConfig, cut
from harness.store import key_of
from harness.values import Query, Ranking

T = TypeVar("T")
Own = TypeVar("Own", Query, FilterResult)

# ranks held in memory when all chunks are ranked
_CELLS = 4_000_000


def groups_of(filtered: Sequence[FilterResult]) -> dict[frozenset[str] | None, list[int]]:
    """The places of the queries that are searched in the same documents, by these documents."""
    groups: dict[frozenset[str] | None, list[int]] = {}
    for at, one in enumerate(filtered):
        groups.setdefault(one.documents, []).append(at)
    return groups


def only(passages: Passages, documents: frozenset[str] | None) -> Passages:
    """The passages of some documents; all for None."""
    if documents is None:
        return passages
    kept = [i for i, document in enumerate(passages.documents) if document in documents]
    return Passages(
        tuple(passages.ids[i] for i in kept),
        tuple(passages.texts[i] for i in kept),
        tuple(passages.lengths[i] for i in kept),
        key_of(passages.key, "documents", sorted(documents)),
    )


def merged(outputs: Sequence[RetrievalResult], rows: Sequence[Sequence[int]]) -> RetrievalResult:
    """The results for parts of the queries, put together; ``rows`` are the places of each part's."""
    if not outputs:
        return RetrievalResult([])
    shares = [(one.exact_share, len(at)) for one, at in zip(outputs, rows, strict=True)]
    known = [(share, weight) for share, weight in shares if share is not None]
    total = sum(weight for _, weight in known)
    return replace(
        outputs[0],
        rankings=_in_place([one.rankings for one in outputs], rows),
        asked=_by_query([one.asked for one in outputs], outputs, rows),
        effort=sum((one.effort for one in outputs), Effort()),
        exact_share=sum(share * weight for share, weight in known) / total if total else None,
        routes=tuple(merged(routes, rows) for routes in zip(*(one.routes for one in outputs), strict=True)),
        filtered=_by_query([one.filtered for one in outputs], outputs, rows),
        rewritings=tuple(made for one in outputs for made in one.rewritings),
    )


def _in_place(parts: Sequence[Sequence[T]], rows: Sequence[Sequence[int]]) -> list[T]:
    placed = {
        at: one for part, own in zip(parts, rows, strict=True) for at, one in zip(own, part, strict=True)
    }
    return [placed[at] for at in range(len(placed))]


def _by_query(
    parts: Sequence[Sequence[Own]], outputs: Sequence[RetrievalResult], rows: Sequence[Sequence[int]]
) -> tuple[Own, ...]:
    """The values of all parts, any number for each query, in the order of the queries."""
    placed: list[tuple[int, Own]] = []
    for part, found, at in zip(parts, outputs, rows, strict=True):
        first: dict[str, int] = {}
        for ranking, place in zip(found.rankings, at, strict=True):
            first.setdefault(ranking.query_id, place)
        placed += [(first[one.query_id], one) for one in part]
    return tuple(one for _, one in sorted(placed, key=lambda pair: pair[0]))


def in_batches(queries: int, passages: Passages) -> list[range]:
    """The indexes of the queries in parts, such that the ranks of all passages fit in memory."""
    step = max(1, _CELLS // max(1, len(passages.ids)))
    return [range(begin, min(begin + step, queries)) for begin in range(0, queries, step)]


def to_full_depth(retriever: RetrieverConfig, passages: Passages) -> RetrieverConfig:
    """The same retriever, to rank all chunks that it can score."""
    return retriever.model_copy(update={"top_k": max(1, len(passages.ids)), "top_chars": None})


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
