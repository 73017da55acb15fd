"""Scores by an endpoint that reranks: pairs → requests of one query each, replies → scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from harness.models.llm.faults import one_line
from harness.models.llm.money import estimate_tokens
from harness.models.served.fetching import ServedRequest, in_order, number, tokens_used, unusable
from harness.models.served.served_endpoint import RerankEndpoint, fill, search
from harness.values import by_key

Pair = tuple[str, str]


class ServedPairs:
    """A reranker behind an endpoint: its identity, and the requests that score pairs."""

    noun = "pairs"

    def __init__(self, endpoint: RerankEndpoint) -> None:
        self.endpoint = endpoint

    @property
    def fingerprint(self) -> str:
        """The name of the model and what is sent with the texts."""
        return self.endpoint.fingerprint

    def tokens(self, pair: Pair) -> int:
        """About how many tokens a pair has: models read the query with each document."""
        return estimate_tokens(pair[0]) + estimate_tokens(pair[1])

    def requests(self, pairs: Sequence[Pair], width: int | None = None) -> Iterator[ServedRequest]:
        """Requests for all pairs, those of a query together. A score is one number, whatever ``width``."""
        size = self.endpoint.documents_per_request
        by_query = by_key((query, place) for place, (query, _) in enumerate(pairs)).values()
        for group in (places[at : at + size] for places in by_query for at in range(0, len(places), size)):
            documents = [pairs[place][1] for place in group]
            yield ServedRequest(
                path=self.endpoint.path,
                body=self._body(pairs[group[0]][0], documents),
                tokens=sum(self.tokens(pairs[place]) for place in group),
                read=partial(_scores, count=len(group), endpoint=self.endpoint),
                items=tuple(group),
                method=self.endpoint.method,
                own_form=self.endpoint.request is not None,
            )

    def _body(self, query: str, documents: list[str]) -> dict[str, Any]:
        e = self.endpoint
        if e.request is not None:
            filled: dict[str, Any] = fill(e.request, {"query": query, "passages": documents})
            return filled
        if e.form == "tei":
            return {"query": query, "texts": documents, **e.extra_body}
        body = {"model": e.model, "query": query, "documents": documents, "top_n": len(documents)}
        return body | e.extra_body


def _scores(data: Any, count: int, endpoint: RerankEndpoint) -> tuple[list[Any], int | None]:
    if endpoint.request is not None:
        scores = in_order(_matched(data, endpoint.response), count, _score, "scores")
    elif endpoint.form == "tei":
        scores = in_order(data, count, _score, "scores")
    else:
        results = data.get("results") if isinstance(data, dict) else None
        scores = in_order(results, count, partial(_score, field="relevance_score"), "scores")
    return [np.array([number(score, "score")], dtype=np.float32) for score in scores], tokens_used(data)


def _score(item: dict[str, Any], field: str = "score") -> tuple[Any, Any]:
    return item.get("index"), item.get(field)


def _matched(data: Any, response: str) -> Any:
    """What ``response`` finds in a reply, as scores with the index of their passages."""
    try:
        items = search(response, data)
    except ValueError as error:
        raise unusable(one_line(str(error))) from None
    return [_indexed(item, place) for place, item in enumerate(items)] if isinstance(items, list) else items


def _indexed(item: Any, place: int) -> dict[str, Any]:
    if isinstance(item, dict):
        return {"index": place} | item
    index, score = item if isinstance(item, list) and len(item) == 2 else (place, item)
    return {"index": index, "score": score}
