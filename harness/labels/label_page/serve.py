"""The server of the page on 127.0.0.1, until the program is asked to stop; leads a browser to it."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from html import escape
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any, Protocol

from pydantic import ConfigDict, TypeAdapter, ValidationError, validate_call
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from harness.labels.label_page.guard import Guard, Keys
from harness.labels.label_page.page_state import Envelope, UnknownItemError
from harness.models import UntrustedJsonError, read_json
from harness.values import LabelError, Stopped, on_stop, problem_in

LARGEST_REQUEST = 256_000
Sent = Mapping[str, Any]
# sent along with every request
_ENVELOPE = TypeAdapter(Envelope)
_OUTSIDE = {"rater", "request", "tab", "seconds"}
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
}
_OWN = files("harness.labels.label_page") / "assets"
_OF_THE_REPORT = files("harness.report.page") / "assets"
# name → file
ASSETS = {
    **{name: _OF_THE_REPORT / name for name in ("elements.js", "theme.css", "theme.js")},
    **{entry.name: entry for entry in _OWN.iterdir() if entry.is_file()},
}


class PageService(Protocol):
    """What a page asks of the program."""

    @property
    def page(self) -> str:
        """The file of the page itself."""

    @property
    def reads(self) -> Mapping[str, Callable[..., Any]]:
        """What the page may ask for, by the names of requests."""

    @property
    def writes(self) -> Mapping[str, Callable[..., Any]]:
        """What the page may change, by the names of requests."""

    def enter(self, rater: str, item: str = "") -> Any:
        """Begin under a name."""

    def name(self, rater: str) -> str:
        """A name as it is kept; raises LabelError for one that cannot be used."""


def make_app(service: PageService, keys: Keys) -> ASGIApp:
    """The whole application behind its guard."""
    content = {name: entry.read_bytes() for name, entry in ASSETS.items()}
    asset = partial(_asset, content, service.page)
    routes = [Route("/", asset), Route("/assets/{name}", asset)]
    for name, call in service.reads.items():
        routes.append(Route(f"/api/{name}", partial(_read, _answering(service, call, strict=False))))
    for name, call in service.writes.items():
        work = _answering(service, call, strict=True)
        routes.append(Route(f"/api/{name}", partial(_write, work), methods=["POST"]))
    return Guard(Starlette(routes=routes), keys)


def _answering(service: PageService, call: Callable[..., Any], *, strict: bool) -> Callable[[Sent], Any]:
    """A call with what a request gives for its parameters; ``strict``: of their types, no text for a number.

    The name of a rater is made the one that is kept.
    """
    names = signature(call).parameters.keys()
    checked = validate_call(config=ConfigDict(strict=strict))(call)

    def answer(sent: Sent) -> Any:
        # anything else that was sent to enter would be lost silently
        if call == service.enter and (other := sent.keys() - _OUTSIDE - names):
            listed = ", ".join(sorted(other))
            raise LabelError(f"Nothing was saved: enter takes rater and item, not {listed}.")
        sent = dict(sent)
        if isinstance(sent.get("rater"), str):
            sent["rater"] = service.name(sent["rater"])
        if "by" in names:
            outside = {name: sent[name] for name in _OUTSIDE & sent.keys()}
            sent["by"] = _ENVELOPE.validate_python(outside)
        return checked(**{name: sent[name] for name in names if name in sent})

    return answer


def _asset(assets: Mapping[str, bytes], page: str, request: Request) -> Response:
    name = request.path_params.get("name", page)
    kind = _TYPES.get(name[name.rfind(".") :])
    if name not in assets or kind is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    return Response(assets[name], headers={"content-type": kind})


async def _read(work: Callable[[Sent], Any], request: Request) -> Response:
    return await _answered(work, dict(request.query_params))


async def _write(work: Callable[[Sent], Any], request: Request) -> Response:
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_REQUEST:
                return _json({"error": f"A request has at most {LARGEST_REQUEST} bytes."}, 413)
        sent = await run_in_threadpool(read_json, bytes(body))
    except ClientDisconnect:
        # the request did not arrive in full, so nobody waits for an answer
        return Response(status_code=400)
    except UntrustedJsonError:
        sent = None
    if not isinstance(sent, dict):
        return _json({"error": "Send a JSON object."}, 400)
    return await _answered(work, sent)


async def _answered(work: Callable[[Sent], Any], sent: Sent) -> Response:
    """Do the work in a thread; a failure is answered with its message."""
    try:
        answer = await run_in_threadpool(work, sent)
    except LabelError as error:
        return _json({"error": str(error)}, 404 if isinstance(error, UnknownItemError) else 400)
    except ValidationError as error:
        problem = problem_in(error)
        return _json({"error": f"The request is not one of this page ({problem}). Load the page again."}, 400)
    except (sqlite3.Error, OSError) as error:
        return _json({"error": f"Not saved: {error}. Check the disk; the page tries again."}, 503)
    return Response(answer, media_type="image/png") if isinstance(answer, bytes) else _json(answer)


def _json(value: Any, status: int = 200) -> Response:
    # in ASCII: half of a character, which some documents hold, cannot be written as UTF-8
    return Response(json.dumps(value), status, media_type="application/json")


HOST = "127.0.0.1"
_TRIED = 100

# Bytes of the headers of a request.
_LONGEST_HEAD = 65_536
_LINK = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={link}">
<title>harness label</title>
<p><a href="{link}">Open the labelling page</a></p>
"""


def serve(service: PageService, listening: socket.socket, tell: Callable[[str], None]) -> None:
    """Answer requests until a signal comes; ``tell`` gets the link once the page can be opened."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # the program has its own way to stop
            yield

    keys = Keys(listening.getsockname()[1])
    config = uvicorn.Config(
        make_app(service, keys),
        log_level="error",
        access_log=False,
        lifespan="off",
        ws="none",
        # the other parser reads headers of any length into memory
        http="h11",
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    server = Server(config)

    def stop() -> None:
        server.should_exit = True

    try:
        with on_stop(stop):
            tell(keys.link)
            server.run(sockets=[listening])
    except Stopped:
        # that is how the page is closed: every label is on the disk
        return


@contextmanager
def listening_at(port: int) -> Iterator[socket.socket]:
    """Hold ``port`` of this machine, or the next one that is free; 0 takes any free one.

    To be taken before the documents are read, which may take long. Raises LabelError if a hundred ports from
    there on are taken.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        if os.name != "nt":
            # there it would take over the port of another program
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _bind(listening, port)
        yield listening


def _bind(listening: socket.socket, first: int) -> None:
    last = min(first + _TRIED - 1, 65535) if first else 0
    for port in range(first, last + 1):
        try:
            listening.bind((HOST, port))
            # from now on nobody else can bind it
            listening.listen()
        except OSError as error:
            if port == last:
                raise LabelError(
                    f"No port from {first} to {last} of this machine can be used ({error.strerror}). Name "
                    "another: --port 0 takes any free one."
                ) from error
        else:
            return


@contextmanager
def link_file(link: str, state: Path) -> Iterator[Path]:
    """A page beside the labels that leads to ``link``; only its owner can read it, and it is removed after.

    A command line can be read by every user of the machine. Beside the labels and not in a folder for
    temporary files, which some browsers may not read.
    """
    path = state.absolute().with_name(f"{state.name}.open.html")
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(_LINK.format(link=escape(link)))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
