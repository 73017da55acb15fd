"""A run that asks its calls one by one, several in parallel: the ledger, limits, tries, reading, recording.

All clocks are the event loop's.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import fields
from typing import TypeVar

from harness.models.llm.base_run import BaseRun, RunInputs
from harness.models.llm.breaker import Breaker
from harness.models.llm.client import ChatClient, Client, Message, Reply
from harness.models.llm.faults import CallError, one_line
from harness.models.llm.form import FINAL_REASONS, Malformed
from harness.models.llm.interrupt import StoppedError, Workers
from harness.models.llm.limiter import RateLimiter
from harness.models.llm.model import Job, Model
from harness.models.llm.money import Price
from harness.models.llm.records import Spending, add
from harness.models.llm.retry import Backoff
from harness.models.llm.tokens import estimate_tokens
from harness.values import Describable, LlmAnswer, LlmCall, LlmError

POLL = 0.2
SHOW_EVERY = 1.0

T = TypeVar("T")
Read = tuple[int, ...] | Malformed | None
Wait = Callable[[float], Awaitable[None]]
_OF_CALL = [field.name for field in fields(LlmCall)]


class Recorder:
    """Writes the answers of one model into its ledger, by the prices of ``price``; counts in ``spending``."""

    def __init__(self, model: Model, spending: Spending, price: Price | None) -> None:
        self._form = model.form
        self._ledger = model.ledger
        self._spending = spending
        self._price = price

    def read(self, call: LlmCall, reply: Reply) -> Read:
        """Read the grades or text in a reply, or say why it cannot be used."""
        return Malformed(reply.fault) if reply.fault else self._form.read(call, reply.text)

    def record(self, call: LlmCall, read: Read, came: Reply | CallError, *, settled: bool) -> LlmAnswer:
        """Record one try of a call: the content of the reply or, without one, the reason."""
        reply = came if isinstance(came, Reply) else None
        raw = (came.text or came.refusal) if isinstance(came, Reply) else came.detail
        price = self.price_of(reply) if reply else 0.0
        grades, reason = (None, read.reason) if isinstance(read, Malformed) else (read, "")
        answered = LlmAnswer(
            **{name: getattr(call, name) for name in _OF_CALL},
            settled=settled,
            grades=grades,
            reason=reason,
            raw=raw,
            prompt_tokens=reply.prompt_tokens if reply else None,
            completion_tokens=reply.completion_tokens if reply else None,
            price=price,
            seconds=came.seconds,
            request_id=reply.request_id if reply else "",
            served_model=reply.served_model if reply else "",
            finish=reply.finish if reply else None,
            logprobs=reply.logprobs if reply else None,
        )
        self._ledger.record(self._ledger.key(call), answered)
        if reply:
            spending = self._spending
            spending.served_models.add(reply.served_model)
            spending.prompt_tokens += reply.prompt_tokens or 0
            spending.completion_tokens += reply.completion_tokens or 0
            spending.cost = add(spending.cost, price)
        return answered

    def price_of(self, reply: Reply) -> float | None:
        """The cost of a reply; None if the price or the tokens are unknown."""
        price = self._price
        if price is None or reply.prompt_tokens is None or reply.completion_tokens is None:
            return None
        return price.of(reply.prompt_tokens, reply.completion_tokens)


class CallRun(BaseRun[T]):
    """Asks within the limits of the model, and records every answer before anything uses it.

    ``take_in`` records what batches of earlier runs have brought, waiting with the function that it is given,
    and returns the keys of the calls that are still on their way.
    """

    def __init__(self, given: RunInputs[T], take_in: Callable[[Wait], Awaitable[frozenset[str]]]) -> None:
        super().__init__(given)
        config = self._model.config
        self._config, self._endpoint = config, config.endpoint
        self._client = self._model.client
        self._recorder = Recorder(self._model, self._spending, config.price)
        self._budget = self._model.budget()
        self._backoff = Backoff()
        # Jitter alone; nothing that is measured depends on it.
        self._rng = random.Random()
        self._take_in = take_in
        self._in_batches: asyncio.Task[frozenset[str]] | None = None
        self._being_asked: dict[str, asyncio.Future[LlmAnswer]] = {}
        self._done = 0
        self._started = time.monotonic()
        self._workers = Workers()
        self._wait = self._workers.wait

    async def run(self) -> None:
        """Work until there is no job left; in any case, wait for the calls in progress."""
        self._clock = asyncio.get_running_loop().time
        endpoint = self._endpoint
        self._limiter = RateLimiter(
            endpoint.requests_per_minute, endpoint.tokens_per_minute, clock=self._clock
        )
        # A pause that the endpoint asks for is not an outage.
        self._breaker = Breaker(
            self._config.breaker, self._config.longest_outage, clock=self._limiter.unpaused_time
        )
        showing = asyncio.create_task(self._keep_showing())
        try:
            await self._workers.run(endpoint.max_concurrency, self._jobs, self._do)
        finally:
            showing.cancel()
            self.end_turn()
            if self._client is not None:
                await self._client.close()

    async def _do(self, job: Job[T]) -> None:
        answers = [self._model.find(call) or await self._answer(call) for call in job.calls]
        # less those that this run has asked: _ask takes them off
        self._spending.from_ledger += len(answers)
        self._done += job.size
        self._task.advance(job.size)
        self._hand_on(job.about, answers)
        self._show()
        # A ledger full of answers must not keep the other workers from their replies.
        await asyncio.sleep(0)

    async def _answer(self, call: LlmCall) -> LlmAnswer:
        """The answer to a call that the ledger lacks; if another worker is asking it, wait for that."""
        key = self._model.ledger.key(call)
        asked = self._being_asked.get(key)
        if asked is not None:
            await asyncio.wait([asked])
            if asked.cancelled():
                raise StoppedError("the run is ending")
            return asked.result()
        answer = self._being_asked[key] = asyncio.get_running_loop().create_future()
        try:
            result = await self._ask(call)
            answer.set_result(result)
        finally:
            # without a result, those waiting for it stop too
            answer.cancel()
            del self._being_asked[key]
        return result

    async def _ask(self, call: LlmCall) -> LlmAnswer:
        while True:
            ours = self.takes_turn()
            # Another run may have settled the call since it was looked up.
            result = self._model.find(call)
            if result is not None:
                return result
            if ours:
                break
            self.note_waiting()
            await self._wait(POLL)
        result = await self._from_batch(call)
        if result is not None:
            return result
        answer = await self._try(call)
        self._spending.from_ledger -= 1
        return answer

    async def _from_batch(self, call: LlmCall) -> LlmAnswer | None:
        """The answer that a batch of an earlier run has brought; LlmError where it is still on its way."""
        if self._in_batches is None:
            self._in_batches = asyncio.ensure_future(self._take_in(self._wait))
        in_progress = await asyncio.shield(self._in_batches)
        if self._model.ledger.key(call) in in_progress:
            raise LlmError(
                f"{len(in_progress):,} calls of {self._name} are in progress in batches, and one of them "
                "would be made and paid for twice. Wait for them with `batch: true`, or cancel them with "
                "`harness judge batches --cancel` and run again."
            )
        return self._model.find(call)

    async def _try(self, call: LlmCall) -> LlmAnswer:
        """Ask until there is a usable answer, a final reason, or no time left; returns the record.

        Raises LlmError when the run must end.
        """
        # Not before a call is to be made: with every answer in the ledger no key is needed.
        self._client = self._client or ChatClient(self._endpoint)
        messages = self._model.form.messages(call)
        tokens = sum(estimate_tokens(message["content"]) for message in messages)
        left = self._endpoint.deadline
        tries = unusable = 0
        while True:
            tries += 1
            asked_for = 0.0
            try:
                reply = await self._send(self._client, call, messages, tokens, left)
            except CallError as fault:
                left -= fault.seconds
                # paid for like an answer that cannot be used, and asked again as often
                unusable += fault.reason == "broken_reply"
                fault.again &= unusable < self._config.answers_per_call or fault.reason != "broken_reply"
                after = self._after_fault(call, fault, tries, left)
                if isinstance(after, LlmAnswer):
                    return after
                pause = after
                asked_for = self._limiter.remaining_pause() if fault.retry_after else 0.0
            else:
                left -= reply.seconds
                read = self._recorder.read(call, reply)
                unusable += isinstance(read, Malformed)
                again = self._pause_after(read, tries, unusable, left)
                answer = self._keep(call, reply, read, last=again is None)
                if again is None:
                    return answer
                pause = again
            await self._wait(asked_for + pause)
            left -= pause

    async def _send(
        self, client: Client, call: LlmCall, messages: Sequence[Message], tokens: int, left: float
    ) -> Reply:
        endpoint, price = self._endpoint, self._config.price
        most = price.of(tokens, endpoint.max_tokens) if price else 0.0
        await self._budget.reserve(most)
        spent = 0.0
        try:
            await self._limiter.acquire(tokens + endpoint.max_tokens, self._wait)
            self._spending.calls += 1
            started = self._clock()
            try:
                reply = await client.ask(
                    messages,
                    self._model.form.response_format,
                    call.sample,
                    max(0.05, min(endpoint.timeout, left)),
                )
            except CallError as fault:
                fault.seconds = self._clock() - started
                self._spending.note_fault(fault.reason, fault.billed, most if price else None)
                spent = most if fault.billed else 0.0
                raise
            # An endpoint that does not say what it used is taken to have used the most.
            known = self._recorder.price_of(reply)
            spent = most if known is None else known
        finally:
            self._budget.settle(most, spent)
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            used = reply.prompt_tokens + reply.completion_tokens
            self._limiter.correct(tokens + endpoint.max_tokens, used)
        return reply

    def _after_fault(self, call: LlmCall, fault: CallError, tries: int, left: float) -> float | LlmAnswer:
        """The pause before another try, or, where the call is given up, what is then on record."""
        if fault.fatal:
            raise LlmError(f"The endpoint refuses to work: {fault}")
        if fault.again and fault.retry_after:
            self._hold(fault, fault.retry_after)
        pause = self._backoff.pause(tries, fault.retry_after, left, self._rng) if fault.again else None
        after: float | LlmAnswer | None = pause
        if after is None:
            # A temporary fault that cost nothing is not settled: the next run asks again.
            after = self._recorder.record(call, Malformed(fault.reason), fault, settled=fault.settled)
        if fault.refused:
            self._breaker.refused(str(fault))
        elif fault.reason == "broken_reply":
            self._breaker.garbled(str(fault))
        # A busy endpoint is not down as long as calls eventually get through.
        elif not fault.settled and (fault.reason != "rate_limited" or pause is None):
            self._breaker.failed(str(fault))
        return after

    def _hold(self, fault: CallError, seconds: float) -> None:
        """Let everybody wait as long as the endpoint asks, or end the run where that is too long."""
        waited, longest = self._limiter.hold(seconds), self._endpoint.longest_pause
        if waited <= longest:
            return
        in_all = f", {waited:.0f} s in total without an answer in between" if waited > seconds + 1 else ""
        raise LlmError(
            f"The endpoint asks to wait {seconds:g} s (Retry-After){in_all}, but "
            f"endpoint.longest_pause allows {longest:g} s. It says: {fault}. Every answer is in the "
            "ledger: run again when the pause is over, or raise the limit."
        )

    def _pause_after(self, read: Read, tries: int, unusable: int, left: float) -> float | None:
        """The pause before the call is asked again; None when its answer is final."""
        if not isinstance(read, Malformed) or read.reason in FINAL_REASONS:
            return None
        if unusable >= self._config.answers_per_call:
            return None
        return self._backoff.pause(tries, None, left, self._rng)

    def _keep(self, call: LlmCall, reply: Reply, read: Read, *, last: bool) -> LlmAnswer:
        """Record an answer that has come in, which settles the call if it is the last one."""
        self._limiter.answered()
        answer = self._recorder.record(call, read, reply, settled=last)
        if not answer.reason:
            self._breaker.succeeded()
        elif answer.reason not in FINAL_REASONS:
            self._breaker.useless(f"unusable answer ({answer.reason}): {one_line(reply.text)}")
        return answer

    def _show(self) -> None:
        if isinstance(self._task, Describable):
            self._task.describe(self._progress())

    def _progress(self) -> str:
        rate = self._done / max(1e-9, time.monotonic() - self._started)
        parts = [f"{rate:.1f}/s", *self._spending.progress()]
        if self.waiting:
            parts.append("waits for another run")
        if (paused := self._limiter.remaining_pause()) > 0:
            parts.append(f"waits {paused:.0f} s, as the endpoint asks")
        return ", ".join(parts)

    async def _keep_showing(self) -> None:
        """Update the display even while nothing is answered, as while an endpoint is down."""
        while True:
            await asyncio.sleep(SHOW_EVERY)
            self._show()
