"""Requests to an endpoint: several in parallel, within limits, each reply checked and passed on at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.models.llm.faults import LONGEST_NAME, UNUSABLE, CallError
from harness.models.llm.http_client import Connection
from harness.models.llm.limits import limiter_of
from harness.models.llm.money import Budget, Spending, add, known_tokens
from harness.models.llm.sender import Came, Exchange, send_all
from harness.models.served.endpoint import Method, ServedEndpoint, carried
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

    ``read`` finds the numbers in the JSON of a reply, one row an item, and the tokens that were used (None:
    it does not say); raises CallError.
    """

    path: str
    body: dict[str, Any]
    tokens: int
    read: Callable[[Any], tuple[list[Any], int | None]]
    items: tuple[int, ...]
    method: Method = "POST"


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
        limiter_of(f"{e.base_url} {e.model}", e.requests_per_minute, e.tokens_per_minute),
        iter(requests),
        lambda connection, asked: _Numbers(asked, connection, e, keep, spending),
        lambda words: LlmError(f"{e.model} {words} {_KEPT}"),
        # ``spending`` is that of the whole run, which may have asked before
        spending=spending,
        budget=Budget(e.model, e.max_cost, e.max_calls, spending),
        most_unusable=_MOST_UNUSABLE,
    )


@dataclass
class _Numbers(Exchange):
    """One request for numbers, and the rows of its reply."""

    asked: ServedRequest
    connection: Connection
    endpoint: ServedEndpoint
    hand_on: Keep
    spending: Spending

    def __post_init__(self) -> None:
        self.tokens = self.asked.tokens
        self.most = self.endpoint.cost(self.tokens, 1)

    async def post(self, timeout: float) -> Came:
        """Its reply, read and checked."""
        asked = self.asked
        url = self.endpoint.base_url.rstrip("/") + asked.path
        sent = carried(asked.method, asked.body)
        content, _ = await self.connection.content(asked.method, url, timeout, **sent)
        self._data = await self.connection.json(content)
        self._rows, reported = asked.read(self._data)
        # One that does not say what it used is taken to have used what was estimated.
        self._used = self.tokens if reported is None else reported
        return Came(self._used, self.endpoint.cost(self._used, 1))

    def keep(self, last: bool) -> None:
        """Count the reply, and pass on its rows."""
        spending = self.spending
        spending.prompt_tokens += self._used
        spending.cost = add(spending.cost, self.endpoint.cost(self._used, 1))
        served = self._data.get("model") if isinstance(self._data, dict) else None
        if isinstance(served, str):
            spending.served_models.add(self.connection.clean(served)[:LONGEST_NAME])
        self.hand_on(self.asked, self._rows, self._used)

    def lose(self, fault: CallError, tries: int, last: bool) -> None:
        """The first request that is given up ends all."""
        if last:
            raise self._error(fault, tries) from None

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


def in_order(items: Any, count: int, field: str, noun: str) -> list[Any]:
    """The ``field`` of every item by its ``index``, in whatever order they came; raises CallError."""
    if not isinstance(items, list):
        raise unusable(f"a reply without a list of {noun}")
    if len(items) != count:
        raise unusable(f"{len(items)} {noun} for {count} texts")
    found: dict[int, Any] = {}
    for item in items:
        index = item.get("index") if isinstance(item, dict) else None
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count or index in found:
            raise unusable(f"{noun} whose index does not say which text each is of")
        found[index] = item.get(field)
    return [found[index] for index in range(count)]


def numbers(row: Any, noun: str) -> NDArray[np.float32]:
    """A list of finite numbers in single precision; raises CallError."""
    if not isinstance(row, list) or not row:
        raise unusable(f"a {noun} that is not a list of numbers")
    return np.array([number(value, noun) for value in row], dtype=np.float32)


def number(value: Any, noun: str) -> float:
    """A number that is finite in single precision; raises CallError."""
    found = finite(value, SINGLE)
    if found is None:
        raise unusable(f"a {noun} that holds no finite number")
    return found


def tokens_used(data: Any) -> int | None:
    """The tokens that a reply says it used; None if it says nothing."""
    usage = data.get("usage") if isinstance(data, dict) else None
    if not isinstance(usage, dict):
        return None
    total = known_tokens(usage.get("total_tokens"))
    return known_tokens(usage.get("prompt_tokens")) if total is None else total
