"""Where a language model is served, and how hard it may be asked."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from harness.errors import ConfigError
from harness.kinds import StageConfig

NO_KEY = "no-key"
_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")
_HEADER = re.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers that say who may ask, and headers and fields that say who asks; neither changes an answer.
_SECRET_HEADER = re.compile(r"(?i)auth|cookie|credential|password|secret|token|(^|[-_])key$")
_WHO_ASKS = {"http-referer", "referer", "x-title", "user-agent", "openai-organization", "openai-project"}
_BOOKKEEPING = {"metadata", "prompt_cache_key", "safety_identifier", "service_tier", "store", "user"}
# Fields of a request that have a key of their own here, or that no call may send.
_OWN_FIELDS = {
    "model": "endpoint.model",
    "messages": "the prompt",
    "temperature": "endpoint.temperature",
    "top_p": "endpoint.top_p",
    "seed": "endpoint.seed",
    "max_tokens": "endpoint.max_tokens",
    "max_completion_tokens": "endpoint.max_completion_tokens",
    "reasoning_effort": "endpoint.reasoning_effort",
    "logprobs": "endpoint.top_logprobs",
    "top_logprobs": "endpoint.top_logprobs",
    "response_format": "endpoint.structured",
    "n": "samples",
    "stream": None,
}


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

    Waiting for the rate limit, or as long as the endpoint asks (Retry-After), counts towards neither
    ``timeout`` nor ``deadline``.
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
    top_p: float | None = Field(None, gt=0, le=1, description="Nucleus sampling; not sent when null.")
    reasoning_effort: str | None = Field(
        None,
        min_length=1,
        description="How long a reasoning model thinks, in the endpoint's words (such as `none`, `low`, "
        "`high`); not sent when null.",
    )
    max_tokens: int = Field(
        400, gt=0, description="The longest answer, thoughts included; sent as `max_tokens`."
    )
    max_completion_tokens: int | None = Field(
        None,
        gt=0,
        description="The same limit under the name that newer models want; write it in place of "
        "`max_tokens`.",
    )
    top_logprobs: int | None = Field(
        None,
        ge=0,
        le=20,
        description="Ask for the log probabilities of the answer's tokens and of so many alternatives to "
        "each; kept in the ledger.",
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict, description="More fields of the request, such as `chat_template_kwargs`."
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="More HTTP headers; nothing secret, for records keep them."
    )
    headers_env: dict[str, str] = Field(
        default_factory=dict,
        description="Headers whose value is secret, each with the *name* of the environment variable that "
        "holds it.",
    )
    structured: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema", description="How the form of the answer is asked for: `none` is words alone."
    )
    timeout: float = Field(60, gt=0, description="Seconds for one try of a call.")
    deadline: float = Field(180, gt=0, description="Seconds for all tries of a call together.")
    longest_pause: float = Field(
        600,
        ge=0,
        description="Seconds for which the endpoint may ask everybody to wait (Retry-After) before it "
        "answers anything; beyond that the run stops and names the pause.",
    )
    max_concurrency: int = Field(16, gt=0, description="Calls on their way at once.")
    requests_per_minute: float | None = Field(None, gt=0, description="The rate limit.")
    tokens_per_minute: float | None = Field(None, gt=0, description="The rate limit in tokens.")

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str) -> str:
        return plain_url(url)

    @field_validator("headers")
    @classmethod
    def _plain_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        return plain_headers(headers, "endpoint.")

    @field_validator("headers_env")
    @classmethod
    def _names_not_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        return names_of_secrets(headers, "endpoint.")

    @field_validator("extra_body")
    @classmethod
    def _fields_of_its_own(cls, body: dict[str, Any]) -> dict[str, Any]:
        for name in body.keys() & _OWN_FIELDS.keys():
            own = _OWN_FIELDS[name]
            raise ValueError(
                f"extra_body holds {name}, which has a place of its own: {own}"
                if own
                else f"extra_body holds {name}, which no call here can use"
            )
        try:
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"extra_body cannot be written as JSON: {error}") from error
        return body

    @field_validator("api_key_env")
    @classmethod
    def _name_not_key(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):
            raise ConfigError(
                "endpoint.api_key_env is the name of an environment variable in capitals (such as "
                "OPENAI_API_KEY), never the key itself. If a key stood there, it should be revoked."
            )
        return name

    @model_validator(mode="before")
    @classmethod
    def _one_limit(cls, fields: Any) -> Any:
        """One limit under one of two names; ``max_tokens`` holds its value in either case."""
        if isinstance(fields, dict) and "max_tokens_field" in fields:
            raise ValueError(
                "there is no max_tokens_field any more: write max_completion_tokens in place of max_tokens "
                "where the endpoint calls its limit that, else leave it out"
            )
        if not isinstance(fields, dict) or fields.get("max_completion_tokens") is None:
            return fields
        limit = fields["max_completion_tokens"]
        if fields.get("max_tokens", limit) != limit:
            raise ValueError("max_tokens and max_completion_tokens are one limit: write one of them")
        return {**fields, "max_tokens": limit}

    @model_validator(mode="after")
    def _deadline_holds_a_call(self) -> Endpoint:
        if self.deadline < self.timeout:
            raise ValueError(
                f"deadline ({self.deadline:g} s) is shorter than one timeout ({self.timeout:g} s)"
            )
        return self

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


def plain_headers(headers: dict[str, str], section: str = "") -> dict[str, str]:
    """Refuse headers that look secret, for records keep them, or that are none; raises ConfigError."""
    for name, value in headers.items():
        if _SECRET_HEADER.search(name):
            raise ConfigError(
                f"{section}headers: {name} looks like a secret. Name the environment variable that holds "
                f"it in {section}headers_env. If a secret stood there, it should be revoked."
            )
        if not _HEADER.fullmatch(name) or not value.isascii() or not value.isprintable():
            raise ConfigError(f"{section}headers: {name!r} is not an HTTP header of ASCII characters.")
    return headers


def names_of_secrets(headers: dict[str, str], section: str = "") -> dict[str, str]:
    """Refuse anything but names of environment variables, for it may be a secret; raises ConfigError."""
    for name, variable in headers.items():
        if not _HEADER.fullmatch(name) or not _VARIABLE.fullmatch(variable):
            raise ConfigError(
                f"{section}headers_env holds, for the name of each header, the name of an environment "
                "variable in capitals, never the value. If a secret stood there, it should be revoked."
            )
    return headers


def plain_url(url: str, secrets: str = "endpoint.api_key_env") -> str:
    """Refuse a URL that could carry a secret into a record; ``secrets`` is the key to name one in.

    Raises ConfigError, which, unlike a validation error, does not repeat the value.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError("The address of an endpoint begins with http:// or https:// and names a host.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            "The address of an endpoint holds no user, password or query: name the variable with the key in "
            f"{secrets}."
        )
    return url


def read_key(endpoint: Endpoint) -> str:
    """Read the key from the environment; raises ConfigError that never shows its value."""
    name = endpoint.api_key_env
    if name is None:
        return NO_KEY
    return _read_secret(
        name,
        "key",
        "name another one in endpoint.api_key_env, or write null there if the endpoint needs no key",
    )


def read_headers(endpoint: Endpoint) -> dict[str, str]:
    """Read the secret headers from the environment; raises ConfigError that never shows a value."""
    return read_secret_headers(endpoint.headers_env, "endpoint.")


def read_secret_headers(headers_env: dict[str, str], section: str = "") -> dict[str, str]:
    """Read headers from the environment variables that hold them; raises ConfigError without a value."""
    advice = f"name another one in {section}headers_env"
    return {name: _read_secret(v, f"header {name}", advice) for name, v in headers_env.items()}


def _read_secret(variable: str, what: str, otherwise: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise ConfigError(
            f"The endpoint's {what} is missing: the environment variable {variable} is not set. Set it, "
            f"{otherwise}."
        )
    # An HTTP library that refuses such a header quotes it, key and all.
    if not value.isascii() or not value.isprintable() or (what == "key" and " " in value):
        raise ConfigError(
            f"The environment variable {variable} holds blanks or characters that cannot be part of a "
            f"{what.split()[0]}: set it again."
        )
    return value
