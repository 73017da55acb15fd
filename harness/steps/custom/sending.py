"""Requests to a user-defined service: several in parallel, retried if that may help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness import models
from harness.steps.custom.service import ServiceConfig
from harness.values import HarnessError

# Statuses after which another try may help: too many requests, a time-out, a conflict, an outage.
_PASSING = {408, 409, 425, 429}


@dataclass(frozen=True, slots=True)
class Message:
    """One request: its body (or query, for GET), where to, and how its answer is read.

    ``response`` None: whatever comes back, the message has been taken.
    """

    body: Any
    url: str
    method: models.Method
    response: str | None


def send(service: ServiceConfig, messages: Sequence[Message], keep: Callable[[int, Any], object]) -> None:
    """Send all messages; ``keep`` gets what ``response`` finds in each answer as it arrives, with its index.

    Raises HarnessError at the first message that has no answer in time; those on their way are given up.
    """
    models.send_all(
        service,
        models.limiter_of(service.url, service.requests_per_minute),
        iter(enumerate(messages)),
        _Service(service, keep).send,
        lambda words: HarnessError(f"http: {service.url} {words}"),
        give_up=True,
    )


@dataclass
class _Service:
    """Messages to one service; ``keep`` gets what is found in each reply."""

    service: ServiceConfig
    keep: Callable[[int, Any], object]

    async def send(
        self, sender: models.Sender, connection: models.Connection, numbered: tuple[int, Message]
    ) -> None:
        """Send one message; the first that is given up ends all."""
        place, message = numbered

        async def post(timeout: float) -> models.Received[Any]:
            return models.Received(await self._found(connection, message, timeout))

        def failure(fault: models.CallError, tries: int) -> HarnessError:
            return self._error(
                message,
                f"gave up: {fault.detail}, even after {tries} tries. Check the service, or raise "
                f"deadline ({self.service.deadline:g} s).",
            )

        async for attempt in sender.attempts(post):
            if (reply := attempt.received(failure)) is not None:
                self.keep(place, reply.value)

    async def _found(self, connection: models.Connection, message: Message, timeout: float) -> Any:
        """What ``response`` finds in the reply; None where any reply will do."""
        until = models.due(timeout)
        sent = models.carried(message.method, message.body)
        try:
            status, content, headers = await connection.send(message.method, message.url, timeout, **sent)
        except models.CallError as fault:
            raise self._of_broken(message, fault) from None
        if status in models.REDIRECTS:
            raise self._error(message, f"cannot be asked: {models.redirected(headers)}.")
        if not 200 <= status < 300:
            explanation = connection.clean(models.read_body(content).words)
            words = f"answered {status}: {explanation or 'no message'}"
            if status in _PASSING or status >= 500:
                raise models.CallError(
                    f"http_{status}", words, again=True, retry_after=models.retry_after(headers)
                )
            raise self._error(message, f"{words}. Check headers_env and its key, url, method and request.")
        if message.response is None:
            return None
        try:
            return await connection.json(content, partial(models.search, message.response), until)
        except models.CallError as fault:
            raise self._of_broken(message, fault) from None
        except ValueError as error:
            why, shown = connection.clean(str(error)), connection.shown(content)
            raise self._error(
                message, f"gave {why}: {shown!r}. Correct the expression, or the request."
            ) from None

    def _of_broken(self, message: Message, fault: models.CallError) -> HarnessError:
        """The fault, or the error of a reply that nobody can read, which ends all at once."""
        if fault.reason != models.BROKEN:
            return fault
        return self._error(message, f"cannot be read: {fault.detail}.")

    def _error(self, message: Message, words: str) -> HarnessError:
        return HarnessError(f"http: {message.url} {words}")
