"""From pair scores to a new ranking."""

from __future__ import annotations

from collections.abc import Sequence

from harness.types import NOT_SCORED, Ranking


def rerank(ranking: Ranking, scores: Sequence[float]) -> Ranking:
    """The first ``len(scores)`` chunks of ``ranking`` in the order of ``scores``, highest first.

    The others follow in the retriever's order, as NOT_SCORED: a score of the retriever cannot be compared
    with one of the reranker. Equal scores keep the retriever's order.
    """
    head = Ranking.by_score(ranking.query_id, ranking.chunk_ids[: len(scores)], scores)
    tail = ranking.chunk_ids[len(scores) :]
    return Ranking(ranking.query_id, head.chunk_ids + tail, head.scores + (NOT_SCORED,) * len(tail))
