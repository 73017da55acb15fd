"""Rankings that code or a user-defined service returned: checked before they count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from harness.steps.custom.code import Broken
from harness.steps.search.depth import SearchDepth
from harness.steps.search.passages import Passages
from harness.steps.search.step import RetrieverConfig
from harness.values import HarnessError, Query, Ranking, counted, finite, quoted


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

    def ranking(query: Query, answer: Any) -> Ranking:
        def wrong(value: Any, why: str) -> HarnessError:
            return broken(f"returned {quoted(value, 80)} for query {query.query_id}{why}")

        if not isinstance(answer, Iterable) or isinstance(answer, str | Mapping):
            raise wrong(answer, ", which is not a list of hits")
        positions: list[int] = []
        scores: list[float] = []
        for rank, hit in enumerate(answer):
            named, raw_score = _parts(hit, -float(rank))
            if isinstance(named, str) and named not in places:
                raise wrong(named, ", which is not the id of a passage")
            place = places[named] if isinstance(named, str) else named
            whole = isinstance(place, int | np.integer) and not isinstance(place, bool)
            if not whole or not 0 <= place < len(places):
                raise wrong(place, f": positions go from 0 to {len(places) - 1}")
            score = finite(raw_score)
            if score is None:
                raise wrong(raw_score, ", which is not a score")
            positions.append(int(place))
            scores.append(score)
        if len(set(positions)) < len(positions):
            raise broken(f"ranked a passage twice for query {query.query_id}")
        if any(later > earlier for earlier, later in pairwise(scores)):
            raise broken(
                f"returned scores that rise for query {query.query_id}; the best comes first; for "
                "distances, return the negative"
            )
        end = depth.of_ranked(depth.lengths[positions])
        return Ranking(query.query_id, tuple(passages.ids[i] for i in positions[:end]), tuple(scores[:end]))

    return ranking


def _parts(hit: Any, otherwise: float) -> tuple[Any, Any]:
    """The chunk that a hit names, and its score."""
    if isinstance(hit, Mapping):
        return hit.get("id"), hit.get("score", otherwise)
    if isinstance(hit, tuple | list) and len(hit) == 2:
        return hit[0], hit[1]
    return hit, otherwise
