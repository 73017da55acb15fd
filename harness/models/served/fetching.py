"""Requests to an endpoint: several in parallel, within limits, each reply checked and passed on at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.models.llm.completion import failure_in_numbers
from harness.models.llm.faults import LONGEST_NAME, UNUSABLE, CallError, read_error
from harness.models.llm.http_client import Connection, due
from harness.models.llm.limits import limiter_of
from harness.models.llm.money import Budget, Spending, add, known_tokens
from harness.models.llm.openai_client import OpenAIConnection
from harness.models.llm.sender import Received, Sender, send_all
from harness.models.served.served_endpoint import EmbeddingEndpoint, Method, ServedEndpoint, carried
from harness.values import SINGLE, LlmError, finite

# Unusable replies to one request that are paid for before the run ends.
_MOST_UNUSABLE = 2
_KEPT = "Everything paid for is kept: run again to resume."


def unusable(words: str) -> CallError:
    """The fault of a reply that does not answer its request, from words for what is wrong with it."""
    return CallError("unusable_answer", words, again=True, billed=True)


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request: its ``body``, where to (below ``base_url``), and about how many ``tokens`` it sends.

    For embeddings the package openai knows where to; ``body`` holds the arguments of its ``create``. ``read``
    finds the numbers in the JSON of a reply, one row an item, and the tokens that were used (None:
    it does not say); raises CallError. ``own_form``: what a reply looks like is the user's affair, so that no
    field of it is known to report a failure.
    """

    body: dict[str, Any]
    tokens: int
    read: Callable[[Any], tuple[list[Any], int | None]]
    items: tuple[int, ...]
    path: str = ""
    method: Method = "POST"
    own_form: bool = False


Keep = Callable[[ServedRequest, list[Any], int], None]


def fetch(
    endpoint: ServedEndpoint, requests: Iterable[ServedRequest], keep: Keep, spending: Spending
) -> None:
    """Send all requests; ``keep`` gets each reply as it arrives: its rows, and the tokens it used.

    Raises LlmError at the first request that fails and at a limit, ConfigError without a key.
    Requests that are on their way are waited for and kept in any case, since they are paid for.
    """
    e = endpoint
    send_all(
        e,
        limiter_of(f"{e.address} {e.model}", e.requests_per_minute, e.tokens_per_minute),
        iter(requests),
        _Fetching(e, keep, spending).send,
        lambda words: LlmError(f"{e.model} {words} {_KEPT}"),
        connect=partial(OpenAIConnection, e) if isinstance(e, EmbeddingEndpoint) else None,
        # ``spending`` is that of the whole run, which may have asked before
        spending=spending,
        budget=Budget(e.model, e.max_cost, e.max_calls, spending),
        most_unusable=_MOST_UNUSABLE,
    )


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What a reply to a request for numbers holds."""

    rows: list[Any]
    served: str


@dataclass
class _Fetching:
    """Requests to one endpoint, whose rows are handed on as they come."""

    endpoint: ServedEndpoint
    hand_on: Keep
    spending: Spending

    async def send(self, sender: Sender, connection: Connection, request: ServedRequest) -> None:
        """Send one request; the first that is given up ends all."""

        async def post(timeout: float) -> Received[_Numbers]:
            return await self._post(connection, request, timeout)

        most, spending = self.endpoint.cost(request.tokens, 1), self.spending
        async for attempt in sender.attempts(post, request.tokens, most):
            if (reply := attempt.received(self._error)) is not None:
                used = reply.tokens or 0
                spending.prompt_tokens += used
                spending.cost = add(spending.cost, reply.cost)
                if reply.value.served:
                    spending.served_models.add(reply.value.served)
                self.hand_on(request, reply.value.rows, used)

    async def _post(
        self, connection: Connection, request: ServedRequest, timeout: float
    ) -> Received[_Numbers]:
        """Its reply, read and checked."""
        until = due(timeout)
        if isinstance(connection, OpenAIConnection):
            content, _ = await connection.embeddings(timeout, **request.body)
        else:
            url = self.endpoint.base_url.rstrip("/") + request.path
            sent = carried(request.method, request.body)
            content, _ = await connection.content(request.method, url, timeout, **sent)

        def read(data: Any) -> tuple[Any, list[Any], int | None]:
            if not request.own_form and (why := failure_in_numbers(data)):
                words = connection.clean(read_error(data).words)
                raise unusable(f"a reply that was not made, since {why}: {words}")
            return data, *request.read(data)

        data, rows, reported = await connection.json(content, read, until)
        # One that does not say what it used is taken to have used what was estimated.
        used = request.tokens if reported is None else reported
        served = data.get("model") if isinstance(data, dict) else None
        name = connection.clean(served)[:LONGEST_NAME] if isinstance(served, str) else ""
        return Received(_Numbers(rows, name), used, self.endpoint.cost(used, 1))

    def _error(self, fault: CallError, tries: int) -> LlmError:
        words = str(fault) if str(fault).endswith((".", "!", "?")) else f"{fault}."
        if fault.reason == "too_long":
            advice = "Make chunks shorter, or set endpoint.extra_body where the server can cut texts itself."
        elif fault.reason in UNUSABLE:
            advice = "Check that endpoint.base_url serves this model by the protocol that is asked for."
        elif fault.again:
            advice = f"That was the last of {tries} tries. Look at the endpoint, or raise endpoint.deadline."
        elif fault.fatal:
            advice = ""
        else:
            advice = "The endpoint turned a request down; correct the section endpoint."
        return LlmError(" ".join(filter(None, [f"{self.endpoint.model}: {words}", advice, _KEPT])))


def in_order(
    items: Any, count: int, read: Callable[[dict[str, Any]], tuple[Any, Any]], noun: str
) -> list[Any]:
    """What ``read`` takes from every item, by the index beside it, in whatever order; raises CallError."""
    if not isinstance(items, list):
        raise unusable(f"a reply without a list of {noun}")
    if len(items) != count:
        raise unusable(f"{len(items)} {noun} for {count} texts")
    values: dict[int, Any] = {}
    for item in items:
        index, value = read(item) if isinstance(item, dict) else (None, None)
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count or index in values:
            raise unusable(f"{noun} whose index does not say which text each is of")
        values[index] = value
    return [values[index] for index in range(count)]


def numbers(row: Any, noun: str) -> NDArray[np.float32]:
    """A list of finite numbers in single precision; raises CallError."""
    if not isinstance(row, list) or not row:
        raise unusable(f"a {noun} that is not a list of numbers")
    return np.array([number(value, noun) for value in row], dtype=np.float32)


def number(value: Any, noun: str) -> float:
    """A number that is finite in single precision; raises CallError."""
    single = finite(value, SINGLE)
    if single is None:
        raise unusable(f"a {noun} that holds no finite number")
    return single


def tokens_used(data: Any) -> int | None:
    """The tokens that a reply says it used; None if it says nothing."""
    usage = data.get("usage") if isinstance(data, dict) else None
    if not isinstance(usage, dict):
        return None
    total = known_tokens(usage.get("total_tokens"))
    return known_tokens(usage.get("prompt_tokens")) if total is None else total
