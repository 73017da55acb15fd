"""One call from prompt to recorded grades: limits, tries, reading, and the ledger before anything else.

All clocks are the event loop's.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from harness.errors import JudgeError
from harness.judge.config import LlmConfig
from harness.judge.parsing import Malformed
from harness.judge.prompting import Prompt, order_shown, render, response_format
from harness.judge.records import Ledger, Summary
from harness.llm.breaker import Breaker
from harness.llm.client import Client, Reply
from harness.llm.faults import CallError, one_line
from harness.llm.limiter import RateLimiter
from harness.llm.money import Budget, estimate_tokens
from harness.llm.reply import FINAL_REASONS, read_reply
from harness.llm.retry import Backoff
from harness.types import Answered, Asked


@dataclass(frozen=True, slots=True)
class Call:
    """One question to the model, the passages in their own order, and its key in the ledger."""

    key: str
    asked: Asked


@dataclass(frozen=True, slots=True)
class Answer:
    """The grades of a call's passages, in the passages' own order, or None, the reason, and what was said."""

    grades: tuple[int, ...] | None
    reason: str
    said: str = ""


class StoppedError(JudgeError):
    """The run is ending; this call is not tried again."""


class Asker:
    """Asks calls of one endpoint under one prompt and records every answer."""

    def __init__(
        self, config: LlmConfig, prompt: Prompt, client: Client, ledger: Ledger, summary: Summary
    ) -> None:
        endpoint = config.endpoint
        self._config = config
        self._prompt = prompt
        self._client = client
        self._ledger = ledger
        self._summary = summary
        self._format = response_format(prompt, endpoint.structured)
        self._clock = asyncio.get_running_loop().time
        self._limiter = RateLimiter(
            endpoint.requests_per_minute, endpoint.tokens_per_minute, clock=self._clock
        )
        self._held_before = 0.0
        self._budget = Budget(config.max_cost, config.max_calls)
        # A pause that the endpoint asks for is no outage.
        self._breaker = Breaker(config.breaker, config.longest_outage, clock=self._limiter.unheld)
        self._backoff = Backoff()
        # Jitter alone; nothing that is measured depends on it.
        self._rng = random.Random()
        self.stopping = asyncio.Event()

    async def ask(self, call: Call) -> Answer:
        """Ask until there is a grade, a final reason, or no time; raises JudgeError when the run must end."""
        asked = call.asked
        order = order_shown(self._prompt, asked.query, asked.passages, asked.sample)
        messages = render(self._prompt, asked.query, [asked.passages[i] for i in order])
        tokens = sum(estimate_tokens(message["content"]) for message in messages)
        left = self._config.endpoint.deadline
        tries = unusable = 0
        while True:
            tries += 1
            asked_for = 0.0
            try:
                reply = await self._send(call, messages, tokens, left)
            except CallError as fault:
                left -= fault.seconds
                pause = self._after_fault(call, fault, tries, left)
                if pause is None:
                    return Answer(None, fault.reason, fault.detail)
                asked_for = self._limiter.still_held() if fault.retry_after else 0.0
            else:
                left -= reply.seconds
                read = read_reply(self._prompt, reply, len(order))
                unusable += isinstance(read, Malformed)
                pause = self._pause_after(read, tries, unusable, left)
                answer = self._keep(call, reply, read, order, last=pause is None)
                if pause is None:
                    return answer
            await self.wait(asked_for + pause)
            left -= pause

    @property
    def paused_for(self) -> float:
        """For how many seconds more the endpoint has asked everybody to wait."""
        return self._limiter.still_held()

    async def _send(self, call: Call, messages: Sequence[dict[str, str]], tokens: int, left: float) -> Reply:
        endpoint, price = self._config.endpoint, self._config.price
        most = price.of(tokens, endpoint.max_tokens) if price else 0.0
        await self._budget.reserve(most)
        spent = 0.0
        try:
            await self._limiter.acquire(tokens + endpoint.max_tokens, self.wait)
            self._summary.calls += 1
            started = self._clock()
            try:
                reply = await self._client.ask(
                    messages, self._format, call.asked.sample, max(0.05, min(endpoint.timeout, left))
                )
            except CallError as fault:
                fault.seconds = self._clock() - started
                if fault.billed:
                    spent = most
                    self._note_unseen(most if price else None)
                raise
            # An endpoint that does not say what it used is taken to have used the most.
            known = self._price(reply)
            spent = most if known is None else known
        finally:
            self._budget.settle(most, spent)
        if reply.prompt_tokens is not None and reply.completion_tokens is not None:
            used = reply.prompt_tokens + reply.completion_tokens
            self._limiter.correct(tokens + endpoint.max_tokens, used)
        return reply

    def _after_fault(self, call: Call, fault: CallError, tries: int, left: float) -> float | None:
        """The pause before another try; None when the call is given up, which is then on record."""
        faults = self._summary.faults
        faults[fault.reason] = faults.get(fault.reason, 0) + 1
        if fault.fatal:
            raise JudgeError(f"The judge's endpoint refuses to work: {fault}")
        if fault.again and fault.retry_after:
            self._hold(fault, fault.retry_after)
        pause = self._backoff.pause(tries, fault.retry_after, left, self._rng) if fault.again else None
        if pause is None:
            # What cost nothing and may pass is not settled: the next run asks it again.
            self._record(call, None, fault.reason, fault.detail, settled=fault.settled, seconds=fault.seconds)
        if fault.refused:
            self._breaker.refused(str(fault))
        # A busy endpoint is not down, as long as calls get through in the end.
        elif not fault.settled and (fault.reason != "rate_limited" or pause is None):
            self._breaker.failed(str(fault))
        return pause

    def _note_unseen(self, most: float | None) -> None:
        """Count a call that may be on the bill although its answer was not seen."""
        summary = self._summary
        summary.unseen_calls += 1
        summary.unseen_cost = (
            None if most is None or summary.unseen_cost is None else summary.unseen_cost + most
        )

    def _hold(self, fault: CallError, seconds: float) -> None:
        """Let everybody wait as long as the endpoint asks, or end the run where that is too long."""
        self._limiter.hold(seconds)
        longest = self._config.endpoint.longest_pause
        waited = self._limiter.held - self._held_before
        if waited <= longest:
            return
        in_all = f", {waited:.0f} s in all without an answer in between" if waited > seconds + 1 else ""
        raise JudgeError(
            f"The judge's endpoint asks to wait {seconds:g} s (Retry-After){in_all}, and "
            f"endpoint.longest_pause allows {longest:g} s. It says: {fault}. Every answer is in the ledger: "
            "run again when the pause is over, or raise the limit."
        )

    def _pause_after(
        self, read: tuple[int, ...] | Malformed, tries: int, unusable: int, left: float
    ) -> float | None:
        """The pause before the call is asked again; None when its answer stands."""
        if not isinstance(read, Malformed) or read.reason in FINAL_REASONS:
            return None
        if unusable >= self._config.answers_per_call:
            return None
        return self._backoff.pause(tries, None, left, self._rng)

    def _keep(
        self,
        call: Call,
        reply: Reply,
        read: tuple[int, ...] | Malformed,
        order: Sequence[int],
        *,
        last: bool,
    ) -> Answer:
        """Record an answer that has come in, which settles the call if it is the last one."""
        self._held_before = self._limiter.held
        grades, reason = None, ""
        if isinstance(read, Malformed):
            reason = read.reason
        else:
            own = dict(zip(order, read, strict=True))
            grades = tuple(own[i] for i in range(len(order)))
        self._record(
            call,
            grades,
            reason,
            reply.text or reply.refusal,
            settled=last,
            seconds=reply.seconds,
            reply=reply,
        )
        if grades is not None:
            self._breaker.succeeded()
        elif reason not in FINAL_REASONS:
            self._breaker.useless(f"unusable answer ({reason}): {one_line(reply.text)}")
        return Answer(grades, reason, reply.text or reply.refusal)

    def _record(
        self,
        call: Call,
        grades: tuple[int, ...] | None,
        reason: str,
        raw: str,
        *,
        settled: bool,
        seconds: float,
        reply: Reply | None = None,
    ) -> None:
        price = self._price(reply) if reply else 0.0
        asked = call.asked
        answered = Answered(
            query=asked.query,
            passages=asked.passages,
            prompt_sha=asked.prompt_sha,
            model=asked.model,
            parameters=asked.parameters,
            sample=asked.sample,
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
        self._ledger.record(call.key, answered)
        if reply:
            self._count(reply, price)

    def _count(self, reply: Reply, price: float | None) -> None:
        summary = self._summary
        summary.served_models.add(reply.served_model)
        summary.prompt_tokens += reply.prompt_tokens or 0
        summary.completion_tokens += reply.completion_tokens or 0
        summary.cost = None if price is None or summary.cost is None else summary.cost + price

    def _price(self, reply: Reply) -> float | None:
        price = self._config.price
        if price is None or reply.prompt_tokens is None or reply.completion_tokens is None:
            return None
        return price.of(reply.prompt_tokens, reply.completion_tokens)

    async def wait(self, seconds: float) -> None:
        """Sleep, unless the run ends before; then raises StoppedError."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), seconds)
        if self.stopping.is_set():
            raise StoppedError("the run is ending")
