"""The seed ratio of a search: grades that its reranker predicts for what was retrieved, over the judge's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.measures import seed_ratio
from harness.report import RankedRow, SeedRatioRow
from harness.running.pipeline import RETRIEVE
from harness.running.search import Searched
from harness.values import NOT_SCORED, Query, Ranking, by_key


def reranker_of(searched: Searched) -> str | None:
    """The name of the step whose order predicts the grades: the last reranker; None without one."""
    last = searched.steps[-1]
    return None if last == RETRIEVE else last


def seed_ratio_rows(
    searched: Searched, retrieved: Sequence[RankedRow], queries: Sequence[Query], depth: int
) -> list[SeedRatioRow]:
    """One row per query, empty with the reason where the ratio is undefined.

    ``retrieved`` are the ranked chunks of the search before any reranker; the first ``depth`` of each query
    are graded. They are the stage ``reranker_of`` if there is one, and else of retrieval.
    """
    hits = by_key((row.query_id, row) for row in retrieved if row.rank <= depth)
    step = reranker_of(searched)
    orders = {ranking.query_id: ranking for ranking in searched.rankings[step]} if step else {}

    def rows() -> Iterator[SeedRatioRow]:
        for query in queries:
            value, reason = _ratio(hits.get(query.query_id, ()), orders.get(query.query_id))
            yield SeedRatioRow(
                setting=searched.setting.name,
                stage=step or RETRIEVE,
                query_id=query.query_id,
                split=query.split,
                depth=depth,
                seed_ratio=value,
                reason=reason,
            )

    return list(rows())


def _ratio(hits: Sequence[RankedRow], order: Ranking | None) -> tuple[float | None, str]:
    """The ratio of the chunks retrieved first, in that order, or why there is none."""
    if not hits:
        return None, "no ranking"
    if order is None:
        return None, "no reranker predicts grades"
    grades = [hit.grade for hit in hits if hit.grade is not None]
    if len(grades) < len(hits):
        return None, f"{len(hits) - len(grades)} of {len(hits)} chunks are not judged"
    place = {chunk: at for at, chunk in enumerate(order.chunk_ids)}
    places = np.array([place[hit.chunk_id] for hit in hits])
    unscored = sum(order.scores[at] == NOT_SCORED for at in places.tolist())
    if unscored:
        return None, f"the reranker scored only {len(hits) - unscored} of {len(hits)} chunks"
    # n - 1 for the chunk that the reranker puts first, 0 for the last
    predicted = len(hits) - 1 - np.argsort(np.argsort(places))
    return seed_ratio(predicted, np.array(grades)), ""
