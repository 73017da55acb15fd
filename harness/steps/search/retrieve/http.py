"""A retriever behind HTTP: a user-defined service ranks the chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from harness.models import Method, Template, fill, names_in
from harness.steps.custom.sending import Message, send
from harness.steps.custom.service import ServiceConfig, Url, known_names
from harness.steps.search.needs import Answers, Fingerprints
from harness.steps.search.passages import Passages
from harness.steps.search.retrieve.returned import asked_depth, rankings_of
from harness.steps.search.step import Fingerprint, Identity, RetrievalResult, Retriever, RetrieverConfig
from harness.values import Query, Run, StageConfig

_PASSAGES = ("passages", "texts", "ids", "collection")


class IndexRequest(StageConfig):
    """How the service is given the chunks before it is asked for the first time."""

    url: Url = Field(description="The URL the chunks are sent to.")
    method: Method = Field("POST", description="The HTTP method.")
    request: Template = Field(
        description="The request body: `{{ passages }}` (a list of `{id, text}`), `{{ ids }}`, "
        "`{{ texts }}`, `{{ collection }}`."
    )
    batch_size: int = Field(100, ge=1, description="Chunks in one request.")

    @field_validator("request")
    @classmethod
    def _sends_texts(cls, request: dict[str, Any]) -> dict[str, Any]:
        if not known_names(request, _PASSAGES) & {"passages", "texts"}:
            raise ValueError("the request must have {{ passages }} or {{ texts }}")
        return request


class HttpRetrieverConfig(ServiceConfig, RetrieverConfig):
    """A service of your own ranks the chunks."""

    other_names = ("k", *_PASSAGES)
    kind: Literal["http"] = "http"
    index: IndexRequest | None = Field(
        None,
        description="A section with url, method, request and batch_size: how the chunks are sent to "
        "the service. They are sent before every search that is not cached, so sending the same ids again "
        "must not be an error. Empty: the chunks are part of the search request.",
    )

    @model_validator(mode="after")
    def _is_given_the_chunks(self) -> HttpRetrieverConfig:
        if self.index is None and not names_in(self.request) & {"passages", "texts"}:
            raise ValueError(
                "the service never sees the chunks: send them by an `index` section, or with every query as "
                "{{ passages }} or {{ texts }} in the request"
            )
        return self


class HttpRetriever(Retriever[HttpRetrieverConfig]):
    """Asks the service query by query, or several in one request; stores every answer as it arrives.

    ``response`` finds, for a query, a list of hits as ``returned`` describes them, or a list of such lists.
    """

    one_by_one = True

    def identity(self, fingerprint: Fingerprint) -> Identity:
        """The settings of the user, and the request to the service."""
        c = self.config
        index = None if c.index is None else [c.index.url, c.index.method, c.index.request]
        return ["http", c.service_facts(), index, c.top_k, c.top_chars]

    def run(self, passages: Passages, queries: Sequence[Query]) -> Run[RetrievalResult]:
        """Send the chunks where they are to be sent, then the queries whose answer is not kept."""
        c = self.config
        k = asked_depth(c, passages)
        fingerprint = yield Fingerprints()
        facts = self.identity(fingerprint)
        texts = [(["http", facts, passages.key, k, query.text], query.text) for query in queries]
        request = {**_of_passages(passages, slice(None)), "k": k}

        def read(answer: Any, queries: list[str]) -> Any:
            rankings_of(
                c.broken, answer, [Query(f"{text!r}", text, "train") for text in queries], passages, c
            )
            return answer

        answers = yield Answers(c, texts, "retrieve", request, read, lambda: self._index(passages))
        return RetrievalResult(rankings_of(c.broken, answers, queries, passages, c))

    def _index(self, passages: Passages) -> None:
        index = self.config.index
        if index is None:
            return
        parts = [
            slice(start, start + index.batch_size) for start in range(0, len(passages.ids), index.batch_size)
        ]
        bodies = [fill(index.request, _of_passages(passages, part)) for part in parts]
        messages = [Message(body, index.url, index.method, None) for body in bodies]
        send(self.config, messages, lambda place, answer: None)


def _of_passages(passages: Passages, part: slice) -> dict[str, Any]:
    ids, texts = passages.ids[part], passages.texts[part]
    both = [{"id": passage_id, "text": text} for passage_id, text in zip(ids, texts, strict=True)]
    # a name that a service can give to a collection
    return {"passages": both, "ids": list(ids), "texts": list(texts), "collection": f"c{passages.key[:16]}"}
