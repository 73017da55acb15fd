"""A reranker behind HTTP: a user-defined service scores passages for a query."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from harness.models import by_query
from harness.steps.custom.code import broken_contract
from harness.steps.custom.sending import Message, send
from harness.steps.custom.service import ServiceConfig, fill, names_in
from harness.steps.search.rerank.scorer import Pair, PairScorer
from harness.steps.search.step import RerankerConfig
from harness.values import SINGLE, counted, finite


class HttpRerankerConfig(ServiceConfig, RerankerConfig):
    """A service of your own scores the passages of a query."""

    kind: Literal["http"] = "http"

    @model_validator(mode="after")
    def _check_request(self) -> HttpRerankerConfig:
        names = names_in(self.request)
        if names != {"query", "passages"}:
            raise ValueError(
                "the request must have {{ query }} and {{ passages }}, a list of texts, and no more"
            )
        return self

    @property
    def model_name(self) -> str:
        """The service."""
        return self.url


class HttpScorer(PairScorer):
    """A request holds one query and up to ``batch_size`` passages.

    ``response`` finds one score per passage in their order, or for each passage a pair or a mapping of
    ``index`` and ``score``; higher is better.
    """

    def __init__(self, config: HttpRerankerConfig) -> None:
        self.config = config

    @property
    def fingerprint(self) -> str:
        """The settings of the user, and the request to the service."""
        facts = json.dumps(self.config.service_facts(), sort_keys=True)
        return f"http:{hashlib.sha256(facts.encode()).hexdigest()}"

    def describe(self) -> dict[str, str]:
        """The service and its version, for the run record."""
        return {"name": self.config.url, "origin": "http", "fingerprint": self.config.version}

    def batches(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """As many requests as may be in parallel, pairs by query."""
        order = sorted(range(len(pairs)), key=lambda i: pairs[i][0])
        size = self.config.batch_size * self.config.max_concurrency
        return [order[start : start + size] for start in range(0, len(order), size)]

    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Ask the service for all pairs; raises HarnessError for an answer that breaks the contract."""
        c = self.config
        groups = by_query(pairs, c.batch_size)
        bodies = [
            fill(c.request, {"query": pairs[group[0]][0], "passages": [pairs[i][1] for i in group]})
            for group in groups
        ]
        answers = send(c, [Message(body, c.url, c.method, c.response) for body in bodies])
        scores = np.zeros(len(pairs), dtype=np.float32)
        for group, answer in zip(groups, answers, strict=True):
            scores[group] = _scores(answer, len(group), f"http: {c.url}")
        return scores


def _scores(answer: Any, count: int, who: str) -> list[float]:
    """One finite score a passage, in the order of the passages."""
    if not isinstance(answer, list) or len(answer) != count:
        returned = counted(len(answer), "score") if isinstance(answer, list) else type(answer).__name__
        raise broken_contract(who, f"returned {returned} for {counted(count, 'passage')}")
    scores: dict[int, float] = {}
    for place, item in enumerate(answer):
        index, given = _parts(item, place)
        score = finite(given, SINGLE)
        if score is None:
            raise broken_contract(who, f"returned the score {str(given)[:60]!r}")
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
            raise broken_contract(who, f"returned the index {str(index)[:60]!r} for {count} passages")
        scores[index] = score
    if len(scores) < count:
        raise broken_contract(who, "scored one passage twice and another not at all")
    return [scores[place] for place in range(count)]


def _parts(item: Any, place: int) -> tuple[Any, Any]:
    if isinstance(item, Mapping):
        return item.get("index", place), item.get("score")
    return (item[0], item[1]) if isinstance(item, list) and len(item) == 2 else (place, item)
