"""The one place that speaks HTTP, so that one set of rules holds for all that is called.

No redirect is followed: it would send keys and prompts to an address that nobody named. No compressed reply
is read: a few bytes may unpack to gigabytes. No reply is read beyond MOST_BYTES, no completion beyond
MOST_BYTES_OF_CHAT. No secret is in what comes back, in an error or in a log.
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
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from harness.models.llm.endpoint import HttpConfig
from harness.models.llm.faults import (
    BROKEN,
    LONGEST_NAME,
    CallError,
    ErrorBody,
    classify_status,
    one_line,
    read_body,
)
from harness.models.llm.untrusted import MOST_BYTES, UntrustedJsonError, read_json

# Bytes that take some hundredths of a second to read.
_LONG = 1_000_000
MARK = "[key]"
SHORTEST = 8
"""A shorter key, such as EMPTY for one's own server, is not a secret, and its letters occur in any text."""
_PIECE = 12
# The variables that name certificates of one's own.
_WHERE = ("SSL_CERT_FILE", "SSL_CERT_DIR")


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
        for found in self._pattern.finditer(cleaned) if self._pattern else ():
            # matches overlap: those of one copy of the key make one mark
            if found.start() > end or not parts:
                parts += [cleaned[end : found.start()], MARK]
            end = max(end, found.end(1))
        return "".join([*parts, cleaned[end:]])[:longest]


class Connection:
    """Requests with the headers of an endpoint; its secrets are cut out of all that comes back."""

    def __init__(self, limits: HttpConfig) -> None:
        import httpx

        secret = limits.secret_headers()
        self.secret = Secret(*(value.removeprefix("Bearer ") for value in secret.values()))
        # who sends limits the time and the number of requests
        self._http = httpx.AsyncClient(
            verify=_certificates(*map(os.environ.get, _WHERE)),
            headers={**limits.headers, **secret, "Accept-Encoding": "identity"},
            timeout=None,
            limits=httpx.Limits(),
            follow_redirects=False,
        )
        for library in ("httpx", "httpcore"):
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
        self, method: str, url: str, timeout: float, most: int = MOST_BYTES, **sent: Any
    ) -> tuple[int, bytes, dict[str, str]]:
        """Status, content and headers, names in lower case, of a reply of at most ``most`` bytes.

        ``timeout``, in seconds, bounds the whole exchange, a dripping reply included. ``sent`` are arguments
        of httpx. Raises CallError without a whole reply.
        """
        import httpx

        unsent = (httpx.ConnectError, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
        try:
            async with asyncio.timeout(timeout), self._http.stream(method, url, **sent) as reply:
                content = await self._read(reply, most)
        except TimeoutError:
            words = f"no complete answer within {timeout:g} s"
            raise CallError("timeout", words, again=True, billed=True) from None
        except httpx.InvalidURL as error:
            raise CallError("no_address", f"its address is none: {self.clean(str(error))}") from None
        except httpx.HTTPError as error:
            words = self.clean(str(error)) or type(error).__name__
            if isinstance(error, unsent):
                raise CallError("connection", f"no answer from the endpoint: {words}", again=True) from None
            raise CallError("cut_off", f"the connection broke: {words}", again=True, billed=True) from None
        headers = {name.lower(): self.secret.cut(value) for name, value in reply.headers.items()}
        return reply.status_code, content, headers

    async def content(
        self, method: str, url: str, timeout: float, most: int = MOST_BYTES, **sent: Any
    ) -> tuple[bytes, dict[str, str]]:
        """Content and headers of a reply of success; raises CallError, for any other with its message."""
        status, content, headers = await self.send(method, url, timeout, most, **sent)
        if not 200 <= status < 300:
            raise self.failure(status, read_body(content), headers)
        return content, headers

    def failure(self, status: int, error: ErrorBody, headers: Mapping[str, str]) -> CallError:
        """The fault that an HTTP error is, with the endpoint's own message."""
        code, parameter = (self.secret.cut(part, LONGEST_NAME) for part in (error.code, error.parameter))
        return classify_status(status, ErrorBody(self.clean(error.words), code, parameter), headers)

    async def json(self, content: bytes) -> Any:
        """The value in a reply; raises CallError where there is none, or one of several that it could be.

        A long one is read in a thread: meanwhile other replies are taken, and a stop is heeded.
        """
        try:
            return await asyncio.to_thread(read_json, content) if len(content) > _LONG else read_json(content)
        except UntrustedJsonError as error:
            words = f"{error}: {self.shown(content)!r}"
            raise CallError(BROKEN, words, again=True, billed=True) from None

    async def _read(self, reply: Any, most: int) -> bytes:
        """The bytes of a reply as they come; refuses compressed ones, and the first beyond ``most``."""
        encoding = reply.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            raise CallError(
                BROKEN,
                f"the reply is compressed ({self.clean(encoding)[:40]}), which was not asked for and is not "
                "unpacked. Let the server, or the proxy before it, heed the header Accept-Encoding: identity",
                again=True,
                billed=True,
            )
        content = bytearray()
        async for part in reply.aiter_raw():
            content += part
            if len(content) > most:
                raise CallError(BROKEN, f"the reply is larger than {most:,} bytes", again=True, billed=True)
        return bytes(content)


@cache
def _certificates(*where: str | None) -> ssl.SSLContext:
    """The certificates that are trusted, read once a process for each ``where``: it takes 20 ms."""
    import httpx

    return httpx.create_ssl_context()


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
