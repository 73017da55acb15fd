"""Reranking by a model behind an endpoint."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.models import RerankEndpoint, ServedPairs
from harness.steps.search.rerank.scorer import PaidScorer
from harness.steps.search.step import RerankerConfig


class EndpointRerankerConfig(RerankerConfig):
    """A reranker behind an endpoint: Cohere, Jina, vLLM, TEI. Its scores are paid for once and kept."""

    kind: Literal["endpoint"] = "endpoint"
    endpoint: RerankEndpoint = Field(description="Where it is served, what it costs, and its rate limits.")

    @property
    def model_name(self) -> str:
        """The model's name."""
        return self.endpoint.model


class ServedScorer(PaidScorer):
    """Scores pairs by an endpoint. A score is kept by its pair, whatever others were in its request."""

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
