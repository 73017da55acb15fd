"""Rankings that code or a user-defined service returned: checked before they count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from harness.steps.custom.code import Broken
from harness.steps.search.depth import SearchDepth
from harness.steps.search.step import Passages, RetrieverConfig
from harness.values import Query, Ranking, counted, finite, quoted


def asked_depth(config: RetrieverConfig, passages: Passages) -> int:
    """How many places a ranking may have: all of them where a length of text cuts it."""
    count = len(passages.ids)
    return count if config.top_chars is not None else min(config.top_k, count)


def rankings_of(
    broken: Broken, answers: Any, queries: Sequence[Query], passages: Passages, config: RetrieverConfig
) -> list[Ranking]:
    """One ranking per query; raises HarnessError by ``broken``, which names the query, for any other answer.

    A hit is a place (a whole number from 0) or the id of a passage, alone or with its score: as a pair, or as
    a mapping with ``id`` and ``score``. Without scores the order counts.
    """
    lists = list(answers) if isinstance(answers, Sequence | np.ndarray) else None
    if lists is None or isinstance(answers, str) or len(lists) != len(queries):
        count = "no list" if lists is None or isinstance(answers, str) else counted(len(lists), "list")
        raise broken(f"returned {count} for {counted(len(queries), 'query', 'queries')}")
    return list(map(ranker_of(broken, passages, config), queries, lists))


def ranker_of(broken: Broken, passages: Passages, config: RetrieverConfig) -> Callable[[Query, Any], Ranking]:
    """Check as ``rankings_of`` does, one query and its answer at a time."""
    places = {chunk_id: place for place, chunk_id in enumerate(passages.ids)}
    depth = SearchDepth.of(config, passages.lengths)

    def rank(query: Query, answer: Any) -> Ranking:
        found, scores = _checked(broken, query, answer, places)
        end = depth.of_ranked(depth.lengths[found])
        return Ranking(query.query_id, tuple(passages.ids[i] for i in found[:end]), tuple(scores[:end]))

    return rank


def _checked(
    broken: Broken, query: Query, answer: Any, places: Mapping[str, int]
) -> tuple[list[int], list[float]]:
    """The places and the scores of an answer; raises HarnessError if it breaks the contract."""
    if not isinstance(answer, Iterable) or isinstance(answer, str | Mapping):
        raise broken(f"returned {quoted(answer, 80)} for query {query.query_id}, which is not a list of hits")
    found: list[int] = []
    scores: list[float] = []
    for rank, hit in enumerate(answer):
        named, given = _parts(hit, -float(rank))
        found.append(_place(broken, query, named, places))
        score = finite(given)
        if score is None:
            raise broken(f"returned the score {quoted(given, 80)} for query {query.query_id}")
        scores.append(score)
    if len(set(found)) < len(found):
        raise broken(f"ranked a passage twice for query {query.query_id}")
    if any(later > earlier for earlier, later in pairwise(scores)):
        raise broken(
            f"returned scores that rise for query {query.query_id}; the best comes first; for "
            "distances, return the negative"
        )
    return found, scores


def _parts(hit: Any, otherwise: float) -> tuple[Any, Any]:
    """The chunk that a hit names, and its score."""
    if isinstance(hit, Mapping):
        return hit.get("id"), hit.get("score", otherwise)
    if isinstance(hit, tuple | list) and len(hit) == 2:
        return hit[0], hit[1]
    return hit, otherwise


def _place(broken: Broken, query: Query, named: Any, places: Mapping[str, int]) -> int:
    count = len(places)
    if isinstance(named, str):
        if named not in places:
            raise broken(
                f"returned {quoted(named, 80)} for query {query.query_id}, which is not the id of a passage"
            )
        return places[named]
    if isinstance(named, bool) or not isinstance(named, int | np.integer) or not 0 <= named < count:
        raise broken(
            f"returned {quoted(named, 80)} for query {query.query_id}: positions go from 0 to {count - 1}"
        )
    return int(named)
