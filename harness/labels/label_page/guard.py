"""Access to the page: only for a browser on this machine that was given the link, and no other web page."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_GO_ON = '<!doctype html><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=/">'
_READS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets of one start of the program: ``token`` is in the link, ``cookie`` in the browser."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def link(self) -> str:
        """The link to open."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def name(self) -> str:
        """The name of the cookie; browsers share cookies between the ports of a machine."""
        return f"harness_label_{self.port}"

    @property
    def hosts(self) -> tuple[str, str]:
        """The local names of this machine; an attacker may point any other name here."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"


class Guard:
    """Lets requests from the page through, and gives the cookie to whoever has the link."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on; every answer gets the headers that keep other pages out."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._refused(scope) or self._admitted(scope)
        await (answer or self._app)(scope, receive, guarded)

    def _refused(self, scope: Scope) -> Response | None:
        """The answer that refuses a request which is not of this page; None where it is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._keys.hosts:
            return PlainTextResponse("This page is for 127.0.0.1 only.", 421)
        if scope["method"] in _READS:
            if scope["path"] != "/" and headers.get("sec-fetch-site", "same-origin") not in (
                "same-origin",
                "none",
            ):
                return PlainTextResponse("Another page may not read this.", 403)
            return None
        if headers.get("origin") != f"http://{host}":
            return PlainTextResponse("Another page may not write here.", 403)
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return PlainTextResponse("Send JSON.", 415)
        return None

    def _admitted(self, scope: Scope) -> Response | None:
        """The answer that sets the cookie for whoever has the link, or refuses without both; None to admit.

        The page goes on by itself: after a redirect from a file, a browser would hold the cookie back
        (samesite=strict).
        """
        request = Request(scope)
        if scope["path"] == "/" and _equal(request.query_params.get("token", ""), self._keys.token):
            answer = HTMLResponse(_GO_ON)
            answer.set_cookie(self._keys.name, self._keys.cookie, httponly=True, samesite="strict")
            return answer
        if _equal(request.cookies.get(self._keys.name, ""), self._keys.cookie):
            return None
        return PlainTextResponse("Open the link that harness label has printed; it holds the key.", 403)


def _equal(sent: str, secret: str) -> bool:
    return hmac.compare_digest(sent.encode("utf-8", "replace"), secret.encode())
