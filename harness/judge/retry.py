"""Which failed calls are worth another try, and when."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from harness.errors import JudgeError


class CallError(JudgeError):
    """One call brought no completion.

    ``reason`` is the short name that a record keeps. ``again``: another try may help. ``fatal``: no call of
    this run can work. ``settled``: this text will fail every time, so a later run need not ask.
    ``retry_after``: the pause, in seconds, that the endpoint asked for; ``seconds`` how long the call took.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        again: bool = False,
        fatal: bool = False,
        settled: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.again = again
        self.fatal = fatal
        self.settled = settled
        self.retry_after = retry_after
        self.seconds = 0.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with full jitter: pauses drawn evenly from 0 to ``first * 2**(tries - 1)`` s.

    Source: M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
    """

    first: float = 0.5
    longest: float = 20.0

    def pause(self, tries: int, asked: float | None, left: float, rng: random.Random) -> float | None:
        """The pause after ``tries`` failed tries; None when it would not end within the ``left`` seconds.

        A pause that the endpoint ``asked`` for is kept in full, with a little jitter on top so that the
        waiting callers do not come back all at once.
        """
        jitter = rng.uniform(0, min(self.longest, self.first * 2 ** min(tries - 1, 30)))
        pause = jitter if asked is None else asked + min(jitter, self.first)
        return pause if pause < left else None


def classify_status(status: int, code: str | None, message: str, headers: dict[str, str]) -> CallError:
    """Turn an HTTP error of the chat-completions protocol into what to do about it."""
    code = code or ""
    said = message if message.endswith((".", "!", "?")) else f"{message}."
    if code in {"content_filter", "content_policy_violation"} or "content management policy" in message:
        return CallError("content_filter", message, settled=True)
    if code == "context_length_exceeded" or "maximum context length" in message:
        return CallError("too_long", message, settled=True)
    if code == "insufficient_quota" or status == 402:
        return CallError("no_credit", f"{said} Top up the account or name another key.", fatal=True)
    if status in {401, 403}:
        return CallError(
            "not_allowed", f"{said} Check the key in endpoint.api_key_env and its rights.", fatal=True
        )
    if status == 404:
        return CallError("not_found", f"{said} Check endpoint.base_url and endpoint.model.", fatal=True)
    if status in {400, 422} and ("response_format" in message or "json_schema" in message):
        return CallError(
            "no_structured_output", f"{said} Set endpoint.structured to json_object or none.", fatal=True
        )
    if status == 429:
        return CallError("rate_limited", message, again=True, retry_after=retry_after(headers))
    if status in {408, 409} or status >= 500:
        return CallError(f"http_{status}", message, again=True, retry_after=retry_after(headers))
    return CallError(f"http_{status}", message)


def retry_after(headers: dict[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``retry-after`` (in seconds or as a date)."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
