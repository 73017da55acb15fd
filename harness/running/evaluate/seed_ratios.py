"""A widely copied figure that is not NDCG, for comparison with published ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.measures import seed_ratio
from harness.report import RankedRow, SeedRatioRow
from harness.values import Query


def seed_ratios(
    setting: str, stage: str, ranked: Sequence[RankedRow], queries: Sequence[Query], depth: int
) -> list[SeedRatioRow]:
    """One row per query: the seeds n - 1, …, 0 of its first n chunks (at most ``depth``) over their grades.

    Undefined, with the reason, where nothing is ranked, a chunk is unjudged or the judge found nothing.
    """
    grades: dict[str, list[int | None]] = {query.query_id: [] for query in queries}
    for row in ranked:
        if row.rank <= depth:
            grades[row.query_id].append(row.grade)
    rows = []
    for query in queries:
        value, reason = _ratio(grades[query.query_id])
        rows.append(SeedRatioRow(setting, stage, query.query_id, query.split, depth, value, reason))
    return rows


def _ratio(grades: Sequence[int | None]) -> tuple[float | None, str]:
    judged = [grade for grade in grades if grade is not None]
    if not grades:
        return None, "no ranking"
    if len(judged) < len(grades):
        return None, f"{len(grades) - len(judged)} of {len(grades)} chunks are not judged"
    if not any(judged):
        return None, "nothing relevant"
    return seed_ratio(np.arange(len(judged))[::-1], np.array(judged)), ""
