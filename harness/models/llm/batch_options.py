"""How calls are asked in batches."""

from __future__ import annotations

from pydantic import Field

from harness.values import StageConfig


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
        "batch queue limit of a model); the rest is sent as batches end. Null: no limit.",
    )
    window: str = Field(
        "24h",
        pattern="^[0-9]{1,4}[hd]$",
        description="Within which time the endpoint has to answer; what it has not answered by then is "
        "asked again.",
    )
    path: str | None = Field(
        None,
        pattern="^/[^?#]*$",
        description="The path of chat completions that each request names. Null: `/v1/chat/completions`, at "
        "Azure `/chat/completions`. GLM, for example, wants `/v4/chat/completions`.",
    )
    poll: float = Field(30.0, gt=0, description="Seconds between two looks at the batches in progress.")
    tries: int = Field(
        3,
        ge=1,
        le=10,
        description="In how many batches of one run a call is sent if it gets no answer, for example "
        "because a batch expires.",
    )
