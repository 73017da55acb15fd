"""Reranking by a model behind an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models import RerankEndpoint, ServedPairs, Spending, fetch
from harness.models import ServedRequest as ServedRequest
from harness.steps.search.rerank.scorer import Pair, PairScorer
from harness.steps.search.step import RerankerConfig


class EndpointRerankerConfig(RerankerConfig):
    """A reranker behind an endpoint: Cohere, Jina, vLLM, TEI. Its scores are paid for once and kept."""

    kind: Literal["endpoint"] = "endpoint"
    endpoint: RerankEndpoint = Field(description="Where it is served, what it costs, and its rate limits.")

    @property
    def model_name(self) -> str:
        """The model's name."""
        return self.endpoint.model


class ServedScorer(PairScorer):
    """Scores pairs by an endpoint. A score is kept by its pair, whatever others were in its request.

    A run does not call ``score`` but buys missing scores through its cache.
    """

    def __init__(self, config: EndpointRerankerConfig) -> None:
        self.config = config
        self.served: ServedPairs = ServedPairs(config.endpoint)

    @property
    def fingerprint(self) -> str:
        """The name of the model and what is sent with the texts."""
        return f"endpoint:{self.served.fingerprint}"

    def describe(self) -> dict[str, str]:
        """The model by its name: what weights the endpoint has is not known here."""
        e = self.config.endpoint
        return {"name": e.model, "origin": "endpoint", "fingerprint": self.served.fingerprint}

    def batches(self, pairs: Sequence[Pair]) -> list[list[int]]:
        """The places of pairs by query, as many as a request holds."""
        return self.served.batches(pairs)

    def score(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Ask for all pairs, past any cache."""
        scores = np.zeros(len(pairs), dtype=np.float32)

        def keep(asked: ServedRequest, rows: list[Any], used: int) -> None:
            scores[list(asked.items)] = np.concatenate(rows)

        # it raises unless all are answered
        fetch(self.config.endpoint, self.served.requests(pairs), keep, Spending())
        return scores
