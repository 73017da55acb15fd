"""Requests to a user-defined service: several in parallel, retried if that may help."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness import models
from harness.steps.custom.service import ServiceConfig
from harness.steps.search.tools import PendingServiceError, Tools
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


def kept_or_asked(
    service: ServiceConfig,
    texts: Mapping[str, str],
    tools: Tools,
    stage: str,
    given: Mapping[str, Any],
    read: Callable[[Any, list[str]], Sequence[Any]],
    prepare: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """The answer to each of ``texts``, by its key: the kept one, else the service is asked and it is kept.

    A request is filled with the texts and what is ``given``; ``read`` checks the answer to it and gives
    one value a text; ``prepare`` is called before the first request. Raises PendingServiceError where
    something is missing and nothing may be asked.
    """
    answers = {key: tools.kept("answer", key) for key in texts}
    missing = [key for key, answer in answers.items() if answer is None]
    if not missing:
        return answers
    if not tools.may_ask:
        raise PendingServiceError(service.url)
    size = service.batch_size if service.asks_several else 1
    groups = [missing[start : start + size] for start in range(0, len(missing), size)]
    asked = [[texts[key] for key in group] for group in groups]

    def keep(place: int, answer: Any) -> None:
        # checked before it is stored: an answer that breaks the contract is requested again
        several = read(answer if service.asks_several else [answer], asked[place])
        for key, value in zip(groups[place], several, strict=True):
            tools.keep("answer", key, value)
            answers[key] = value

    with tools.timed(stage):
        prepare()
        bodies = [
            models.fill(service.request, {"query": group[0], "queries": group, **given}) for group in asked
        ]
        send(service, [Message(body, service.url, service.method, service.response) for body in bodies], keep)
    return answers


def send(service: ServiceConfig, messages: Sequence[Message], keep: Callable[[int, Any], object]) -> None:
    """Send all messages; ``keep`` gets what ``response`` finds in each answer as it arrives, with its index.

    Raises HarnessError at the first message that has no answer in time; those on their way are given up.
    """
    models.send_all(
        service,
        models.limiter_of(service.url, service.requests_per_minute),
        iter(enumerate(messages)),
        lambda connection, numbered: _Answered(*numbered, connection, service, keep),
        lambda words: HarnessError(f"http: {service.url} {words}"),
        give_up=True,
    )


@dataclass
class _Answered(models.Exchange):
    """One message, and what ``response`` finds in its reply."""

    _place: int
    _message: Message
    _connection: models.Connection
    _service: ServiceConfig
    _keep: Callable[[int, Any], object]

    async def post(self, timeout: float) -> models.Came:
        """Find the answer in its reply."""
        message = self._message
        sent = models.carried(message.method, message.body)
        status, content, headers = await self._connection.send(message.method, message.url, timeout, **sent)
        if status in models.REDIRECTS:
            raise self._error(f"cannot be asked: {models.redirected(headers)}.")
        if not 200 <= status < 300:
            said = self._connection.clean(models.read_body(content).words)
            words = f"answered {status}: {said or 'no message'}"
            if status in _PASSING or status >= 500:
                raise models.CallError(
                    f"http_{status}", words, again=True, retry_after=models.retry_after(headers)
                )
            raise self._error(f"{words}. Check headers_env and its key, url, method and request.")
        self._found = None if message.response is None else await self._read(content, message.response)
        return models.Came()

    def keep(self, last: bool) -> None:
        """Hand it on."""
        self._keep(self._place, self._found)

    def lose(self, fault: models.CallError, tries: int, last: bool) -> None:
        """The first message that is given up ends all, and a reply that nobody would read does at once."""
        if fault.reason == models.BROKEN:
            raise self._error(f"cannot be read: {fault.detail}.") from None
        if last:
            raise self._error(
                f"gave up: {fault.detail}, even after {tries} tries. Check the service, or raise "
                f"deadline ({self._service.deadline:g} s)."
            ) from None

    async def _read(self, content: bytes, response: str) -> Any:
        """What ``response`` finds in a reply."""
        answer = await self._connection.json(content)
        try:
            return models.search(response, answer)
        except ValueError as error:
            why, shown = self._connection.clean(str(error)), self._connection.shown(content)
            raise self._error(f"gave {why}: {shown!r}. Correct the expression, or the request.") from None

    def _error(self, words: str) -> HarnessError:
        return HarnessError(f"http: {self._message.url} {words}")
