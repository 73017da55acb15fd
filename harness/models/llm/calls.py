"""A run that asks its calls, several in parallel: the ledger, limits, tries, reading, recording.

All clocks are the event loop's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from harness.models.llm.batch_run import BatchRun, collect_ended
from harness.models.llm.client import ChatClient
from harness.models.llm.limits import Breaker, RateLimiter
from harness.models.llm.model import HandOn, Job, Model, jobs_of
from harness.models.llm.money import Budget, Spending
from harness.models.llm.recording import ReadReply, Recorder, note_use
from harness.models.llm.sender import Received, Sender, StoppedError, Workers, run_to_end
from harness.models.llm.turns import Turn
from harness.values import LlmAnswer, LlmCall, LlmError, Reporter, Task

POLL = 0.2
SHOW_EVERY = 1.0

T = TypeVar("T")


@dataclass
class CallRun(Generic[T]):
    """Asks within the limits of the model, and records every answer before anything uses it.

    Only one run at a time buys answers of a model with one ledger.
    """

    model: Model
    jobs: Iterator[Job[T]]
    hand_on: HandOn[T]
    """Gets each job's answers as soon as it has all of them."""
    reporter: Reporter
    spending: Spending
    task: Task

    def __post_init__(self) -> None:
        self._config, self._endpoint = self.model.config, self.model.config.endpoint
        self._client: ChatClient | None = None
        self._turn = Turn(self.model, self.reporter)
        self._in_batches: asyncio.Task[frozenset[str]] | None = None
        self._being_asked: dict[str, asyncio.Future[LlmAnswer]] = {}
        self._done = 0
        self._started = time.monotonic()
        self._workers = Workers()
        self._wait = self._workers.wait

    async def run(self) -> None:
        """Work until there is no job left; in any case, wait for the calls in progress."""
        endpoint = self._endpoint
        self._limiter = RateLimiter(
            endpoint.requests_per_minute, endpoint.tokens_per_minute, clock=asyncio.get_running_loop().time
        )
        # A pause that the endpoint asks for is not an outage.
        self._breaker = Breaker(
            self._config.breaker, self._config.longest_outage, clock=self._limiter.unpaused_time
        )
        self._sender = Sender(
            endpoint,
            self._limiter,
            self._wait,
            lambda words: LlmError(f"The endpoint {words} Every answer is in the ledger."),
            self.spending,
            Budget(endpoint.model, self._config.max_cost, self._config.max_calls, self.model.before),
            self._breaker,
            most_unusable=self._config.answers_per_call,
        )
        self._recorder = Recorder(self.model, self.spending, self._config.price)
        showing = asyncio.create_task(self._keep_showing())
        try:
            await self._workers.run(endpoint.max_concurrency, self.jobs, self._do)
        finally:
            showing.cancel()
            self._turn.end()
            if self._client is not None:
                await self._client.aclose()

    async def _do(self, job: Job[T]) -> None:
        answers: list[LlmAnswer] = []
        calls = self.model.begin(job)
        with suppress(StopIteration):
            while True:
                call = calls.send(answers[-1] if answers else None)
                if kept := self.model.find(call):
                    self._breaker.answered_before()
                answers.append(kept or await self._answer(call))
        # less those that this run has asked: _ask takes them off
        self.spending.from_ledger += len(answers)
        self._done += job.size
        self.task.advance(job.size)
        self.hand_on(job.about, answers)
        self._show()
        # A ledger full of answers must not keep the other workers from their replies.
        await asyncio.sleep(0)

    async def _answer(self, call: LlmCall) -> LlmAnswer:
        """The answer to a call that the ledger lacks; if another worker is asking it, wait for that."""
        key = self.model.ledger.key(call)
        pending = self._being_asked.get(key)
        if pending is not None:
            await asyncio.wait([pending])
            if pending.cancelled():
                raise StoppedError("the run is ending")
            return pending.result()
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
        """Ask in turn until there is a usable answer, a final reason, or no time left; returns the record.

        Raises LlmError when the run must end.
        """
        while True:
            ours = self._turn.take()
            # Another run may have settled the call since it was looked up.
            result = self.model.find(call)
            if result is not None:
                return result
            if ours:
                break
            self._turn.note_waiting()
            await self._wait(POLL)
        result = await self._from_batch(call)
        if result is not None:
            return result
        # Not before a call is to be made: with every answer in the ledger no key is needed.
        self._client = self._client or ChatClient(self._endpoint)
        answer = await self._tried(self._client, call)
        self.spending.from_ledger -= 1
        return answer

    async def _tried(self, client: ChatClient, call: LlmCall) -> LlmAnswer:
        """Every reply to a call is recorded; the last record is the answer."""
        form, recorder = self.model.form, self._recorder
        messages = form.messages(call)

        async def post(timeout: float) -> Received[ReadReply]:
            reply = await client.ask(messages, form.response_format, call.sample, timeout)
            return recorder.read(call, reply)

        answer: LlmAnswer | None = None
        async for attempt in self._sender.attempts(post, *recorder.size(messages)):
            answer = recorder.record(call, attempt) or answer
            if attempt.reply is not None and answer is not None:
                note_use(self._breaker, answer)
        assert answer is not None, "the last try leaves a record"
        return answer

    async def _from_batch(self, call: LlmCall) -> LlmAnswer | None:
        """The answer that a batch of an earlier run has brought; LlmError where it is still on its way."""
        if self._in_batches is None:
            collected = collect_ended(self.model, self.spending, self.reporter, self._wait)
            self._in_batches = asyncio.ensure_future(collected)
        on_their_way = await asyncio.shield(self._in_batches)
        if self.model.ledger.key(call) in on_their_way:
            raise LlmError(
                f"{len(on_their_way):,} calls of {self._endpoint.model} are on their way in batches, and one "
                "of them would be made and paid for twice. Wait for them with `endpoint: {batch: true}`, or "
                "cancel them with `harness judge batches --cancel` and run again."
            )
        return self.model.find(call)

    def _show(self) -> None:
        rate = self._done / max(1e-9, time.monotonic() - self._started)
        parts = [f"{rate:.1f}/s", *self.spending.progress()]
        if self._turn.waiting:
            parts.append("waits for another run")
        if (paused := self._limiter.remaining_pause()) > 0:
            parts.append(f"waits {paused:.0f} s, as the endpoint asks")
        self.task.describe(", ".join(parts))

    async def _keep_showing(self) -> None:
        """Update the display even while nothing is answered, as while an endpoint is down."""
        while True:
            await asyncio.sleep(SHOW_EVERY)
            self._show()


def ask(
    model: Model,
    jobs: Iterable[Job[T]],
    hand_on: HandOn[T],
    *,
    reporter: Reporter,
    spending: Spending,
    name: str = "asking",
    total: int = 0,
) -> None:
    """Ask all calls of all jobs, each job handed on as soon as it is answered (in no set order).

    Jobs are read as they are needed, so a generator of any length takes constant memory. ``spending`` counts
    as it goes; ``name`` and ``total`` (the number of things done) are for the progress bar. Raises
    LlmError where the run cannot go on, and whatever ``hand_on`` raises;
    all answers are then in the ledger, and the next run goes on from there.
    """
    started = time.monotonic()
    with reporter.task(name, total) as task:
        kind = BatchRun if model.config.endpoint.batch else CallRun
        run_to_end(kind(model, iter(jobs), hand_on, reporter, spending, task).run())
    spending.seconds = time.monotonic() - started


def send_batches(model: Model, jobs: Iterable[Job[Any]], *, reporter: Reporter) -> None:
    """Send calls that the ledger lacks in batches, without waiting; ``ask`` collects the answers.

    For several models with equal calls, whose batches can then be answered side by side. Does nothing where
    calls are not asked in batches. Raises as ``ask``.
    """
    if model.config.endpoint.batch:
        with reporter.task("sending", 0) as task:
            run = BatchRun(model, iter(jobs), lambda *_: None, reporter, Spending(), task, wait=False)
            run_to_end(run.run())


def talks(
    model: Model, jobs: Iterable[Job[Any]], *, reporter: Reporter, name: str = "asking"
) -> tuple[list[list[LlmAnswer]], Spending]:
    """Ask all calls of all jobs; returns the answers of each in the same order, and the spending."""
    answers_by_place: dict[int, list[LlmAnswer]] = {}
    spending = Spending()
    placed = [replace(job, about=place) for place, job in enumerate(jobs)]
    hand_on, total = answers_by_place.__setitem__, len(placed)
    ask(model, placed, hand_on, reporter=reporter, spending=spending, name=name, total=total)
    return [answers_by_place[place] for place in range(len(placed))], spending


def answers(
    model: Model, calls: Sequence[LlmCall], *, reporter: Reporter, name: str = "asking"
) -> tuple[list[LlmAnswer], Spending]:
    """Ask calls and return their answers in the same order, and the spending; errors as ``ask``."""
    answers_by_job, spending = talks(model, jobs_of(calls), reporter=reporter, name=name)
    return [answer for (answer,) in answers_by_job], spending
