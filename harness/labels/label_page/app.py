"""The page's own server: each route passes a request to the service and returns its answer as JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import partial
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from harness.labels.label_page.guard import Guard, Keys
from harness.labels.label_page.items import Rating, UnknownItemError
from harness.labels.label_page.service import LabelService
from harness.labels.label_page.state import Envelope
from harness.models import UntrustedJsonError, read_json
from harness.values import LabelError

LARGEST_REQUEST = 256_000
Given = Mapping[str, Any]
# fields that the page sends with every request; the rest is for the handler
_ENVELOPE = {one.name for one in fields(Envelope)}
Read = Callable[[LabelService, Given], Any]
Write = Callable[[LabelService, Envelope, Given], Any]
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


def make_app(service: LabelService, keys: Keys) -> ASGIApp:
    """The whole application behind its guard."""
    assets = {name: entry.read_bytes() for name, entry in ASSETS.items()}
    routes = [
        Route("/", partial(_asset, assets, "page.html")),
        Route("/assets/{name}", partial(_asset, assets, "")),
    ]
    routes.append(Route("/api/picture", partial(_picture, service)))
    routes += [Route(f"/api/{name}", partial(_read, service, read)) for name, read in READS.items()]
    routes += [
        Route(f"/api/{name}", partial(_write, partial(_change, service, write)), methods=["POST"])
        for name, write in WRITES.items()
    ]
    routes.append(Route("/api/enter", partial(_write, partial(_enter, service)), methods=["POST"]))
    return Guard(Starlette(routes=routes), keys)


READS: dict[str, Read] = {
    "about": lambda service, given: service.about(),
    "step": lambda service, given: service.step(
        service.name(given["rater"]),
        given.get("item", ""),
        given.get("after", ""),
        given.get("back") == "yes",
    ),
    "marks": lambda service, given: {"marks": service.marks(service.name(given["rater"]), given["query"])},
    "leaf": lambda service, given: asdict(
        service.document_part(given["doc"], _whole(given, "offset"), _whole(given, "part"))
    ),
    "find": lambda service, given: {"found": service.find(given["q"], given.get("doc", ""))},
    "copies": lambda service, given: {
        "copies": service.copies(given["doc"], _number(given, "start"), _number(given, "end"))
    },
    "questions": lambda service, given: service.question_list(
        service.name(given["rater"]), _number(given, "begin")
    ),
    "agreement": lambda service, given: service.agreement(),
    "verdict": lambda service, given: service.firmness(given.get("fresh") == "yes"),
    "disagreements": lambda service, given: service.disagreements(
        service.name(given["rater"]), _number(given, "begin")
    ),
}


def _enter(service: LabelService, given: Given) -> Any:
    inside = _inside(given)
    # anything else that was sent would be lost silently
    if other := inside.keys() - {"item"}:
        raise LabelError(f"Nothing was saved: enter takes rater and item, not {', '.join(sorted(other))}.")
    return service.enter(given["rater"], _item(inside) if "item" in inside else "")


def _change(service: LabelService, write: Write, given: Given) -> Any:
    return write(service, _by(service, given), _inside(given))


def _by(service: LabelService, given: Given) -> Envelope:
    """The envelope of a request; raises LabelError for one that is not the page's."""
    request, tab, seconds = given["request"], given.get("tab", ""), given.get("seconds")
    if not (isinstance(request, str) and isinstance(tab, str) and 8 <= len(request) <= 80 and len(tab) <= 80):
        raise LabelError("The request has no number of its own. Load the page again.")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float)):
        raise LabelError("The time of an item is a number of seconds.")
    return Envelope(service.name(given["rater"]), request, tab, seconds)


def _inside(given: Given) -> Given:
    """A request without its envelope."""
    return {name: value for name, value in given.items() if name not in _ENVELOPE}


def _rate(service: LabelService, by: Envelope, given: Given) -> Any:
    answer = service.rate(by, _item(given), given["kind"], given["value"], _number(given, "seen"))
    if given.get("next"):
        # with the next passage, so that a key takes one request
        answer["next"] = service.step(by.rater, after=given["item"])
    return answer


def _mark(service: LabelService, by: Envelope, given: Given) -> Any:
    span = str(given["doc"]), _number(given, "start"), _number(given, "end")
    rating = Rating(given["grade"], "", given.get("note", ""), given.get("evidence", ""))
    return service.mark(by, given["query"], span, given["text"], rating)


WRITES: dict[str, Write] = {
    "say": _rate,
    "undo": lambda service, by, given: service.undo(by),
    "mark": _mark,
    "decide": lambda service, by, given: service.decide(
        by, _item(given), given["grade"], given.get("note", "")
    ),
}


def _asset(assets: Mapping[str, bytes], name: str, request: Request) -> Response:
    name = name or request.path_params["name"]
    kind = _TYPES.get(name[name.rfind(".") :])
    if name not in assets or kind is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    return Response(assets[name], headers={"content-type": kind})


async def _picture(service: LabelService, request: Request) -> Response:
    given = dict(request.query_params)

    def drawn() -> Response:
        return Response(service.store.picture(given["doc"], _number(given, "page")), media_type="image/png")

    return await _answered(drawn)


async def _read(service: LabelService, read: Read, request: Request) -> Response:
    given = dict(request.query_params)
    return await _answered(lambda: _json(read(service, given)))


async def _write(work: Callable[[Given], Any], request: Request) -> Response:
    try:
        body = await _body(request)
    except ClientDisconnect:
        # the request did not arrive in full, so nobody waits for an answer
        return Response(status_code=400)
    if body is None:
        return _json({"error": f"A request has at most {LARGEST_REQUEST} bytes."}, 413)
    try:
        given = read_json(body)
    except UntrustedJsonError:
        given = None
    if not isinstance(given, dict):
        return _json({"error": "Send a JSON object."}, 400)
    return await _answered(lambda: _json(work(given)))


async def _body(request: Request) -> bytes | None:
    """The body of a request; None if it is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_REQUEST:
            return None
    return body


async def _answered(work: Callable[[], Response]) -> Response:
    """Do the work in a thread; a failure is answered with its message."""
    try:
        return await run_in_threadpool(work)
    except UnknownItemError as error:
        return _json({"error": str(error)}, 404)
    except LabelError as error:
        return _json({"error": str(error)}, 400)
    except (KeyError, TypeError, AttributeError) as error:
        return _json({"error": f"The request is not one of this page ({error}). Load the page again."}, 400)
    except (sqlite3.Error, OSError) as error:
        return _json({"error": f"Not saved: {error}. Check the disk; the page tries again."}, 503)


def _json(value: Any, status: int = 200) -> Response:
    # in ASCII: half of a character, which some documents hold, cannot be written as UTF-8
    return Response(json.dumps(value), status, media_type="application/json")


def _item(given: Given) -> str:
    if not isinstance(given["item"], str):
        raise LabelError("The request names no passage. Load the page again.")
    return given["item"]


def _number(given: Given, name: str) -> int:
    value = _whole(given, name)
    if value is None:
        raise LabelError(f"The request lacks {name}. Load the page again.")
    return value


def _whole(given: Given, name: str) -> int | None:
    value = given.get(name)
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit() and len(value) < 12):
            raise LabelError(f"{name} is {value!r}, not a number.")
        return int(value)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise LabelError(f"{name} is {value!r}, not a number.")
    return value
