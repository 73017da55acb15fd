"""The keys of a section that names a bi-encoder: one on this machine, or one behind an endpoint."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from harness.models.encoder import ComputingConfig, EmbedConfig, EncoderConfig
from harness.models.served.served_endpoint import EmbeddingEndpoint


class BiEncoderConfig(ComputingConfig):
    """A bi-encoder on this machine or behind an endpoint, and how it computes."""

    model: str = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="The bi-encoder: hub id, local folder, or `embedded:all-MiniLM-L6-v2` (needs no "
        "network).",
    )
    endpoint: EmbeddingEndpoint | None = Field(
        None,
        description="An endpoint with OpenAI's protocol that serves the bi-encoder, instead of `model`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _one_model(cls, fields: Any) -> Any:
        """One bi-encoder: where it is served, ``model`` holds the name that the endpoint has it by."""
        endpoint = fields.get("endpoint") if isinstance(fields, dict) else None
        name = endpoint.get("model") if isinstance(endpoint, dict) else getattr(endpoint, "model", None)
        if name is None:
            return fields
        if fields.get("model", name) != name:
            raise ValueError("model and endpoint both name a bi-encoder; keep one of them")
        return {**fields, "model": name}

    @property
    def embed(self) -> EncoderConfig:
        """The encoder that is configured."""
        if self.endpoint is None:
            return self.made(EmbedConfig)
        # most runs ask no endpoint
        from harness.models.served.embedding import ServedEmbedConfig

        return ServedEmbedConfig(endpoint=self.endpoint)
