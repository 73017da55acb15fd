"""The one place that speaks HTTP, so that one set of rules holds for all that is called.

No redirect is followed: it would send keys and prompts to an address that nobody named. No compressed reply
is read: a few bytes may unpack to gigabytes. No reply is read beyond MOST_BYTES, no completion beyond
MOST_BYTES_OF_CHAT. No header is sent that the endpoint does not have. No secret is in what comes back, in an
error or in a log. The rules are those of the client of httpx2, so they hold for a library that is handed it.
"""

from __future__ import annotations

import asyncio
import base64
import html
import json
import logging
import os
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from harness.models.llm.endpoint import HttpConfig
from harness.models.llm.faults import (
    BROKEN,
    LONGEST_NAME,
    CallError,
    ErrorBody,
    TooLargeError,
    classify_status,
    one_line,
    read_body,
)
from harness.models.llm.untrusted import MOST_BYTES, UntrustedJsonError, read_json

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
# Bytes that take some hundredths of a second to read.
_LONG = 1_000_000
MARK = "[key]"
SHORTEST = 8
"""A shorter key, such as EMPTY for one's own server, is not a secret, and its letters occur in any text."""
_PIECE = 12
# The variables that name certificates of one's own.
_WHERE = ("SSL_CERT_FILE", "SSL_CERT_DIR")
# Headers that a request has besides those of its endpoint. By the last one the package openai knows that a
# reply is wanted as it came.
_OF_HTTP = {
    *("accept", "connection", "content-length", "content-type", "transfer-encoding"),
    *("user-agent", "x-stainless-raw-response"),
}


class Secret:
    """A key, and the values of secret headers, which are never shown."""

    def __init__(self, *secrets: str) -> None:
        kept = [secret for secret in secrets if len(secret) >= SHORTEST]
        self._pattern = _pattern(kept) if kept else None

    def cut(self, text: Any, longest: int | None = None) -> str:
        """Text, or whatever is in its place, without the key; at most ``longest`` characters of it.

        The key is found in any case, encoded for a URL, JSON, HTML, a representation in Python or in base64,
        and in part: of its letters no run of 12 is left.
        """
        cleaned = text if isinstance(text, str) else "" if text is None else str(text)
        if not cleaned.isascii():
            # half a character, which JSON may hold and no file can
            cleaned = cleaned.encode("utf-8", "replace").decode()
        parts: list[str] = []
        end = 0
        for match in self._pattern.finditer(cleaned) if self._pattern else ():
            # matches overlap: those of one copy of the key make one mark
            if match.start() > end or not parts:
                parts += [cleaned[end : match.start()], MARK]
            end = max(end, match.end(1))
        return "".join([*parts, cleaned[end:]])[:longest]


def due(seconds: float) -> float:
    """The time of the running loop that is so many seconds away."""
    return asyncio.get_running_loop().time() + seconds


class Connection:
    """Requests with the headers of an endpoint; its secrets are cut out of all that comes back.

    A reply may have ``most`` bytes.
    """

    def __init__(self, limits: HttpConfig, most: int = MOST_BYTES) -> None:
        import httpx2

        secret = limits.secret_headers()
        self.secret = Secret(*(value.removeprefix("Bearer ") for value in secret.values()))
        self._headers = {**limits.headers, **secret, "Accept-Encoding": "identity"}
        self._most = most
        # who sends limits the time and the number of requests
        self._http = httpx2.AsyncClient(
            verify=_certificates(*map(os.environ.get, _WHERE)),
            timeout=None,
            limits=httpx2.Limits(),
            follow_redirects=False,
            event_hooks={"request": [self._set_headers], "response": [self._limit]},
        )
        for library in ("httpx2", "httpcore2"):
            # they log headers of replies, which may repeat a secret
            logging.getLogger(library).setLevel(logging.WARNING)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def clean(self, text: str) -> str:
        """Words of the endpoint as one line without the secrets."""
        return one_line(self.secret.cut(text))

    def shown(self, content: bytes) -> str:
        """The first words of a reply, as ``clean`` gives them."""
        return self.clean(content[:300].decode("utf-8", "replace"))[:120]

    async def send(
        self, method: str, url: str, timeout: float, **sent: Any
    ) -> tuple[int, bytes, dict[str, str]]:
        """Status, content and headers, names in lower case, of a reply; ``sent`` are arguments of httpx2.

        ``timeout``, in seconds, bounds the whole exchange, a dripping reply included. Raises CallError
        without a whole reply.
        """
        return await self.received(self._http.request(method, url, **sent), timeout)

    async def received(
        self, reply: Awaitable[httpx2.Response], timeout: float
    ) -> tuple[int, bytes, dict[str, str]]:
        """Status, content and headers of what a request by the client of httpx2 brings, as ``send``."""
        import anyio
        import httpx2

        unsent = (httpx2.ConnectError, httpx2.PoolTimeout, httpx2.ProxyError, httpx2.UnsupportedProtocol)
        try:
            async with asyncio.timeout(timeout):
                response = await reply
        except TimeoutError:
            words = f"no complete answer within {timeout:g} s"
            raise CallError("timeout", words, again=True, billed=True) from None
        except httpx2.InvalidURL as error:
            raise CallError("no_address", f"its address is none: {self.clean(str(error))}") from None
        except (httpx2.HTTPError, ssl.SSLError, anyio.EndOfStream) as error:
            words = self.clean(str(error)) or type(error).__name__
            if isinstance(error, unsent):
                raise CallError("connection", f"no answer from the endpoint: {words}", again=True) from None
            raise CallError("cut_off", f"the connection broke: {words}", again=True, billed=True) from None
        headers = {name.lower(): self.secret.cut(value) for name, value in response.headers.items()}
        return response.status_code, response.content, headers

    async def content(
        self, method: str, url: str, timeout: float, **sent: Any
    ) -> tuple[bytes, dict[str, str]]:
        """Content and headers of a reply of success; raises CallError, for any other with its message."""
        return self.of_success(*await self.send(method, url, timeout, **sent))

    def of_success(
        self, status: int, content: bytes, headers: dict[str, str]
    ) -> tuple[bytes, dict[str, str]]:
        """Content and headers, if it is a reply of success; raises CallError."""
        if not 200 <= status < 300:
            raise self.failure(status, read_body(content), headers)
        return content, headers

    def failure(self, status: int, error: ErrorBody, headers: Mapping[str, str]) -> CallError:
        """The fault that an HTTP error is, with the endpoint's own message."""
        code, parameter = (self.secret.cut(part, LONGEST_NAME) for part in (error.code, error.parameter))
        return classify_status(status, ErrorBody(self.clean(error.words), code, parameter), headers)

    async def json(self, content: bytes, use: Callable[[Any], T], until: float) -> T:
        """What ``use`` makes of the value in a reply; raises CallError where there is none, or two.

        A long one is read and used in a thread: meanwhile other replies are taken, and a stop is heeded. It
        belongs to the exchange, which has to end at ``until``, a time of the running loop.
        """

        def read() -> T:
            return use(read_json(content))

        try:
            if len(content) <= _LONG:
                return read()
            async with asyncio.timeout_at(until):
                return await asyncio.to_thread(read)
        except UntrustedJsonError as error:
            words = f"{error}: {self.shown(content)!r}"
            raise CallError(BROKEN, words, again=True, billed=True) from None
        except TimeoutError:
            words = f"its {len(content):,} bytes could not be read in time"
            raise CallError("timeout", words, again=True, billed=True) from None

    async def _set_headers(self, request: httpx2.Request) -> None:
        """Leave the headers of the endpoint alone: libraries add those that they find in the environment."""
        for name in set(request.headers) - _OF_HTTP:
            del request.headers[name]
        request.headers["Host"] = request.url.netloc.decode("ascii")
        self._http.cookies.set_cookie_header(request)
        request.headers.update(self._headers)

    async def _limit(self, response: httpx2.Response) -> None:
        """Refuse a compressed reply before it is read, and have the first byte beyond the most refused."""
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            raise CallError(
                BROKEN,
                f"the reply is compressed ({self.clean(encoding)[:40]}), which was not asked for and is not "
                "unpacked. Let the server, or the proxy before it, heed the header Accept-Encoding: identity",
                again=True,
                billed=True,
            )
        response.stream = _limited(response.stream, self._most)


def _limited(stream: Any, most: int) -> httpx2.AsyncByteStream:
    """The stream of a reply, which raises CallError at the first byte beyond ``most``."""
    import httpx2

    class Limited(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in stream:
                size += len(part)
                if size > most:
                    words = f"the reply is larger than {most:,} bytes"
                    raise TooLargeError(BROKEN, words, again=True, billed=True)
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    return Limited()


@cache
def _certificates(file: str | None, folder: str | None) -> ssl.SSLContext:
    """The certificates that are trusted, read once a process for each place: it takes 20 ms."""
    import certifi

    if not file and folder:
        return ssl.create_default_context(capath=folder)
    return ssl.create_default_context(cafile=file or certifi.where())


def _pattern(secrets: list[str]) -> re.Pattern[str]:
    """Matches every run of letters of a secret in any of its forms, runs that overlap too, as group 1."""
    runs = {run for secret in secrets for run in _runs(secret)}
    return re.compile(f"(?=({'|'.join(map(re.escape, sorted(runs)))}))", re.IGNORECASE)


def _runs(secret: str) -> set[str]:
    forms = {
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        html.escape(secret),
        base64.b64encode(secret.encode()).decode().rstrip("="),
    }
    size = min(_PIECE, len(secret))
    return {form[at : at + size] for form in forms for at in range(len(form) - size + 1)}
