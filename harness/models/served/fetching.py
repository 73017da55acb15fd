"""Requests to an endpoint: several in parallel, within limits, each reply passed on as it arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.models.llm.faults import CallError, clean, failure, never_sent, read_body
from harness.models.llm.http_client import open_client, unblocked
from harness.models.llm.interrupt import Workers
from harness.models.llm.limiter import limiter_of
from harness.models.llm.money import Budget, BudgetError
from harness.models.llm.records import Spending, add
from harness.models.llm.run import run_to_end
from harness.models.llm.secret import Secret
from harness.models.llm.sender import Exchange, Sender, transmit
from harness.models.llm.untrusted import UntrustedJsonError, read_json
from harness.models.served.endpoint import ServedEndpoint
from harness.models.served.template import Method, carried
from harness.values import LlmError

_UNUSABLE = "unusable_answer"
# Unusable replies to one request that are paid for before the run ends.
_MOST_UNUSABLE = 2
_KEPT = "Everything paid for is kept: run again to resume."


class ServedError(LlmError):
    """An endpoint gave no usable numbers; earlier ones are kept."""


class UnusableError(Exception):
    """A reply that does not answer its request; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request: its ``body``, where to (below ``base_url``), and about how many ``tokens`` it sends.

    ``read`` finds the numbers in the JSON of a reply, one row an item, and the tokens that were used (None:
    it does not say); raises UnusableError.
    """

    path: str
    body: dict[str, Any]
    tokens: int
    read: Callable[[Any], tuple[list[Any], int | None]]
    items: tuple[int, ...]
    method: Method = "POST"


@dataclass(frozen=True, slots=True)
class _Reply:
    """The JSON of a reply, its rows, and the tokens that it used."""

    data: Any
    rows: list[Any]
    tokens: int


Keep = Callable[[ServedRequest, list[Any], int], None]


def fetch(
    endpoint: ServedEndpoint, requests: Iterable[ServedRequest], keep: Keep, spending: Spending
) -> None:
    """Send all requests; ``keep`` gets each reply as it arrives: its rows, and the tokens it used.

    Raises ServedError at the first request that fails, BudgetError at a limit, ConfigError without a key.
    Requests that are on their way are waited for and kept in any case, since they are paid for.
    """
    run_to_end(_Fetching(endpoint, iter(requests), keep, spending).run())


class _Fetching:
    """The state of one call of ``fetch``."""

    def __init__(
        self, endpoint: ServedEndpoint, requests: Iterator[ServedRequest], keep: Keep, spending: Spending
    ) -> None:
        self.endpoint = endpoint
        self.keep = keep
        self.spending = spending
        self._requests = requests
        self._secrets = endpoint.secrets()
        self.secret = Secret(*(value.removeprefix("Bearer ") for value in self._secrets.values()))
        # ``spending`` is that of the whole run, which may have asked before.
        before = (spending.cost or 0.0) + (spending.unseen_cost or 0.0)
        self._workers = Workers()
        self._sender = Sender(
            endpoint,
            limiter_of(
                f"{endpoint.base_url} {endpoint.model}",
                endpoint.requests_per_minute,
                endpoint.tokens_per_minute,
            ),
            self._workers.wait,
            lambda words: ServedError(f"{endpoint.model} {words} {_KEPT}"),
            spending,
            Budget(endpoint.max_cost, endpoint.max_calls, spending.calls, before),
            most_unusable=_MOST_UNUSABLE,
        )

    async def run(self) -> None:
        """Send until there is nothing left or something fails."""
        headers = {**self.endpoint.headers, **self._secrets}
        with self.secret.hidden_from_logs():
            async with open_client(headers) as client:
                await self._workers.run(
                    self.endpoint.max_concurrency, self._requests, lambda asked: self._ask(client, asked)
                )

    async def _ask(self, client: Any, asked: ServedRequest) -> None:
        try:
            await self._sender.send(_Numbers(asked, client, self))
        except BudgetError:
            raise self._at_the_limit() from None

    def _at_the_limit(self) -> BudgetError:
        e, spending = self.endpoint, self.spending
        limits = {"max_cost": e.max_cost, "max_calls": e.max_calls}
        named = " or ".join(f"{name} ({limit:g})" for name, limit in limits.items() if limit is not None)
        spent = "" if spending.cost is None or not e.has_price else f" and {spending.cost:.4f} spent"
        return BudgetError(
            f"{e.model}: asking stopped at endpoint.{named} after {spending.calls} requests{spent} in this "
            "run. Everything paid for is kept: raise the limit and run again to resume."
        )


class _Numbers(Exchange[_Reply, None]):
    """One request for numbers, and the rows of its reply."""

    def __init__(self, asked: ServedRequest, client: Any, fetching: _Fetching) -> None:
        self._asked = asked
        self._client = client
        self._fetching = fetching
        self._endpoint = fetching.endpoint
        self._secret = fetching.secret
        self.tokens = asked.tokens
        self.most = self._endpoint.cost(asked.tokens, 1)

    async def post(self, timeout: float) -> _Reply:
        """Its reply, read and checked."""
        import httpx

        url = self._endpoint.base_url.rstrip("/") + self._asked.path
        try:
            status, content, headers = await transmit(
                self._client,
                self._asked.method,
                url,
                timeout,
                **carried(self._asked.method, self._asked.body),
            )
        except httpx.HTTPError as error:
            raise self._no_reply(error) from None
        if not 200 <= status < 300:
            raise failure(status, read_body(content), headers, self._secret)
        data = await unblocked(len(content), partial(self._json, content))
        try:
            rows, reported = self._asked.read(data)
        except UnusableError as error:
            raise CallError(_UNUSABLE, str(error), again=True, billed=True) from None
        # One that does not say what it used is taken to have used what was estimated.
        return _Reply(data, rows, self.tokens if reported is None else reported)

    def used(self, reply: _Reply) -> tuple[int | None, float | None]:
        """By what it says."""
        return reply.tokens, self._endpoint.cost(reply.tokens, 1)

    def keep(self, reply: _Reply, last: bool) -> None:
        """Count it, and pass on its rows."""
        spending = self._fetching.spending
        spending.prompt_tokens += reply.tokens
        spending.cost = add(spending.cost, self._endpoint.cost(reply.tokens, 1))
        served = reply.data.get("model") if isinstance(reply.data, dict) else None
        if isinstance(served, str):
            spending.served_models.add(clean(served, self._secret)[:200])
        self._fetching.keep(self._asked, reply.rows, reply.tokens)

    def lose(self, fault: CallError, tries: int, last: bool) -> None:
        """The first request that is given up ends all."""
        if last:
            raise self._error(fault, tries) from None

    def _no_reply(self, error: Exception) -> CallError:
        name = type(error).__name__
        detail = clean(str(error), self._secret) or name
        if name == "DecodingError":
            return CallError(_UNUSABLE, detail, again=True, billed=True)
        if never_sent(error):
            return CallError("connection", f"no answer from the endpoint: {detail}", again=True)
        return CallError("cut_off", f"the connection broke: {detail}", again=True, billed=True)

    def _json(self, content: bytes) -> Any:
        try:
            return read_json(content)
        except UntrustedJsonError as error:
            shown = clean(content[:300].decode("utf-8", "replace"), self._secret)[:120]
            raise CallError(_UNUSABLE, f"no JSON: {error}: {shown!r}", again=True, billed=True) from None

    def _error(self, fault: CallError, tries: int) -> ServedError:
        words = str(fault) if str(fault).endswith((".", "!", "?")) else f"{fault}."
        if fault.reason == "too_long":
            advice = "Make chunks shorter, or set endpoint.extra_body where the server can cut texts itself."
        elif fault.reason == _UNUSABLE:
            advice = "Check that endpoint.base_url serves this model by the protocol that is asked for."
        elif fault.again:
            advice = f"That was the last of {tries} tries. Look at the endpoint, or raise endpoint.deadline."
        elif fault.fatal:
            advice = ""
        else:
            advice = "The endpoint turned a request down; correct the section endpoint."
        return ServedError(" ".join(filter(None, [f"{self._endpoint.model}: {words}", advice, _KEPT])))
