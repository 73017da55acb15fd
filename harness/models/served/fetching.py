"""Requests to an endpoint: several in parallel, within limits, each reply passed on as it arrives."""

from __future__ import annotations

import asyncio
import random
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
from harness.models.llm.retry import Backoff
from harness.models.llm.run import run_to_end
from harness.models.llm.secret import Secret
from harness.models.llm.untrusted import UntrustedJsonError, read_json
from harness.models.served.endpoint import ServedEndpoint
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
class Request:
    """One request: its ``body``, where to (below ``base_url``), and about how many ``tokens`` it sends.

    ``read`` finds the numbers in the JSON of a reply, one row an item, and the tokens that were used (None:
    it does not say); raises UnusableError.
    """

    path: str
    body: dict[str, Any]
    tokens: int
    read: Callable[[Any], tuple[list[Any], int | None]]
    items: tuple[int, ...]


Keep = Callable[[Request, list[Any], int], None]


def fetch(endpoint: ServedEndpoint, requests: Iterable[Request], keep: Keep, spending: Spending) -> None:
    """Send all requests; ``keep`` gets each reply as it arrives: its rows, and the tokens it used.

    Raises ServedError at the first request that fails, BudgetError at a limit, ConfigError without a key.
    Requests that are on their way are waited for and kept in any case, since they are paid for.
    """
    run_to_end(_Fetching(endpoint, iter(requests), keep, spending).run())


class _Fetching:
    """The state of one call of ``fetch``."""

    def __init__(
        self, endpoint: ServedEndpoint, requests: Iterator[Request], keep: Keep, spending: Spending
    ) -> None:
        self._endpoint = endpoint
        self._requests = requests
        self._keep = keep
        self._spending = spending
        self._secrets = endpoint.secrets()
        self._secret = Secret(*(value.removeprefix("Bearer ") for value in self._secrets.values()))
        self._limiter = limiter_of(
            f"{endpoint.base_url} {endpoint.model}", endpoint.requests_per_minute, endpoint.tokens_per_minute
        )
        # ``spending`` is that of the whole run, which may have asked before.
        before = (spending.cost or 0.0) + (spending.unseen_cost or 0.0)
        self._budget = Budget(
            None if endpoint.max_cost is None else endpoint.max_cost - before,
            None if endpoint.max_calls is None else endpoint.max_calls - spending.calls,
        )
        self._backoff = Backoff()
        # Jitter alone; no number depends on it.
        self._rng = random.Random()
        self._workers = Workers()

    async def run(self) -> None:
        """Send until there is nothing left or something fails."""
        headers = {**self._endpoint.headers, **self._secrets}
        with self._secret.hidden_from_logs():
            async with open_client(headers) as client:
                await self._workers.run(
                    self._endpoint.max_concurrency, self._requests, lambda asked: self._ask(client, asked)
                )

    async def _ask(self, client: Any, asked: Request) -> None:
        left, tries, unusable = self._endpoint.deadline, 0, 0
        while True:
            tries += 1
            asked_for = 0.0
            try:
                rows, used = await self._send(client, asked, left)
            except CallError as fault:
                self._spending.faults[fault.reason] = self._spending.faults.get(fault.reason, 0) + 1
                left -= fault.seconds
                if fault.again and fault.retry_after:
                    self._hold(fault, fault.retry_after)
                    asked_for = self._limiter.remaining_pause()
                unusable += fault.reason == _UNUSABLE
                may = fault.again and unusable < _MOST_UNUSABLE
                pause = self._backoff.pause(tries, fault.retry_after, left, self._rng) if may else None
                if pause is None:
                    raise self._error(fault, tries) from None
            else:
                self._limiter.answered()
                self._keep(asked, rows, used)
                return
            await self._workers.wait(asked_for + pause)
            left -= pause

    async def _send(self, client: Any, asked: Request, left: float) -> tuple[list[Any], int]:
        """One try within the limits: the rows of the reply and the tokens it used."""
        most = self._endpoint.cost(asked.tokens, 1) or 0.0
        try:
            await self._budget.reserve(most)
        except BudgetError:
            raise self._at_the_limit() from None
        spent = 0.0
        clock = asyncio.get_running_loop().time
        try:
            await self._limiter.acquire(asked.tokens, self._workers.wait)
            self._spending.calls += 1
            started = clock()
            try:
                content = await self._post(client, asked, max(0.05, min(self._endpoint.timeout, left)))
                data = await unblocked(len(content), partial(self._json, content))
                try:
                    rows, reported = asked.read(data)
                except UnusableError as error:
                    raise CallError(_UNUSABLE, str(error), again=True, billed=True) from None
            except CallError as fault:
                fault.seconds = clock() - started
                if fault.billed:
                    spent = most
                    unseen = self._endpoint.cost(asked.tokens, 1)
                    self._spending.unseen_calls += 1
                    self._spending.unseen_cost = add(self._spending.unseen_cost, unseen)
                raise
            # One that does not say what it used is taken to have used what was estimated.
            used = asked.tokens if reported is None else reported
            cost = self._endpoint.cost(used, 1)
            spent = cost or 0.0
        finally:
            self._budget.settle(most, spent)
        self._limiter.correct(asked.tokens, used)
        self._spending.prompt_tokens += used
        self._spending.cost = add(self._spending.cost, cost)
        served = data.get("model") if isinstance(data, dict) else None
        if isinstance(served, str):
            self._spending.served_models.add(clean(served, self._secret)[:200])
        return rows, used

    async def _post(self, client: Any, asked: Request, timeout: float) -> bytes:
        import httpx

        url = self._endpoint.base_url.rstrip("/") + asked.path
        try:
            async with asyncio.timeout(timeout), client.stream("POST", url, json=asked.body) as reply:
                content = await reply.aread()
        except TimeoutError:
            words = f"no complete answer within {timeout:g} s"
            raise CallError("timeout", words, again=True, billed=True) from None
        except httpx.DecodingError as error:
            raise CallError(_UNUSABLE, clean(str(error), self._secret), again=True, billed=True) from None
        except httpx.HTTPError as error:
            detail = clean(str(error), self._secret) or type(error).__name__
            if never_sent(error):
                words = f"no answer from the endpoint: {detail}"
                raise CallError("connection", words, again=True) from None
            raise CallError("cut_off", f"the connection broke: {detail}", again=True, billed=True) from None
        if not 200 <= reply.status_code < 300:
            raise failure(reply.status_code, read_body(content), reply.headers, self._secret)
        return bytes(content)

    def _json(self, content: bytes) -> Any:
        try:
            return read_json(content)
        except UntrustedJsonError as error:
            shown = clean(content[:300].decode("utf-8", "replace"), self._secret)[:120]
            raise CallError(_UNUSABLE, f"no JSON: {error}: {shown!r}", again=True, billed=True) from None

    def _hold(self, fault: CallError, seconds: float) -> None:
        """Let everybody wait as long as the endpoint asks, or end the run where that is too long."""
        waited, longest = self._limiter.hold(seconds), self._endpoint.longest_pause
        if waited > longest:
            raise ServedError(
                f"{self._endpoint.model} asks to wait {seconds:g} s (Retry-After), {waited:.0f} s in all "
                f"without an answer, but endpoint.longest_pause allows {longest:g} s. It says: {fault}. Run "
                f"again when the pause is over, or raise the limit. {_KEPT}"
            )

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

    def _at_the_limit(self) -> BudgetError:
        e, spending = self._endpoint, self._spending
        limits = {"max_cost": e.max_cost, "max_calls": e.max_calls}
        named = " or ".join(f"{name} ({limit:g})" for name, limit in limits.items() if limit is not None)
        spent = "" if spending.cost is None or not e.has_price else f" and {spending.cost:.4f} spent"
        return BudgetError(
            f"{e.model}: asking stopped at endpoint.{named} after {spending.calls} requests{spent} in this "
            "run. Everything paid for is kept: raise the limit and run again to resume."
        )
