"""Where an embedding model or a reranker is served, what it costs, and how hard it may be asked."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from harness.errors import ConfigError
from harness.kinds import StageConfig
from harness.llm.endpoint import names_of_secrets, plain_headers, plain_url, read_secret_headers

_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")
_OWN_FIELDS = {"model", "input", "encoding_format", "dimensions", "query", "documents", "texts", "top_n"}
PER_MILLION = 1_000_000


class ServedEndpoint(StageConfig):
    """Base of the endpoints that give numbers for texts.

    Waiting for the rate limit, or as long as the endpoint asks (Retry-After), counts towards neither
    ``timeout`` nor ``deadline``.
    """

    model: str = Field(
        min_length=1,
        description="The model's name, which is sent, and by which what it gave is kept: name it truly, also "
        "where a server ignores it.",
    )
    base_url: str = Field(description="The address, up to what is named after it.")
    api_key_env: str | None = Field(
        None, description="The *name* of the environment variable with the key, never the key; null: none."
    )
    price: float | None = Field(None, ge=0, description="Per million tokens, in a currency of your choice.")
    max_cost: float | None = Field(
        None, gt=0, description="What one run may spend here, in the currency of `price`; it can be resumed."
    )
    max_calls: int | None = Field(None, gt=0, description="How many requests one run may make here.")
    headers: dict[str, str] = Field(
        default_factory=dict, description="More HTTP headers; nothing secret, for records keep them."
    )
    headers_env: dict[str, str] = Field(
        default_factory=dict,
        description="Headers whose value is secret, each with the *name* of the environment variable that "
        "holds it.",
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict, description="More fields of the request, such as `truncate: true`."
    )
    timeout: float = Field(60, gt=0, description="Seconds for one try of a request.")
    deadline: float = Field(180, gt=0, description="Seconds for all tries of a request together.")
    longest_pause: float = Field(
        600,
        ge=0,
        description="Seconds for which the endpoint may ask to wait (Retry-After); beyond that the run stops "
        "and names the pause.",
    )
    max_concurrency: int = Field(8, gt=0, description="Requests on their way at once.")
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

    @field_validator("api_key_env")
    @classmethod
    def _name_not_key(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):
            raise ConfigError(
                "endpoint.api_key_env is the name of an environment variable in capitals (such as "
                "OPENAI_API_KEY), never the key itself. If a key stood there, it should be revoked."
            )
        return name

    @field_validator("extra_body")
    @classmethod
    def _fields_of_its_own(cls, body: dict[str, Any]) -> dict[str, Any]:
        taken = sorted(body.keys() & _OWN_FIELDS)
        if taken:
            raise ValueError(f"extra_body holds {taken[0]}, which every request has already")
        try:
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"extra_body cannot be written as JSON: {error}") from error
        return body

    @model_validator(mode="after")
    def _limits_make_sense(self) -> ServedEndpoint:
        if self.deadline < self.timeout:
            raise ValueError(
                f"deadline ({self.deadline:g} s) is shorter than one timeout ({self.timeout:g} s)"
            )
        if self.max_cost is not None and not self.has_price:
            raise ValueError("max_cost needs a price: without it nothing can be counted")
        return self

    def __hash__(self) -> int:
        # a mapping among the fields has no hash of its own
        return hash(self.model_dump_json())

    @property
    def has_price(self) -> bool:
        """Whether costs can be told."""
        return self.price is not None

    def cost(self, tokens: float, requests: float) -> float | None:
        """What so many tokens in so many requests cost; None without a price."""
        return None if self.price is None else tokens * self.price / PER_MILLION

    def facts(self) -> list[Any]:
        """All that decides a number besides the texts: the name of the model and what is sent with them.

        Where it is served does not: one model gives the same numbers everywhere.
        """
        return [self.model, self.extra_body, {k.lower(): v for k, v in self.headers.items()}]

    def secrets(self) -> dict[str, str]:
        """The headers with secrets, read from the environment; raises ConfigError that never shows one."""
        found = read_secret_headers(self.headers_env, "endpoint.")
        if self.api_key_env is None:
            return found
        if not os.environ.get(self.api_key_env, "").strip():
            raise ConfigError(
                f"The key of {self.model} is missing: the environment variable {self.api_key_env} is not "
                "set. Set it, name another one in endpoint.api_key_env, or write null there if the endpoint "
                "needs no key."
            )
        read = read_secret_headers({"Authorization": self.api_key_env}, "endpoint.")
        return {**found, "Authorization": f"Bearer {read['Authorization']}"}

    def problem(self) -> str:
        """What keeps the endpoint from being asked, such as a key that is not set; it is not asked."""
        try:
            self.secrets()
        except ConfigError as error:
            return str(error)
        return ""


class EmbeddingEndpoint(ServedEndpoint):
    """An endpoint of embeddings by OpenAI's protocol: OpenAI, Mistral, Jina, vLLM, TEI, Ollama."""

    base_url: str = Field(
        "https://api.openai.com/v1", description="The address, up to and with `/v1`; `/embeddings` follows."
    )
    api_key_env: str | None = Field(
        "OPENAI_API_KEY",
        description="The *name* of the environment variable with the key, never the key; null: none is "
        "needed.",
    )
    dimensions: int | None = Field(
        None, ge=1, description="Ask for vectors of this length, where the model can; not sent when null."
    )
    texts_per_request: int = Field(32, ge=1, le=2048, description="Texts in one request.")

    def facts(self) -> list[Any]:
        """The length of the vectors too."""
        return ["embeddings", *super().facts(), self.dimensions]


class RerankEndpoint(ServedEndpoint):
    """An endpoint that scores documents for a query: Cohere, Jina, Voyage, vLLM, TEI."""

    base_url: str = Field(
        description="The address, such as `https://api.cohere.com/v2` or `http://localhost:8080`; `/rerank` "
        "follows."
    )
    form: Literal["cohere", "tei"] = Field(
        "cohere",
        description="What is sent and answered: `cohere` {model, query, documents, top_n} → results "
        "[{index, relevance_score}], as Jina and vLLM have it; `tei` {query, texts} → [{index, score}].",
    )
    price_per_request: float | None = Field(
        None, ge=0, description="Beside or instead of `price`, where a search is what is billed."
    )
    documents_per_request: int = Field(32, ge=1, le=1000, description="Documents in one request.")

    @property
    def has_price(self) -> bool:
        """Whether costs can be told."""
        return self.price is not None or self.price_per_request is not None

    def cost(self, tokens: float, requests: float) -> float | None:
        """What so many tokens in so many requests cost; None without a price."""
        if not self.has_price:
            return None
        return tokens * (self.price or 0.0) / PER_MILLION + requests * (self.price_per_request or 0.0)

    def facts(self) -> list[Any]:
        """The form is none of them."""
        return ["rerank", *super().facts()]
