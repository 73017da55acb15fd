"""Where the judge's model is served, and how hard it may be asked."""

from __future__ import annotations

import os
import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from harness.errors import ConfigError
from harness.kinds import StageConfig

NO_KEY = "no-key"
_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")


class AzureOptions(StageConfig):
    """An Azure OpenAI resource: its endpoint, the API version and the name of the deployment."""

    endpoint: str = Field(description="The address of the resource.")
    api_version: str = Field(description="The version of its interface.")
    deployment: str = Field(description="The name of the deployment.")

    @field_validator("endpoint")
    @classmethod
    def _plain_url(cls, url: str) -> str:
        return plain_url(url)


class Endpoint(StageConfig):
    """Any endpoint that speaks the chat-completions protocol (OpenAI, Azure, DeepSeek, GLM, vLLM, Ollama).

    Waiting for the rate limit counts towards neither ``timeout`` nor ``deadline``.
    """

    model: str = Field(min_length=1, description="The model's name; a dated one does not change in time.")
    base_url: str = Field("https://api.openai.com/v1", description="The address, up to and with `/v1`.")
    api_key_env: str | None = Field(
        "OPENAI_API_KEY",
        description="The *name* of the environment variable with the key, never the key; null: none is "
        "needed.",
    )
    azure: AzureOptions | None = Field(None, description="An Azure resource instead of `base_url`.")
    temperature: float | None = Field(0.0, ge=0, le=2, description="Not sent when null.")
    seed: int | None = Field(0, description="Sample i is sent seed + i; not sent when null.")
    max_tokens: int = Field(400, gt=0, description="The longest answer.")
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="What the endpoint calls that limit."
    )
    structured: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema", description="How the form of the answer is asked for: `none` is words alone."
    )
    timeout: float = Field(60, gt=0, description="Seconds for one try of a call.")
    deadline: float = Field(180, gt=0, description="Seconds for all tries of a call together.")
    max_concurrency: int = Field(16, gt=0, description="Calls on their way at once.")
    requests_per_minute: float | None = Field(None, gt=0, description="The rate limit.")
    tokens_per_minute: float | None = Field(None, gt=0, description="The rate limit in tokens.")

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str) -> str:
        return plain_url(url)

    @field_validator("api_key_env")
    @classmethod
    def _name_not_key(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):
            raise ConfigError(
                "endpoint.api_key_env is the name of an environment variable in capitals (such as "
                "OPENAI_API_KEY), never the key itself. If a key stood there, it should be revoked."
            )
        return name

    @model_validator(mode="after")
    def _deadline_holds_a_call(self) -> Endpoint:
        if self.deadline < self.timeout:
            raise ValueError(
                f"deadline ({self.deadline:g} s) is shorter than one timeout ({self.timeout:g} s)"
            )
        return self

    def parameters(self) -> dict[str, object]:
        """The parameters that can change an answer; they are part of the ledger's key."""
        return {
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "structured": self.structured,
        }


def plain_url(url: str) -> str:
    """Refuse a URL that could carry a secret into a record.

    Raises ConfigError, which, unlike a validation error, does not repeat the value.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError("The address of an endpoint begins with http:// or https:// and names a host.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            "The address of an endpoint holds no user, password or query: name the variable with the key in "
            "endpoint.api_key_env."
        )
    return url


def read_key(endpoint: Endpoint) -> str:
    """Read the key from the environment; raises ConfigError that never shows its value."""
    name = endpoint.api_key_env
    if name is None:
        return NO_KEY
    key = os.environ.get(name, "").strip()
    if not key:
        raise ConfigError(
            f"The judge's key is missing: the environment variable {name} is not set. Set it, name "
            "another one in "
            "endpoint.api_key_env, or write null there if the endpoint needs no key."
        )
    # An HTTP library that refuses such a header quotes it, key and all.
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            f"The environment variable {name} holds blanks or characters that cannot be part of a key: "
            "set it again."
        )
    return key
