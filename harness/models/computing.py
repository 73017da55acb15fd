"""How a model that runs here computes: the keys that every step with such a model has."""

from __future__ import annotations

from pydantic import Field

from harness.kinds import StageConfig
from harness.models.resolve import BACKEND_TEXT, DTYPE_TEXT, Backend, Dtype


class ComputingConfig(StageConfig):
    """Base of configurations that name a model which runs on this machine."""

    batch_tokens: int = Field(
        2048,
        ge=64,
        description="Tokens in one batch, padding included. Small batches fit into a processor's cache; "
        "raise "
        "it on a GPU.",
    )
    device: str | None = Field(None, description="`cpu`, `cuda`, `mps`; empty: the best one there is.")
    dtype: Dtype = Field("float32", description=DTYPE_TEXT)
    backend: Backend = Field("torch", description=BACKEND_TEXT)
