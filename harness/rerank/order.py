"""From pair scores to a new ranking."""

from __future__ import annotations

from collections.abc import Sequence

from harness.types import Ranking


def rerank(ranking: Ranking, scores: Sequence[float]) -> Ranking:
    """The first ``len(scores)`` chunks of ``ranking`` in the order of ``scores``, highest first.

    What was not scored is dropped: a score of the retriever cannot be compared with one of the reranker.
    Equal scores keep the retriever's order.
    """
    return Ranking.by_score(ranking.query_id, ranking.chunk_ids[: len(scores)], scores)
