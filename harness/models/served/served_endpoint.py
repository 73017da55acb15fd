"""An embedding model or a reranker behind an endpoint: address, price, limits, and templates of requests."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harness.models.expressions import compiled, match
from harness.models.llm.endpoint import HttpEndpoint, OpenAIEndpoint, PlainUrl, as_json
from harness.models.llm.money import PER_MILLION
from harness.values import text_sha256

_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")
Method = Literal["POST", "PUT", "GET"]
Template = Annotated[dict[str, Any], AfterValidator(as_json)]


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with every name replaced.

    A text that is one name and nothing else becomes the value itself, a list or a number as well; a name
    within a text becomes text, of anything but text its JSON.
    """
    if isinstance(template, str):
        whole = _NAME.fullmatch(template.strip())
        if whole:
            return values[whole[1]]
        return _NAME.sub(lambda marker: as_text(values[marker[1]]), template)
    if isinstance(template, Mapping):
        return {key: fill(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill(value, values) for value in template]
    return template


def names_in(template: Any) -> set[str]:
    """The names that a template has."""
    asked_for: defaultdict[str, str] = defaultdict(str)
    fill(template, asked_for)
    return set(asked_for)


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def carried(method: Method, body: Any) -> dict[str, Any]:
    """How a body goes, as an argument of httpx2: as JSON, or by GET as the query of the URL."""
    if method == "GET":
        return {"params": {name: as_text(value) for name, value in body.items()}}
    return {"json": body}


def search(expression: str, data: Any) -> Any:
    """What an expression finds in the JSON of an answer; raises ValueError with words for such an answer."""
    try:
        value = match(expression, data)
    except ValueError as error:
        raise ValueError(f"an answer that response ({expression}) cannot be applied to: {error}") from None
    if value is None:
        raise ValueError(f"an answer in which response ({expression}) matches nothing")
    return value


def _can_be_searched(expression: str) -> str:
    compiled(expression)
    return expression


Expression = Annotated[str, AfterValidator(_can_be_searched)]


_OWN_FIELDS = ("model", "input", "encoding_format", "dimensions", "query", "documents", "texts", "top_n")


class ServedEndpoint(HttpEndpoint):
    """Base of the endpoints that give numbers for texts."""

    own_fields: ClassVar[Mapping[str, str]] = dict.fromkeys(_OWN_FIELDS, "every request has it already")

    price: float | None = Field(None, ge=0, description="Per million tokens, in a currency of your choice.")
    max_cost: float | None = Field(
        None, gt=0, description="What one run may spend here, in the currency of `price`; it can be resumed."
    )
    max_calls: int | None = Field(None, gt=0, description="How many requests one run may make here.")

    @model_validator(mode="after")
    def _a_limit_needs_a_price(self) -> Self:
        if self.max_cost is not None and self.cost(0, 0) is None:
            raise ValueError("max_cost needs a price: without one, costs cannot be counted")
        return self

    def cost(self, tokens: float, requests: float) -> float | None:
        """The price of so many tokens in so many requests; None without a price."""
        return None if self.price is None else tokens * self.price / PER_MILLION

    def facts(self) -> list[Any]:
        """All that decides a number besides the texts: the name of the model and what is sent with them.

        Where it is served does not: one model gives the same numbers everywhere.
        """
        return [self.model, self.extra_body, {k.lower(): v for k, v in self.headers.items()}]

    @property
    def fingerprint(self) -> str:
        """The hash of these facts."""
        return text_sha256(json.dumps(self.facts(), sort_keys=True))


class EmbeddingEndpoint(ServedEndpoint, OpenAIEndpoint):
    """An endpoint of embeddings by OpenAI's protocol: OpenAI, Azure, Mistral, Jina, vLLM, TEI, Ollama."""

    base_url: PlainUrl = Field(
        "https://api.openai.com/v1",
        description="The address, including `/v1`; `/embeddings` follows.",
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

    api_key_env: str | None = Field(
        None, description="The *name* of the environment variable with the key, never the key; null: none."
    )
    base_url: PlainUrl = Field(
        description="The address, such as `https://api.cohere.com/v2` or `http://localhost:8080`; `path` "
        "follows."
    )
    form: Literal["cohere", "tei"] = Field(
        "cohere",
        description="What is sent and answered: `cohere` {model, query, documents, top_n} → results "
        "[{index, relevance_score}], also for Jina and vLLM; `tei` {query, texts} → [{index, score}].",
    )
    price_per_request: float | None = Field(
        None, ge=0, description="In addition to or instead of `price`, where searches are billed."
    )
    path: str = Field("/rerank", description="What follows `base_url`.", pattern="^(/[^?#]*)?$")
    request: Template | None = Field(
        None,
        description="The request of a service of another form, with `{{ query }}` and `{{ passages }}`, a "
        "list of texts; docs/own-steps.md.",
    )
    response: Expression = Field(
        "@",
        description="With `request`: a JMESPath expression that finds a score for each passage, in their "
        "order or as `{index, score}`.",
    )
    method: Method = Field(
        "POST",
        description="With `request`: `POST` and `PUT` send it as JSON, `GET` as the query of the URL.",
    )
    version: str = Field(
        "",
        description="With `request`: you set it; scores are kept under it. Change it when the service "
        "changes.",
    )
    documents_per_request: int = Field(32, ge=1, le=1000, description="Documents in one request.")

    @model_validator(mode="after")
    def _check_request(self) -> Self:
        if self.request is None:
            # A dump of an endpoint names the defaults, so that what is set does not count.
            if self.response != "@" or self.method != "POST" or self.version:
                raise ValueError(
                    "response, method and version are for a request of your own: give request too"
                )
            return self
        if names_in(self.request) != {"query", "passages"}:
            raise ValueError(
                "the request must have {{ query }} and {{ passages }}, a list of texts, and no more"
            )
        if not self.version:
            raise ValueError(
                "a request of your own needs a version, which you change when the service changes"
            )
        if self.form != "cohere" or self.extra_body:
            raise ValueError("a request of your own takes the place of form and extra_body")
        return self

    def cost(self, tokens: float, requests: float) -> float | None:
        """The price of so many tokens in so many requests; None without a price."""
        by_tokens, each = super().cost(tokens, requests), self.price_per_request
        return by_tokens if each is None else (by_tokens or 0.0) + requests * each

    def facts(self) -> list[Any]:
        """All but the form, which changes no score; of a request of the user's own, where it goes too."""
        if self.request is None:
            return ["rerank", *super().facts()]
        sent = [self.base_url, self.path, self.method, self.request, self.response, self.version]
        return ["rerank", *super().facts(), *sent]


@dataclass(frozen=True, slots=True)
class ServedEstimate:
    """``items`` of which ``known`` are kept; for the others ``calls`` requests of about ``tokens`` tokens.

    ``noun`` says what items are; ``price`` None: no price is known.
    """

    items: int
    known: int
    calls: int
    tokens: int
    price: float | None
    noun: str

    def __str__(self) -> str:
        text = f"{self.items:,} {self.noun}: {self.calls:,} requests to make"
        text += f", {self.known:,} {self.noun} kept from before"
        if not self.calls:
            return f"{text}; nothing to pay"
        price = "price unknown: set endpoint.price" if self.price is None else f"price about {self.price:.4f}"
        return f"{text}; about {self.tokens:,} tokens to send; {price}"
