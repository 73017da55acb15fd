"""The limits of batches, and how patiently they are waited for."""

from __future__ import annotations

from pydantic import Field

from harness.kinds import StageConfig


class BatchOptions(StageConfig):
    """The limits of an endpoint's batches; the defaults are those of OpenAI's Batch API."""

    max_requests: int = Field(50_000, ge=1, description="The most requests in one batch.")
    max_bytes: int = Field(
        200_000_000, ge=1_000, description="The largest file of requests that a batch may have, in bytes."
    )
    queued_tokens: int | None = Field(
        None,
        ge=1,
        description="How many prompt tokens the endpoint accepts in waiting batches at once (OpenAI: the "
        "batch "
        "queue limit of a model); the rest is sent as batches end. Null: no limit.",
    )
    poll: float = Field(30.0, gt=0, description="Seconds between two checks of the batches in progress.")
    tries: int = Field(
        3,
        ge=1,
        le=10,
        description="In how many batches of one run a call is sent if it gets no answer, for example "
        "because a batch "
        "expires.",
    )
