"""The address of a language model, its parameters and its rate limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from harness.models.llm.http_endpoint import HttpEndpoint, PlainUrl
from harness.values import StageConfig

# Headers and fields that say who asks: they do not change an answer.
_WHO_ASKS = {"http-referer", "referer", "x-title", "user-agent", "openai-organization", "openai-project"}
_BOOKKEEPING = {"metadata", "prompt_cache_key", "safety_identifier", "service_tier", "store", "user"}


class AzureOptions(StageConfig):
    """An Azure OpenAI resource: its endpoint, the API version and the name of the deployment."""

    endpoint: PlainUrl = Field(description="The address of the resource.")
    api_version: str = Field(description="The version of its interface.")
    deployment: str = Field(description="The name of the deployment.")


class Endpoint(HttpEndpoint):
    """Any endpoint that speaks the chat-completions protocol (OpenAI, Azure, DeepSeek, GLM, vLLM, Ollama)."""

    own_fields: ClassVar[Mapping[str, str]] = {
        "model": "set endpoint.model",
        "messages": "they come from the prompt",
        "temperature": "set endpoint.temperature",
        "top_p": "set endpoint.top_p",
        "seed": "set endpoint.seed",
        "max_tokens": "set endpoint.max_tokens",
        "max_completion_tokens": "set endpoint.max_completion_tokens",
        "reasoning_effort": "set endpoint.reasoning_effort",
        "logprobs": "set endpoint.top_logprobs",
        "top_logprobs": "set endpoint.top_logprobs",
        "response_format": "set endpoint.structured",
        "n": "set samples",
        "stream": "no call here can use it",
    }

    azure: AzureOptions | None = Field(None, description="An Azure resource instead of `base_url`.")
    temperature: float | None = Field(0.0, ge=0, le=2, description="Not sent when null.")
    seed: int | None = Field(0, description="Sample i is sent with seed + i; not sent when null.")
    top_p: float | None = Field(None, gt=0, le=1, description="Nucleus sampling; not sent when null.")
    reasoning_effort: str | None = Field(
        None,
        min_length=1,
        description="How long a reasoning model thinks, in the endpoint's terms (such as `none`, `low`, "
        "`high`); not sent when null.",
    )
    max_tokens: int = Field(
        400, gt=0, description="The longest answer, including reasoning; sent as `max_tokens`."
    )
    max_completion_tokens: int | None = Field(
        None,
        gt=0,
        description="The same limit under the name that newer models expect; use it instead of `max_tokens`.",
    )
    top_logprobs: int | None = Field(
        None,
        ge=0,
        le=20,
        description="Request the log probabilities of the answer's tokens and of this many alternatives to "
        "each; kept in the ledger.",
    )
    structured: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema", description="How the answer format is requested: `none` means by the prompt only."
    )
    max_concurrency: int = Field(16, gt=0, description="Maximum number of concurrent calls.")

    @model_validator(mode="before")
    @classmethod
    def _one_limit(cls, fields: Any) -> Any:
        """One limit under one of two names; ``max_tokens`` holds its value in either case."""
        if isinstance(fields, dict) and "max_tokens_field" in fields:
            raise ValueError(
                "max_tokens_field was removed: use max_completion_tokens instead of max_tokens if "
                "the endpoint uses that name, otherwise omit it"
            )
        if not isinstance(fields, dict) or fields.get("max_completion_tokens") is None:
            return fields
        limit = fields["max_completion_tokens"]
        if fields.get("max_tokens", limit) != limit:
            raise ValueError("max_tokens and max_completion_tokens are the same limit: keep one of them")
        return {**fields, "max_tokens": limit}

    def parameters(self) -> dict[str, object]:
        """The parameters that can change an answer; they are part of the ledger's key.

        What is not set is left out, so that the keys of answers from before there was such a parameter hold.
        """
        more = {
            "top_p": self.top_p,
            "reasoning_effort": self.reasoning_effort,
            "top_logprobs": self.top_logprobs,
            "extra_body": {k: v for k, v in self.extra_body.items() if k not in _BOOKKEEPING} or None,
            "headers": {k.lower(): v for k, v in self.headers.items() if k.lower() not in _WHO_ASKS} or None,
        }
        return {
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "structured": self.structured,
            **{name: value for name, value in more.items() if value is not None},
        }
