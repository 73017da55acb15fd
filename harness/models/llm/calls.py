"""Answers by calls: each is made by itself and at once, several in parallel.

All clocks are the event loop's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from harness.models.llm.batch_desk import collect_ended
from harness.models.llm.client import ChatClient
from harness.models.llm.limits import RateLimiter
from harness.models.llm.recording import ReadReply, Recorder, note_use
from harness.models.llm.requests import Inquiry, MissingCall, RequestRun, Transport
from harness.models.llm.sender import Received, Sender
from harness.values import LlmAnswer, LlmError, counted


class CallTransport(Transport):
    """Makes calls within the limits of the endpoint, and records every reply."""

    def __init__(self, run: RequestRun, inquiries: Sequence[Inquiry[Any]]) -> None:
        endpoint = inquiries[0].model.config.endpoint
        limiter = self._limiter = RateLimiter(
            endpoint.requests_per_minute, endpoint.tokens_per_minute, clock=asyncio.get_running_loop().time
        )
        # A pause that the endpoint asks for is not an outage.
        super().__init__(run, inquiries, limiter.unpaused_time)
        self.parallel = endpoint.max_concurrency
        self._client: ChatClient | None = None
        self._in_batches: asyncio.Task[frozenset[str]] | None = None
        self._senders = {
            inquiry: Sender(
                endpoint,
                limiter,
                run.wait,
                lambda words: LlmError(f"The endpoint {words} Every answer is in the ledger."),
                inquiry.spending,
                run.budget(inquiry),
                self.breaker,
                most_unusable=inquiry.model.config.answers_per_call,
            )
            for inquiry in inquiries
        }

    async def bring(self) -> None:
        """Make the calls that are still to be made, together with others who do."""
        while self.queue:
            key = next(iter(self.queue))
            missing = {key: self.queue.pop(key)}
            await self.run.take_turn(self, missing)
            for call in missing.values():
                kept = await self._from_batch(call)
                answer = kept or await self._ask(call)
                self.run.deliver(key, answer, bought=kept is None)

    async def send(self) -> None:
        """All was made as jobs were read."""

    async def look(self) -> float:
        """Make what jobs ask after an answer that another transport has brought."""
        await self.bring()
        return float("inf")

    @property
    def status(self) -> str:
        """How fast it goes."""
        return f"{self.run.rate:.1f}/s"

    @property
    def pause(self) -> str:
        """The pause that the endpoint asks for."""
        paused = self._limiter.remaining_pause()
        return f"waits {paused:.0f} s, as the endpoint asks" if paused > 0 else ""

    async def aclose(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.aclose()

    async def _ask(self, missing: MissingCall) -> LlmAnswer:
        """Ask until there is a usable answer, a final reason, or no time left; every reply is recorded.

        The last record is the answer. Raises LlmError when the run must end.
        """
        # Not before a call is to be made: with every answer in the ledger no key is needed.
        client = self._client = self._client or ChatClient(self.endpoint)
        inquiry, call = missing.inquiry, missing.sent.call
        form, config = inquiry.model.form, inquiry.model.config
        recorder = Recorder(inquiry.model, inquiry.spending, config.price)
        messages = form.messages(call)

        async def post(timeout: float) -> Received[ReadReply]:
            reply = await client.ask(messages, form.response_format, call.sample, timeout)
            return recorder.read(call, reply)

        answer: LlmAnswer | None = None
        async for attempt in self._senders[inquiry].attempts(post, *recorder.size(messages)):
            answer = recorder.record(call, attempt) or answer
            if attempt.reply is not None and answer is not None:
                note_use(self.breaker, answer)
        assert answer is not None, "the last try leaves a record"
        return answer

    async def _from_batch(self, missing: MissingCall) -> LlmAnswer | None:
        """The answer that a batch of an earlier run has brought; LlmError where it is still on its way."""
        if self._in_batches is None:
            self._in_batches = asyncio.ensure_future(collect_ended(self.run, self.inquiries))
        on_their_way = await asyncio.shield(self._in_batches)
        if missing.sent.key in on_their_way:
            way = "is on its way" if len(on_their_way) == 1 else "are on their way"
            raise LlmError(
                f"{counted(len(on_their_way), 'call')} of {self.endpoint.model} {way} in batches, and one "
                "would be made and paid for twice. Wait for its answer with `endpoint: {batch: true}`, or "
                "cancel what is there with `harness judge batches --cancel` and run again."
            )
        return missing.inquiry.model.find(missing.sent.call)
