"""Requests to a user-defined service: several in parallel, retried if that may help."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.models import (
    REDIRECTS,
    Backoff,
    Secret,
    UntrustedJsonError,
    canceller,
    limiter_of,
    one_line,
    open_client,
    read_body,
    read_json,
    redirected,
    retry_after,
    run_to_end,
    unblocked,
)
from harness.steps.custom.service import ServiceConfig, as_text, compiled
from harness.values import HarnessError, on_stop

# Statuses after which another try may help: too many requests, a time-out, a conflict, an outage.
_PASSING = {408, 409, 425, 429}
_ADVICE = {
    401: "Check headers_env and the permissions of that key.",
    403: "Check headers_env and the permissions of that key.",
    404: "Check the url.",
    405: "Check the method.",
    422: "Check the request.",
}


class ServiceError(HarnessError):
    """A service brought no usable answer."""


class _TransientError(Exception):
    """A try failed in a way that may pass; ``after`` seconds, where the service says when."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


@dataclass(frozen=True, slots=True)
class Message:
    """One request: its body (or query, for GET), where to, and how its answer is read.

    ``response`` None: whatever comes back, the message has been taken.
    """

    body: Any
    url: str
    method: str
    response: str | None


def send(
    service: ServiceConfig, messages: Sequence[Message], keep: Callable[[int, Any], None] | None = None
) -> list[Any]:
    """The answers to all messages in their order, each what ``response`` finds in the JSON.

    ``keep`` gets each as it arrives, with its index. Raises ServiceError at the first message that has no
    answer in time; those on their way are given up.
    """
    answers: dict[int, Any] = {}

    def note(place: int, answer: Any) -> None:
        answers[place] = answer
        if keep is not None:
            keep(place, answer)

    if messages:
        run_to_end(_Sending(service, messages, note).run())
    return [answers[place] for place in range(len(messages))]


class _Sending:
    """The state of one call of ``send``."""

    def __init__(
        self, service: ServiceConfig, messages: Sequence[Message], note: Callable[[int, Any], None]
    ) -> None:
        self._service = service
        self._messages = list(enumerate(messages))[::-1]
        self._note = note
        self._limiter = limiter_of(service.url, service.requests_per_minute)
        self._secret_headers = service.secret_headers()
        self._secret = Secret(*self._secret_headers.values())
        self._backoff = Backoff()
        self._rng = random.Random()

    async def run(self) -> None:
        """Send all; the first failure ends it."""
        headers = {**self._service.headers, **self._secret_headers}
        count = min(self._service.max_concurrency, len(self._messages))
        with self._secret.hidden_from_logs():
            async with open_client(headers) as client:
                workers = [asyncio.create_task(self._work(client)) for _ in range(count)]
                try:
                    with on_stop(canceller()):
                        done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
                finally:
                    for worker in workers:
                        worker.cancel()
                    with suppress(asyncio.CancelledError):
                        await asyncio.gather(*workers, return_exceptions=True)
        for worker in done:
            worker.result()

    async def _work(self, client: Any) -> None:
        while self._messages:
            place, message = self._messages.pop()
            self._note(place, await self._ask(client, message))

    async def _ask(self, client: Any, message: Message) -> Any:
        left, tries = self._service.deadline, 0
        while True:
            await self._limiter.acquire(0)
            started = time.monotonic()
            tries += 1
            try:
                content = await self._try(client, message, min(left, self._service.timeout))
            except _TransientError as fault:
                left -= time.monotonic() - started
                if fault.after:
                    self._hold(message, fault)
                pause = self._backoff.pause(tries, fault.after, left, self._rng)
                if pause is None:
                    raise self._error(
                        message,
                        f"{fault}, even after {tries} tries. Check the service, or raise "
                        f"deadline ({self._service.deadline:g} s).",
                    ) from None
            else:
                self._limiter.answered()
                return await unblocked(len(content), partial(self._read, message, content))
            left -= pause
            await asyncio.sleep(pause)

    async def _try(self, client: Any, message: Message, timeout: float) -> bytes:
        import httpx

        sent = {"json": message.body}
        if message.method == "GET":
            sent = {"params": {name: as_text(value) for name, value in message.body.items()}}
        try:
            async with asyncio.timeout(timeout), client.stream(message.method, message.url, **sent) as reply:
                content = await reply.aread()
        except TimeoutError:
            raise _TransientError(f"gave no complete answer within {timeout:g} s") from None
        except httpx.InvalidURL as error:
            raise self._error(message, f"cannot be asked: {error}") from None
        except httpx.DecodingError as error:
            raise self._error(message, f"cannot be read: {self._secret.cut(one_line(str(error)))}.") from None
        except httpx.HTTPError as error:
            reason = self._secret.cut(one_line(str(error))) or "no reason is given"
            raise _TransientError(f"cannot be reached ({type(error).__name__}: {reason})") from None
        if 200 <= reply.status_code < 300:
            return bytes(content)
        raise self._refused(message, reply.status_code, content, dict(reply.headers))

    def _refused(self, message: Message, status: int, content: bytes, headers: dict[str, str]) -> Exception:
        if status in REDIRECTS:
            return self._error(message, f"cannot be asked: {self._secret.cut(redirected(headers))}.")
        words = f"answered {status}: {self._secret.cut(read_body(content).words) or 'no message'}"
        if status in _PASSING or status >= 500:
            return _TransientError(words, retry_after({k.lower(): v for k, v in headers.items()}))
        return self._error(message, f"{words}. {_ADVICE.get(status, 'Check url, method and request.')}")

    def _read(self, message: Message, content: bytes) -> Any:
        from jmespath.exceptions import JMESPathError

        if message.response is None:
            return None
        shown = self._secret.cut(one_line(content[:300].decode("utf-8", "replace")))[:120]
        try:
            answer = read_json(content)
        except UntrustedJsonError as error:
            raise self._error(message, f"did not answer with JSON: {error}: {shown!r}.") from None
        try:
            found = compiled(message.response).search(answer)
        except JMESPathError as error:
            raise self._error(
                message,
                f"gave an answer that response ({message.response}) cannot be applied to: "
                f"{self._secret.cut(one_line(str(error)))}",
            ) from None
        if found is None:
            raise self._error(
                message,
                f"gave an answer in which response ({message.response}) matches nothing: {shown!r}. Correct "
                "the expression, or the request.",
            )
        return found

    def _hold(self, message: Message, fault: _TransientError) -> None:
        waited = self._limiter.hold(fault.after or 0.0)
        if waited > self._service.longest_pause:
            raise self._error(
                message,
                f"{fault}, and asks to wait {fault.after:g} s (Retry-After), "
                f"{waited:.0f} s in total without an answer; longest_pause allows "
                f"{self._service.longest_pause:g} s. "
                "Run again when the pause is over, or raise it.",
            ) from None

    def _error(self, message: Message, words: str) -> ServiceError:
        return ServiceError(f"http: {message.url} {words}")
