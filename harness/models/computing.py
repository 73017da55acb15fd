"""How a model that runs here computes: its keys, and batches of texts sorted by length."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from pydantic import Field

from harness.models.model_files import BACKEND_TEXT, DTYPE_TEXT, NO_OPENVINO, Backend, Dtype
from harness.values import ModelError, StageConfig


class ComputingConfig(StageConfig):
    """Base of configurations that name a model which runs on this machine."""

    batch_tokens: int = Field(
        2048,
        ge=64,
        description="Tokens in one batch, padding included. Small batches fit into a processor's cache; "
        "raise it on a GPU.",
    )
    device: str | None = Field(None, description="`cpu`, `cuda`, `mps`; empty: the best one there is.")
    dtype: Dtype = Field("float32", description=DTYPE_TEXT)
    backend: Backend = Field("torch", description=BACKEND_TEXT)

    def check_ready(self) -> None:
        """Raise ModelError where the package of the backend is missing, without loading it."""
        if self.backend == "openvino" and find_spec("openvino") is None:
            raise ModelError(NO_OPENVINO)


def length_sorted_batches(lengths: Sequence[int], budget: int, most: int = 512) -> list[list[int]]:
    """Group item indices so that padded length × count stays within ``budget`` tokens.

    Longest first, so that the first batch is the largest and running out of memory shows immediately; equal
    lengths keep their order. An item longer than the budget forms a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    batches: list[list[int]] = []
    for index in order:
        current = batches[-1] if batches else None
        if current is not None and len(current) < most and (len(current) + 1) * lengths[current[0]] <= budget:
            current.append(index)
        else:
            batches.append([index])
    return batches
