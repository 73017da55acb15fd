"""Endpoints: headers, secrets by their variables, time-outs and limits; the address of a language model."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from harness.models.llm.batch_options import BatchOptions
from harness.values import ConfigError, StageConfig

_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")
_HEADER = re.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers that decide who may ask.
_SECRET_HEADER = re.compile(r"(?i)auth|cookie|credential|password|secret|token|(^|[-_])key$")
# Headers and fields that say who asks: they do not change an answer.
_WHO_ASKS = {"http-referer", "referer", "x-title", "user-agent", "openai-organization", "openai-project"}
_BOOKKEEPING = {"metadata", "prompt_cache_key", "safety_identifier", "service_tier", "store", "user"}
SET_BY_OWN_KEYS = (
    *("model", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "reasoning_effort"),
    "top_logprobs",
)
"""Fields of a request that are set by keys of an endpoint with the same names."""


def plain_url(url: str, secrets: str = "endpoint.api_key_env") -> str:
    """Refuse a URL that could carry a secret into a record; ``secrets`` is the key to name one in.

    Raises ConfigError, which, unlike a validation error, does not repeat the value.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError("The address of an endpoint begins with http:// or https:// and names a host.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            "The address of an endpoint must not contain a user, password or query: give the variable "
            f"with the key in {secrets}."
        )
    return url


PlainUrl = Annotated[str, AfterValidator(plain_url)]


class HttpConfig(StageConfig):
    """Base of the configurations of services behind HTTP.

    Waiting for the rate limit, or as long as the endpoint asks (Retry-After), counts towards neither
    ``timeout`` nor ``deadline``. Errors name keys below ``section``.
    """

    section: ClassVar[str] = ""

    headers: dict[str, str] = Field(
        default_factory=dict, description="Additional HTTP headers; no secrets, because they are recorded."
    )
    headers_env: dict[str, str] = Field(
        default_factory=dict,
        description="Headers with secret values: for each, the *name* of the environment variable that holds "
        "it, such as `{Authorization: SEARCH_TOKEN}`.",
    )
    timeout: float = Field(60, gt=0, description="Seconds for one try of a request.")
    deadline: float = Field(180, gt=0, description="Seconds for all tries of a request in total.")
    longest_pause: float = Field(
        600,
        ge=0,
        description="The longest pause the endpoint may request (Retry-After) before any answer, in "
        "seconds; beyond it the run stops and states the pause.",
    )
    max_concurrency: int = Field(8, gt=0, description="Maximum number of concurrent requests.")
    requests_per_minute: float | None = Field(None, gt=0, description="The rate limit.")

    @field_validator("headers")
    @classmethod
    def _plain_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        """Refuse headers that look secret, because records keep them, or that are not headers."""
        for name, value in headers.items():
            if _SECRET_HEADER.search(name):
                raise ConfigError(
                    f"{cls.section}headers: {name} looks like a secret. Name the environment variable that "
                    f"holds it in {cls.section}headers_env. If this is a secret, revoke it."
                )
            if not _HEADER.fullmatch(name) or not value.isascii() or not value.isprintable():
                raise ConfigError(
                    f"{cls.section}headers: {name!r} is not an HTTP header of ASCII characters."
                )
        return headers

    @field_validator("headers_env")
    @classmethod
    def _names_not_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        """Refuse anything but names of environment variables, because it may be a secret."""
        for name, variable in headers.items():
            if not _HEADER.fullmatch(name) or not _VARIABLE.fullmatch(variable):
                raise ConfigError(
                    f"{cls.section}headers_env maps the name of each header to the name of an environment "
                    "variable in capitals, never to the value. If a secret was written there, revoke it."
                )
        return headers

    @model_validator(mode="after")
    def _deadline_holds_a_try(self) -> Self:
        if self.deadline < self.timeout:
            raise ValueError(
                f"deadline ({self.deadline:g} s) is shorter than one timeout ({self.timeout:g} s); correct it"
            )
        return self

    def secret_headers(self) -> dict[str, str]:
        """The secret headers, from the environment; raises ConfigError that never shows a value."""
        advice = f"name another one in {self.section}headers_env"
        return {
            name: _read_secret(variable, f"header {name}", advice)
            for name, variable in self.headers_env.items()
        }

    def problem(self) -> str:
        """Why no request can be sent, such as a secret that is not set; sends nothing."""
        try:
            self.secret_headers()
        except ConfigError as error:
            return str(error)
        return ""


class HttpEndpoint(HttpConfig):
    """Base of the endpoints of models: chat, embeddings and rerankers.

    ``own_fields`` are those of a request that ``extra_body`` may not hold, each with what to do instead.
    """

    section: ClassVar[str] = "endpoint."
    own_fields: ClassVar[Mapping[str, str]] = {}

    model: str = Field(
        min_length=1,
        description="The model's name, which is sent; answers are stored under it. Give the true name "
        "even if a server ignores it, and prefer a dated name, which does not change over time.",
    )
    base_url: PlainUrl = Field(
        "https://api.openai.com/v1", description="The address, up to and including `/v1`."
    )
    api_key_env: str | None = Field(
        "OPENAI_API_KEY",
        description="The *name* of the environment variable with the key, never the key; null: no key is "
        "needed.",
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict,
        description="Additional fields of the request, such as `chat_template_kwargs` or `truncate: true`.",
    )
    tokens_per_minute: float | None = Field(None, gt=0, description="The rate limit in tokens.")

    @field_validator("api_key_env")
    @classmethod
    def _name_not_key(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):
            raise ConfigError(
                "endpoint.api_key_env is the name of an environment variable in capitals (such as "
                "OPENAI_API_KEY), never the key itself. If a key was written there, revoke it."
            )
        return name

    @field_validator("extra_body")
    @classmethod
    def _no_fields_of_its_own(cls, body: dict[str, Any]) -> dict[str, Any]:
        for name in sorted(body.keys() & cls.own_fields.keys()):
            raise ValueError(f"extra_body holds {name}: {cls.own_fields[name]}")
        return as_json(body, "extra_body ")

    @property
    def address(self) -> str:
        """Where it is served."""
        return self.base_url

    def __hash__(self) -> int:
        # a mapping among the fields has no hash of its own
        return hash(self.model_dump_json())

    def secret_headers(self) -> dict[str, str]:
        """The key too; a header of the same name in ``headers_env`` takes its place."""
        if self.api_key_env is None:
            return super().secret_headers()
        otherwise = (
            "name another one in endpoint.api_key_env, or write null there if the endpoint needs no key"
        )
        name, value = self._authorization(_read_secret(self.api_key_env, "key", otherwise))
        headers = super().secret_headers()
        return headers if name.lower() in map(str.lower, headers) else {name: value, **headers}

    def _authorization(self, key: str) -> tuple[str, str]:
        """The header that the key goes in."""
        return "Authorization", f"Bearer {key}"


class AzureOptions(StageConfig):
    """An Azure OpenAI resource: its endpoint, the API version and the name of the deployment."""

    endpoint: PlainUrl = Field(description="The address of the resource.")
    api_version: str = Field(description="The version of its interface.")
    deployment: str = Field(description="The name of the deployment.")


class OpenAIEndpoint(HttpEndpoint):
    """Base of the endpoints of OpenAI's protocol, which may be a resource of Azure."""

    azure: AzureOptions | None = Field(None, description="An Azure resource instead of `base_url`.")

    @property
    def address(self) -> str:
        """Where it is served."""
        return self.azure.endpoint if self.azure else self.base_url

    @property
    def sent_model(self) -> str:
        """The name that a request has for the model: at Azure that of the deployment."""
        return self.azure.deployment if self.azure else self.model

    def _authorization(self, key: str) -> tuple[str, str]:
        return ("api-key", key) if self.azure else super()._authorization(key)


class Endpoint(OpenAIEndpoint):
    """Any endpoint that speaks the chat-completions protocol (OpenAI, Azure, DeepSeek, GLM, vLLM, Ollama)."""

    gone: ClassVar[Mapping[str, str]] = {
        "max_tokens_field": "use max_completion_tokens instead of max_tokens if the endpoint uses that name."
    }
    own_fields: ClassVar[Mapping[str, str]] = {
        **{name: f"set endpoint.{name}" for name in SET_BY_OWN_KEYS},
        "messages": "they come from the prompt",
        "logprobs": "set endpoint.top_logprobs",
        "response_format": "set endpoint.structured",
        "n": "set samples",
        "stream": "remove it, for no call here can use it",
    }

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
    batch: BatchOptions | None = Field(
        None,
        description="`true`: ask in batches, which OpenAI and others answer within a day at half the price; "
        "or a section with their limits. An answer is the same in the ledger either way.",
    )

    @field_validator("batch", mode="before")
    @classmethod
    def _yes_or_no(cls, value: object) -> object:
        return {} if value is True else None if value is False else value

    @model_validator(mode="after")
    def _batches_carry_no_headers(self) -> Self:
        if self.batch and "headers" in self.parameters():
            raise ValueError(
                "the requests of a batch have no headers of their own: omit endpoint.headers or batch"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _one_limit(cls, fields: Any) -> Any:
        """One limit under one of two names; ``max_tokens`` holds its value in either case."""
        if not isinstance(fields, dict) or fields.get("max_completion_tokens") is None:
            return fields
        limit = fields["max_completion_tokens"]
        if fields.get("max_tokens", limit) != limit:
            raise ValueError("max_tokens and max_completion_tokens are the same limit: keep one of them")
        return {**fields, "max_tokens": limit}

    @property
    def longest_answer(self) -> int:
        """The characters of an answer that has all tokens it may have, as tokens are estimated."""
        return 4 * self.max_tokens

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


def as_json(value: dict[str, Any], name: str = "") -> dict[str, Any]:
    """The value; raises ValueError if it cannot be written as JSON."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}cannot be written as JSON: {error}; correct it") from error
    return value


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
            f"The environment variable {variable} contains blanks or characters that cannot be part of a "
            f"{what.split()[0]}: set it again."
        )
    return value
