"""The one place that opens HTTP clients, so that one set of rules holds for all of them.

No redirect is followed: it would send keys and prompts to an address that nobody named. No compressed reply
is read: a few bytes may unpack to gigabytes. No reply is read beyond MOST_BYTES, no completion beyond
MOST_BYTES_OF_CHAT.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

from harness.models.llm.untrusted import MOST_BYTES, MOST_BYTES_OF_CHAT

REDIRECTS = {301, 302, 303, 307, 308}
# Bytes that take some hundredths of a second to read.
_LONG = 1_000_000

T = TypeVar("T")


def open_client(headers: Mapping[str, str]) -> Any:
    """A client of httpx with these headers; the caller limits the time of each request."""
    import httpx

    return httpx.AsyncClient(
        headers=_with_encoding(headers), timeout=None, event_hooks=_hooks(), follow_redirects=False
    )


def client_of_openai() -> Any:
    """The client that the openai library sends through, by the same rules."""
    import openai

    return openai.DefaultAsyncHttpxClient(
        headers=_with_encoding({}), event_hooks=_hooks(), follow_redirects=False
    )


def redirected(headers: Mapping[str, str]) -> str:
    """What to say of a redirect, with where it leads."""
    where = {name.lower(): value for name, value in headers.items()}.get("location", "")
    to = f" to {where[:200]}" if where else ""
    return (
        f"it redirects{to}, and no redirect is followed, since keys and texts would go there. If that is "
        "where it is served, give this address in the configuration"
    )


async def unblocked(size: int, read: Callable[[], T]) -> T:
    """What ``read`` makes of a reply of so many bytes; in a thread where it is long.

    Meanwhile other replies are taken, and a stop is heeded.
    """
    return await asyncio.to_thread(read) if size > _LONG else read()


def _with_encoding(headers: Mapping[str, str]) -> dict[str, str]:
    return {**headers, "Accept-Encoding": "identity"}


def _hooks() -> dict[str, list[Any]]:
    return {"response": [_limit]}


async def _limit(response: Any) -> None:
    """Refuse a compressed reply before it is read, and one that is too long while it is."""
    # httpx, or the one of two libraries by that design that openai uses
    library = import_module(type(response).__module__.partition(".")[0])
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        await response.aclose()
        raise library.DecodingError(
            f"the reply is compressed ({encoding[:40]}), which was not asked for and is not unpacked. Let "
            "the server, or the proxy before it, heed the header Accept-Encoding: identity"
        )
    chat = response.request.url.path.endswith("/chat/completions")
    response.stream = _limited(response.stream, library, MOST_BYTES_OF_CHAT if chat else MOST_BYTES)


def _limited(stream: Any, library: Any, most: int) -> Any:
    class Limited(library.AsyncByteStream):  # type: ignore[misc]
        """A stream that ends with an error where it is longer than ``most`` bytes."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for part in stream:
                read += len(part)
                if read > most:
                    raise library.DecodingError(f"the reply is larger than {most:,} bytes")
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    return Limited()
