"""One call from prompt to recorded answer: limits, tries, reading, and the ledger before anything else.

All clocks are the event loop's.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from harness.errors import LlmError
from harness.llm.breaker import Breaker
from harness.llm.client import ChatClient, Client, Message, Reply
from harness.llm.faults import CallError, one_line
from harness.llm.form import FINAL_REASONS, Malformed, read_reply
from harness.llm.interrupt import Workers
from harness.llm.limiter import RateLimiter
from harness.llm.model import Model
from harness.llm.money import Price
from harness.llm.records import Spending, add
from harness.llm.retry import Backoff
from harness.llm.tokens import estimate_tokens
from harness.types import Answered, Asked

Read = tuple[int, ...] | Malformed | None


class Recorder:
    """Writes the answers of one model into its ledger, by the prices of ``price``; counts in ``spending``."""

    def __init__(self, model: Model, spending: Spending, price: Price | None) -> None:
        self._ledger = model.ledger
        self._spending = spending
        self._price = price

    def record(
        self,
        call: Asked,
        read: Read,
        raw: str,
        *,
        settled: bool,
        seconds: float,
        reply: Reply | None = None,
    ) -> Answered:
        """Keep one try of a call: what was read in the reply or, without one, why there is none."""
        price = self.price_of(reply) if reply else 0.0
        grades, reason = (None, read.reason) if isinstance(read, Malformed) else (read, "")
        answered = Answered(
            query=call.query,
            passages=call.passages,
            prompt_sha=call.prompt_sha,
            model=call.model,
            parameters=call.parameters,
            sample=call.sample,
            settled=settled,
            grades=grades,
            reason=reason,
            raw=raw,
            prompt_tokens=reply.prompt_tokens if reply else None,
            completion_tokens=reply.completion_tokens if reply else None,
            price=price,
            seconds=seconds,
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
        """What a reply has cost; None where the price or the tokens are unknown."""
        price = self._price
        if price is None or reply.prompt_tokens is None or reply.completion_tokens is None:
            return None
        return price.of(reply.prompt_tokens, reply.completion_tokens)


class Asker:
    """Asks calls of one model within its limits and records every answer; counts in ``spending``.

    One of the ``workers`` waits wherever a pause is due.
    """

    def __init__(self, model: Model, spending: Spending, workers: Workers) -> None:
        config, endpoint = model.config, model.config.endpoint
        self._config = config
        self._form = model.form
        self._client = model.client
        self._recorder = Recorder(model, spending, config.price)
        self._spending = spending
        self._clock = asyncio.get_running_loop().time
        self._limiter = RateLimiter(
            endpoint.requests_per_minute, endpoint.tokens_per_minute, clock=self._clock
        )
        self._budget = model.budget()
        # A pause that the endpoint asks for is no outage.
        self._breaker = Breaker(config.breaker, config.longest_outage, clock=self._limiter.unheld)
        self._backoff = Backoff()
        # Jitter alone; nothing that is measured depends on it.
        self._rng = random.Random()
        self._wait = workers.wait

    async def ask(self, call: Asked) -> Answered:
        """Ask until there is a usable answer, a final reason, or no time; what stands is on record.

        Raises LlmError when the run must end.
        """
        # Not before a call is to be made: with every answer in the ledger no key is needed.
        self._client = self._client or ChatClient(self._config.endpoint)
        messages = self._form.messages(call)
        tokens = sum(estimate_tokens(message["content"]) for message in messages)
        left = self._config.endpoint.deadline
        tries = unusable = 0
        while True:
            tries += 1
            asked_for = 0.0
            try:
                reply = await self._send(self._client, call, messages, tokens, left)
            except CallError as fault:
                left -= fault.seconds
                after = self._after_fault(call, fault, tries, left)
                if isinstance(after, Answered):
                    return after
                pause = after
                asked_for = self._limiter.still_held() if fault.retry_after else 0.0
            else:
                left -= reply.seconds
                read = read_reply(self._form, call, reply)
                unusable += isinstance(read, Malformed)
                again = self._pause_after(read, tries, unusable, left)
                answer = self._keep(call, reply, read, last=again is None)
                if again is None:
                    return answer
                pause = again
            await self._wait(asked_for + pause)
            left -= pause

    @property
    def paused_for(self) -> float:
        """For how many seconds more the endpoint has asked everybody to wait."""
        return self._limiter.still_held()

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    async def _send(
        self, client: Client, call: Asked, messages: Sequence[Message], tokens: int, left: float
    ) -> Reply:
        endpoint, price = self._config.endpoint, self._config.price
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
                    self._form.response_format,
                    call.sample,
                    max(0.05, min(endpoint.timeout, left)),
                )
            except CallError as fault:
                fault.seconds = self._clock() - started
                if fault.billed:
                    spent = most
                    self._spending.unseen_calls += 1
                    self._spending.unseen_cost = add(self._spending.unseen_cost, most if price else None)
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

    def _after_fault(self, call: Asked, fault: CallError, tries: int, left: float) -> float | Answered:
        """The pause before another try, or, where the call is given up, what is then on record."""
        faults = self._spending.faults
        faults[fault.reason] = faults.get(fault.reason, 0) + 1
        if fault.fatal:
            raise LlmError(f"The endpoint refuses to work: {fault}")
        if fault.again and fault.retry_after:
            self._hold(fault, fault.retry_after)
        pause = self._backoff.pause(tries, fault.retry_after, left, self._rng) if fault.again else None
        after: float | Answered
        if pause is None:
            # What cost nothing and may pass is not settled: the next run asks it again.
            after = self._recorder.record(
                call, Malformed(fault.reason), fault.detail, settled=fault.settled, seconds=fault.seconds
            )
        else:
            after = pause
        if fault.refused:
            self._breaker.refused(str(fault))
        # A busy endpoint is not down, as long as calls get through in the end.
        elif not fault.settled and (fault.reason != "rate_limited" or pause is None):
            self._breaker.failed(str(fault))
        return after

    def _hold(self, fault: CallError, seconds: float) -> None:
        """Let everybody wait as long as the endpoint asks, or end the run where that is too long."""
        self._limiter.hold(seconds)
        longest = self._config.endpoint.longest_pause
        waited = self._limiter.held_in_vain
        if waited <= longest:
            return
        in_all = f", {waited:.0f} s in total without an answer in between" if waited > seconds + 1 else ""
        raise LlmError(
            f"The endpoint asks to wait {seconds:g} s (Retry-After){in_all}, but "
            f"endpoint.longest_pause allows {longest:g} s. It says: {fault}. Every answer is in the "
            "ledger: run again when the pause is over, or raise the limit."
        )

    def _pause_after(self, read: Read, tries: int, unusable: int, left: float) -> float | None:
        """The pause before the call is asked again; None when its answer stands."""
        if not isinstance(read, Malformed) or read.reason in FINAL_REASONS:
            return None
        if unusable >= self._config.answers_per_call:
            return None
        return self._backoff.pause(tries, None, left, self._rng)

    def _keep(self, call: Asked, reply: Reply, read: Read, *, last: bool) -> Answered:
        """Record an answer that has come in, which settles the call if it is the last one."""
        self._limiter.answered()
        answer = self._recorder.record(
            call, read, reply.text or reply.refusal, settled=last, seconds=reply.seconds, reply=reply
        )
        if not answer.reason:
            self._breaker.succeeded()
        elif answer.reason not in FINAL_REASONS:
            self._breaker.useless(f"unusable answer ({answer.reason}): {one_line(reply.text)}")
        return answer
