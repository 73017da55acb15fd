"""Why a query counts in no mean: it is unanswerable, was never graded, or nothing graded is relevant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.report import WHY
from harness.running.config.models import RelevanceConfig
from harness.values import Judgment, Query


def reasons(queries: Sequence[Query], judgments: Iterable[Judgment]) -> dict[str, str]:
    """The reason for every query, should it have no relevant text; ``queries`` as their file has them."""
    graded = {judgment.query_id for judgment in judgments if judgment.grade is not None}
    return {
        query.query_id: "unanswerable"
        if not query.answerable
        else "irrelevant"
        if query.query_id in graded
        else "ungraded"
        for query in queries
    }


def left_out(
    queries: Sequence[Query], judgments: Sequence[Judgment], relevance: RelevanceConfig
) -> Mapping[str, int]:
    """How many queries are left out of means for each reason, none where they count as zero."""
    best: Counter[str] = Counter()
    for judgment in judgments:
        best[judgment.query_id] = max(best[judgment.query_id], judgment.grade or 0)
    why = reasons(queries, judgments)
    without = [
        why[query.query_id]
        for query in queries
        if not query.answerable or best[query.query_id] < relevance.answerable_from
    ]
    counts = Counter(without if relevance.unanswerable == "exclude" else ())
    return {name: counts[name] for name in WHY}
