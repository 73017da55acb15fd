"""The package openai as the client of chat, embeddings, files and batches, over a connection of our own.

It knows the protocol: paths, bodies, the addresses of Azure, and the fields of replies. Four things are not
left to it: it retries nothing, since the ledger counts every try; it holds no key, since the connection sets
the headers, whatever the environment names; it parses no bytes, since its parser limits neither size nor
depth and keeps the last of two fields with one name; and it judges no reply. Replies are read as its types,
which check nothing: of 113 completions without a grade its client reads 90 as if they had one. Validated by
pydantic, 75 are still read, since the types allow any field, a tool call beside the content and a status of
failure; and 4 of 45 replies that servers document are refused, such as the thoughts of Mistral. completion.py
checks what is read. ``python -m tools.replies --typed`` counts this (openai 3.57).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote

from harness.models.llm.endpoint import OpenAIEndpoint
from harness.models.llm.http_client import Connection
from harness.models.llm.untrusted import MOST_BYTES

if TYPE_CHECKING:
    import httpx2

M = TypeVar("M")
Ask = Callable[[Any], Awaitable[Any]]
"""Makes a request, by a ``with_raw_response`` of the client that it is given."""

# The package asks for a key; this never leaves the process.
_NO_KEY = "none"


def typed(kind: type[M], value: Any) -> M:
    """An object in JSON as a model of the package; raises TypeError for any other value.

    A field has what was sent, or None, and ``model_extra`` those that the type does not know. What is within
    them stays as it came. The package's own ``construct`` types that too: it takes 50 µs for each object of a
    list, however long, and makes counts of ``true`` and ``"19"`` where a field is optional.
    """
    import openai

    if not isinstance(value, dict):
        raise TypeError("no object")
    of_type = {name: value.get(name) for name in kind.model_fields}  # type: ignore[attr-defined]
    model: Any = super(openai.BaseModel, kind).model_construct(**of_type)
    # as an argument a field could have the name of one of that method
    model.model_extra.update((name, field) for name, field in value.items() if name not in of_type)
    return cast("M", model)


class OpenAIConnection(Connection):
    """The connection to an endpoint of OpenAI's protocol, or to a resource of Azure."""

    def __init__(self, endpoint: OpenAIEndpoint, most: int = MOST_BYTES) -> None:
        super().__init__(endpoint, most)
        # it takes half a second, which belongs to no call
        import openai  # noqa: F401

        logging.getLogger("openai").setLevel(logging.WARNING)
        self._base_url, self._azure = endpoint.base_url, endpoint.azure

    async def chat(self, timeout: float, **arguments: Any) -> tuple[bytes, dict[str, str]]:
        """Content and headers of the reply to ``chat.completions.create``; raises CallError."""
        return await self.requested(
            lambda client: client.chat.completions.with_raw_response.create(**arguments), timeout
        )

    async def embeddings(self, timeout: float, **arguments: Any) -> tuple[bytes, dict[str, str]]:
        """Content and headers of the reply to ``embeddings.create``; raises CallError."""
        return await self.requested(
            lambda client: client.embeddings.with_raw_response.create(**arguments), timeout
        )

    async def requested(self, ask: Ask, timeout: float) -> tuple[bytes, dict[str, str]]:
        """Content and headers of the reply to a raw request of the package's client; raises CallError."""
        return self.of_success(*await self.received(self._response(ask), timeout))

    async def _response(self, ask: Ask) -> httpx2.Response:
        """The response as it came, whatever its status; raises what httpx2 raises."""
        import openai

        try:
            response: httpx2.Response = (await ask(self._client)).http_response
        except openai.APIStatusError as error:
            response = error.response
        except openai.APIConnectionError as error:
            # it hides what happened behind "Connection error."
            raise error.__cause__ or error from None
        return response

    @cached_property
    def _client(self) -> Any:
        """The client of the package; raises httpx2.InvalidURL."""
        import openai

        options = {"api_key": _NO_KEY, "http_client": self._http, "max_retries": 0, "timeout": None}
        azure = self._azure
        if azure is None:
            return openai.AsyncOpenAI(base_url=self._base_url.rstrip("/"), **options)
        return openai.AsyncAzureOpenAI(
            azure_endpoint=azure.endpoint,
            azure_deployment=quote(azure.deployment, safe=""),
            api_version=azure.api_version,
            **options,
        )
