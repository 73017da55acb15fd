"""Answers by batches: what the ledger lacks is sent when all jobs are read, and collected when it has come.

A job whose calls depend on answers goes on in the next batch. Jobs that are open are held in memory; what was
sent is in a file beside the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.models.llm.batch_desk import BatchDesk, Collected
from harness.models.llm.batch_options import BatchOptions
from harness.models.llm.batch_wordings import BATCHES
from harness.models.llm.requests import Inquiry, MissingCall, RequestRun, Transport
from harness.values import LlmAnswer, counted, worded


class BatchTransport(Transport):
    """Sends all calls of an endpoint that are known at a time, of whatever form, as one batch if it fits."""

    def __init__(self, run: RequestRun, inquiries: Sequence[Inquiry[Any]]) -> None:
        super().__init__(run, inquiries)
        self._options = self.endpoint.batch or BatchOptions()
        self._desk: BatchDesk | None = None
        # the endpoint's queue is full until a batch has ended
        self._full = False

    def has(self, key: str) -> bool:
        """Whether an earlier run has sent a call."""
        return self._desk is not None and self._desk.has(key)

    async def send(self) -> None:
        """Take on what earlier runs have sent, and send the rest as far as the limits allow now."""
        if self.queue and self._desk is None:
            await self.run.take_turn(self, self.queue)
        if not self.queue:
            return
        # Not before a call is to be made: with every answer in the ledger no key is needed.
        if self._desk is None:
            self._desk = BatchDesk(self.run, self.inquiries, self.breaker)
            await self._adopt(self._desk)
        await self._send(self._desk)
        self.run.show()

    async def look(self) -> float:
        """Send what may be sent, and take in what has ended."""
        await self.send()
        desk = self._desk
        if desk is None:
            return self._options.poll
        for collected in await desk.collect():
            self._take_in(collected)
        return self._options.poll if desk.in_progress or not self.queue else 0

    @property
    def status(self) -> str:
        """How many calls of how many batches are answered."""
        batches = list(self._desk.in_progress.values()) if self._desk else []
        if not batches:
            return ""
        states = [batch.state for batch in batches if batch.state is not None]
        finished = sum(state.completed + state.failed for state in states)
        how = ", ".join(dict.fromkeys(state.status for state in states)) or "sent"
        calls = counted(sum(len(batch.calls) for batch in batches), "call")
        return f"{finished:,} of {calls} in {counted(len(batches), 'batch', 'batches')} ({how})"

    def say_what_remains(self) -> None:
        """Interrupted, leave the batches to the endpoint and say so."""
        left = list(self._desk.in_progress.values()) if self._desk else []
        if left and self.run.waiting:
            names = ", ".join(batch.batch_id for batch in left[:3]) + (", …" if len(left) > 3 else "")
            calls = sum(len(batch.calls) for batch in left)
            self.run.reporter.note(worded(BATCHES, "batch.left", count=calls, batches=names))

    async def aclose(self) -> None:
        """Close the connections."""
        if self._desk is not None:
            await self._desk.aclose()

    async def _adopt(self, desk: BatchDesk) -> None:
        """Wait for what earlier runs have sent, and reserve what it may cost."""
        await desk.adopt(self.queue)
        for batch in desk.in_progress.values():
            for key, most in batch.most.items():
                self.queue.pop(key, None)
                self.run.budget(batch.calls[key].inquiry).adopt(most)

    async def _send(self, desk: BatchDesk) -> None:
        while self.queue and not (self._full and desk.in_progress):
            first = next(iter(self.queue.values()))
            batch = desk.pack(self.queue)
            if not batch.calls:
                if not desk.in_progress:
                    raise self.run.budget(first.inquiry).exhausted()
                return
            for call in batch.calls.values():
                call.inquiry.spending.calls += 1
            await desk.send(batch)

    def _take_in(self, collected: Collected) -> None:
        """Pass on the results of an ended batch, queue the calls to repeat, or end the run."""
        for key, most in collected.batch.most.items():
            inquiry = collected.batch.calls[key].inquiry
            self.run.budget(inquiry).settle(most, collected.spent.get(key, 0.0))
            outcome = collected.outcomes[key]
            if isinstance(outcome, LlmAnswer):
                self.run.deliver(key, outcome, bought=True)
            elif self.run.waits_for(key):
                self.queue[key] = MissingCall(inquiry, outcome)
        self._full = collected.queue_full
        if collected.stop is not None:
            raise collected.stop
