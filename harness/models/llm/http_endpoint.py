"""Shared by everything called over HTTP: headers, secrets by their variables, time-outs, limits."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from harness.values import ConfigError, StageConfig

NO_KEY = "no-key"
_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")
_HEADER = re.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers that decide who may ask.
_SECRET_HEADER = re.compile(r"(?i)auth|cookie|credential|password|secret|token|(^|[-_])key$")


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
            "with the key in "
            f"{secrets}."
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
                f"deadline ({self.deadline:g} s) is shorter than one timeout ({self.timeout:g} s)"
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

    def __hash__(self) -> int:
        # a mapping among the fields has no hash of its own
        return hash(self.model_dump_json())

    def key(self) -> str:
        """The key, from the environment; raises ConfigError that never shows its value."""
        if self.api_key_env is None:
            return NO_KEY
        return _read_secret(
            self.api_key_env,
            "key",
            "name another one in endpoint.api_key_env, or write null there if the endpoint needs no key",
        )

    def problem(self) -> str:
        """Why no request can be sent, such as a key that is not set; sends nothing."""
        try:
            self.key()
        except ConfigError as error:
            return str(error)
        return super().problem()


def as_json(value: dict[str, Any], name: str = "") -> dict[str, Any]:
    """The value; raises ValueError if it cannot be written as JSON."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}cannot be written as JSON: {error}") from error
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
