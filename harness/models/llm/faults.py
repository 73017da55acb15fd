"""Errors of an endpoint, and their meaning for the call and for the run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, TypeVar

from harness.models.llm.endpoint import SET_BY_OWN_KEYS
from harness.models.llm.untrusted import UntrustedJsonError, read_json
from harness.values import LlmError, redacted

T = TypeVar("T")
LONGEST = 400
BROKEN = "broken_reply"
"""A reply that is none of the protocol."""
# Replies that were paid for like any other, and that nobody can read.
UNUSABLE = {BROKEN, "unusable_answer"}
REDIRECTS = {301, 302, 303, 307, 308}
# A longer body is a page, whose first words are enough.
_MOST_BYTES_OF_ERROR = 1_000_000
LONGEST_NAME = 200
"""A longer id, code or model name is invalid."""
# a tag ends where the next begins, so that many that never close are read once
_MARKUP = re.compile(r"(?s)<(script|style)\b(?:(?!<(?:script|style)\b).)*?</\1>|<[^<>]*>")
_TOO_LONG = (
    "maximum context length",
    "prompt is too long",
    "input is too long",
    "reduce the length of the messages",
    "exceeds the maximum number of tokens",
)
_FILTERED = ("content management policy", "input was flagged")
_NO_CREDIT = ("credit balance is too low", "insufficient balance", "余额不足")
# The provider, or a proxy in between, gave up waiting for an answer that may have been made.
_GAVE_UP_WAITING = {408, 504, 524}
# What a request holds, and the key of the configuration that decides it.
_KEYS = {**{name: f"endpoint.{name}" for name in SET_BY_OWN_KEYS}, "logprobs": "endpoint.top_logprobs"}


@dataclass(eq=False)
class CallError(LlmError):
    """One call brought no completion."""

    reason: str
    """The short name that a record keeps."""
    detail: str
    """What the endpoint said."""
    again: bool = field(default=False, kw_only=True)
    """Another try may help."""
    fatal: bool = field(default=False, kw_only=True)
    """No call of this run can work."""
    refused: bool = field(default=False, kw_only=True)
    """The endpoint turned this call down, and would do so again."""
    settled: bool = field(default=False, kw_only=True)
    """It is the text that it turned down, so a later run need not ask."""
    billed: bool = field(default=False, kw_only=True)
    """The call may be on the bill although its answer was not seen."""
    retry_after: float | None = field(default=None, kw_only=True)
    """The pause, in seconds, that the endpoint asked for."""
    seconds: float = field(default=0.0, init=False)
    """How long the call took."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}"


class TooLargeError(CallError):
    """The reply has more bytes than are read."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """The body of an error: message, code, and the parameter it names, if any."""

    words: str
    code: str = ""
    parameter: str = ""


def read_error(body: object) -> ErrorBody:
    """Find the words in the body of an error, JSON or text, as the servers of the protocol write it."""
    if isinstance(body, list):
        return _first_of(body)
    if not isinstance(body, Mapping):
        # A page may be long; its first words are enough.
        return ErrorBody(one_line(_MARKUP.sub(" ", str(body or "")[:10_000])))
    inner = body.get("error")
    if isinstance(inner, Mapping | str | list):
        return read_error(inner)
    detail = body.get("detail")
    if isinstance(detail, list):
        return _first_of(detail)
    words = next((body[name] for name in ("message", "msg", "detail") if body.get(name)), None)
    metadata = body.get("metadata")
    # A gateway wraps the words of the provider behind it.
    behind = metadata.get("raw") if isinstance(metadata, Mapping) else None
    text = " ".join(_text(part) for part in (words, behind) if part) or _text(body)
    location = body.get("loc")
    parameter = location[-1] if isinstance(location, list) and location else body.get("param")
    return ErrorBody(one_line(text), str(body.get("code") or ""), str(parameter or "").split(".")[-1])


def classify_status(status: int, error: ErrorBody, headers: Mapping[str, str]) -> CallError:
    """Turn an HTTP error of the chat-completions protocol into a CallError, which says what to do."""
    words, code = error.words or f"status {status} without a message", error.code
    if code in {"content_filter", "content_policy_violation"} or _mentions(words, _FILTERED):
        return CallError("content_filter", words, settled=True)
    if code == "context_length_exceeded" or status == 413 or _mentions(words, _TOO_LONG):
        return CallError("too_long", words, settled=True)
    unpaid = code in {"insufficient_quota", "billing_hard_limit_reached"} or _mentions(words, _NO_CREDIT)
    if unpaid or status == 402:
        return _fatal("no_credit", words, "Top up the account or name another key.")
    if status in REDIRECTS:
        return _fatal("redirected", redirected(headers), "")
    if status in {401, 403}:
        return _fatal("not_allowed", words, "Check the key in endpoint.api_key_env and its rights.")
    if status == 404:
        return _fatal("not_found", words, "Check endpoint.base_url and endpoint.model.")
    if status == 429:
        return CallError("rate_limited", words, again=True, retry_after=retry_after(headers))
    if status in {408, 409, 425} or status >= 500:
        billed = status in _GAVE_UP_WAITING
        return CallError(f"http_{status}", words, again=True, billed=billed, retry_after=retry_after(headers))
    return _bad_parameter(error, words) or CallError(f"http_{status}", words, refused=True)


def read_body(content: bytes) -> ErrorBody:
    """The words in the body of an error as it came, whether it is JSON or not."""
    try:
        return read_error(read_json(content, _MOST_BYTES_OF_ERROR))
    except UntrustedJsonError:
        return read_error(content[:10_000].decode("utf-8", "replace"))


def one_line(text: str) -> str:
    """Text of an endpoint as one printable line of at most 400 characters."""
    line = redacted(" ".join(text.split()))
    return "".join(char for char in line if char.isprintable())[:LONGEST]


def redirected(headers: Mapping[str, str]) -> str:
    """What to say of a redirect, with where it leads."""
    to = f" to {headers['location'][:200]}" if headers.get("location") else ""
    return (
        f"it redirects{to}, and no redirect is followed, since keys and texts would go there. If that is "
        "where it is served, give this address in the configuration"
    )


def _bad_parameter(error: ErrorBody, words: str) -> CallError | None:
    """A parameter that every call sends, and that the endpoint does not take."""
    if _mentions(words, ("response_format", "json_schema")) or error.parameter == "response_format":
        return _fatal("no_structured_output", words, "Set endpoint.structured to json_object or none.")
    parameter = error.parameter
    named = parameter if parameter in _KEYS else next((n for n in _KEYS if _names(words, n)), None)
    if named is None:
        return None
    if named == "max_tokens" and "max_completion_tokens" in words:
        advice = "Use endpoint.max_completion_tokens instead of endpoint.max_tokens."
    elif named in {"model", "max_tokens", "max_completion_tokens"}:
        advice = f"Change {_KEYS[named]}."
    else:
        advice = f"Change {_KEYS[named]}; null omits it."
    return _fatal("bad_parameter", words, advice)


def _names(words: str, parameter: str) -> bool:
    """Whether words speak of a parameter: its name in quotes, or one that is not an English word."""
    bare = "|" + rf"\b{parameter}\b" if "_" in parameter else ""
    return re.search(rf"['\"`‘“]{parameter}['\"`’”]{bare}", words) is not None


def _fatal(reason: str, words: str, advice: str) -> CallError:
    words = words if words.endswith((".", "!", "?")) else f"{words}."
    return CallError(reason, f"{words} {advice}".strip(), fatal=True)


def _mentions(words: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in words.lower() for phrase in phrases)


def _first_of(parts: list[Any]) -> ErrorBody:
    return read_error(parts[0]) if parts else ErrorBody("")


def _text(part: object) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``retry-after`` (in seconds or as a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = header_value(headers, name, float)
        if seconds is not None and 0 <= seconds < float("inf"):
            return seconds / unit
    return header_value(headers, "retry-after", partial(_seconds_until, now=now or datetime.now(UTC)))


def header_value(headers: Mapping[str, str], name: str, read: Callable[[str], T]) -> T | None:
    """What ``read`` makes of a header; None where it is missing, or is nothing that can be read.

    Whatever a reader raises, such as OverflowError for a date in the year 99999, is a fault of the header.
    """
    try:
        return read(headers[name])
    except Exception:
        return None


def _seconds_until(date: str, now: datetime) -> float:
    at = parsedate_to_datetime(date)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
