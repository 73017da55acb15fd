"""What a query belongs to together with others that are like it: the cluster it is tested with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.types import Judgment, Query


def clusters_of(queries: Sequence[Query], judgments: Iterable[Judgment]) -> dict[str, str]:
    """The cluster of every query: what the query file says, else the document of its evidence.

    Of several documents the one with the highest grade, then with most evidence, then the first by name; ''
    for a query without evidence.
    """
    weights: dict[str, dict[str, tuple[int, int]]] = {}
    for judgment in judgments:
        grade = judgment.grade or 0
        if grade <= 0:
            continue
        by_document = weights.setdefault(judgment.query_id, {})
        highest, characters = by_document.get(judgment.doc_id, (0, 0))
        length = judgment.end - judgment.start
        by_document[judgment.doc_id] = (max(highest, grade), characters + length)
    found = {}
    for query in queries:
        own = weights.get(query.query_id, {})
        document = min(own, key=lambda name: (-own[name][0], -own[name][1], name)) if own else ""
        found[query.query_id] = query.cluster or document
    return found
