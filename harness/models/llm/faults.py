"""Errors of an endpoint, and their meaning for the call and for the run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.models.llm.http_client import REDIRECTS, redirected
from harness.models.llm.retry import retry_after
from harness.models.llm.secret import Secret
from harness.models.llm.untrusted import UntrustedJsonError, read_json
from harness.values import LlmError

LONGEST = 400
# Replies that were paid for like any other, and that nobody can read.
UNUSABLE = {"broken_reply", "unusable_answer"}
# A longer body is a page, whose first words are enough.
_MOST_BYTES_OF_ERROR = 1_000_000
LONGEST_NAME = 200
"""A longer id, code or model name is invalid."""
# How httpx names what fails before a request is on its way.
_NEVER_SENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"}
_MARKUP = re.compile(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>")
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
_KEYS = {
    "model": "endpoint.model",
    "max_tokens": "endpoint.max_tokens",
    "max_completion_tokens": "endpoint.max_completion_tokens",
    "temperature": "endpoint.temperature",
    "top_p": "endpoint.top_p",
    "seed": "endpoint.seed",
    "reasoning_effort": "endpoint.reasoning_effort",
    "logprobs": "endpoint.top_logprobs",
    "top_logprobs": "endpoint.top_logprobs",
}


class CallError(LlmError):
    """One call brought no completion.

    ``reason`` is the short name that a record keeps, ``detail`` what the endpoint said. ``again``: another
    try may help. ``fatal``: no call of this run can work. ``refused``: the endpoint turned this call down,
    and would do so again. ``settled``: it is the text that it turned down, so a later run need not ask.
    ``billed``: the call may be on the bill although its answer was not seen. ``retry_after``: the pause, in
    seconds, that the endpoint asked for; ``seconds`` how long the call took.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        again: bool = False,
        fatal: bool = False,
        refused: bool = False,
        settled: bool = False,
        billed: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.again = again
        self.fatal = fatal
        self.refused = refused
        self.settled = settled
        self.billed = billed
        self.retry_after = retry_after
        self.seconds = 0.0


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


def failure(status: int, error: ErrorBody, headers: Mapping[str, str], secret: Secret) -> CallError:
    """Turn an HTTP error into a CallError with the endpoint's own message, without the key."""
    code, parameter = (secret.cut(part, LONGEST_NAME) for part in (error.code, error.parameter))
    lower = {name.lower(): value for name, value in headers.items()}
    return classify_status(status, ErrorBody(clean(error.words, secret), code, parameter), lower)


def never_sent(error: BaseException) -> bool:
    """Whether a call failed before its request was on its way, so that it cannot be billed."""
    return any(kind.__name__ in _NEVER_SENT for kind in type(error).__mro__)


def clean(text: str, secret: Secret) -> str:
    """Words of an endpoint as one line without the key."""
    return one_line(secret.cut(text))


def classify_status(status: int, error: ErrorBody, headers: dict[str, str]) -> CallError:
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
    line = " ".join(text.split())
    return "".join(char for char in line if char.isprintable())[:LONGEST]


def _bad_parameter(error: ErrorBody, words: str) -> CallError | None:
    """A parameter that every call sends, and that the endpoint does not take."""
    if _mentions(words, ("response_format", "json_schema")) or error.parameter == "response_format":
        return _fatal("no_structured_output", words, "Set endpoint.structured to json_object or none.")
    given = error.parameter
    named = given if given in _KEYS else next((n for n in _KEYS if _names(words, n)), None)
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
