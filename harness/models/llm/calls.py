"""A run that asks its calls, several in parallel: the ledger, limits, tries, reading, recording.

All clocks are the event loop's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from harness.models.llm.breaker import Breaker
from harness.models.llm.client import ChatClient, Reply
from harness.models.llm.faults import CallError, one_line
from harness.models.llm.form import FINAL_REASONS, Malformed, heard
from harness.models.llm.limiter import RateLimiter
from harness.models.llm.model import Job, Model, jobs_of
from harness.models.llm.money import Spending, add, estimate_tokens
from harness.models.llm.sender import Exchange, Sender, StoppedError, Workers, run_to_end
from harness.values import LlmAnswer, LlmCall, LlmError, Reporter, Task

POLL = 0.2
SHOW_EVERY = 1.0

T = TypeVar("T")
HandOn = Callable[[T, list[LlmAnswer]], None]
_OF_CALL = [field.name for field in fields(LlmCall)]


class _Prompt(Exchange[Reply, LlmAnswer]):
    """One prompt, every reply to which is written into the ledger and counted in ``spending``."""

    def __init__(
        self, call: LlmCall, model: Model, client: ChatClient, spending: Spending, breaker: Breaker
    ) -> None:
        endpoint, price = model.config.endpoint, model.config.price
        self._call = call
        self._form = model.form
        self._ledger = model.ledger
        self._client = client
        self._price = price
        self._spending = spending
        self._breaker = breaker
        self._messages = model.form.messages(call)
        self._read: tuple[int, ...] | Malformed | None = None
        sent = sum(estimate_tokens(message["content"]) for message in self._messages)
        self.tokens = sent + endpoint.max_tokens
        self.most = price.of(sent, endpoint.max_tokens) if price else None

    async def post(self, timeout: float) -> Reply:
        """The reply to it."""
        return await self._client.ask(self._messages, self._form.response_format, self._call.sample, timeout)

    def used(self, reply: Reply) -> tuple[int | None, float | None]:
        """By what the endpoint says."""
        read, written = reply.prompt_tokens, reply.completion_tokens
        if read is None or written is None:
            return None, None
        return read + written, self._price.of(read, written) if self._price else None

    def repeats(self, reply: Reply) -> bool:
        """Whether it holds no grades or text, though it should."""
        self._read = Malformed(reply.fault) if reply.fault else self._form.read(self._call, reply.text)
        return isinstance(self._read, Malformed) and self._read.reason not in FINAL_REASONS

    def keep(self, reply: Reply, last: bool) -> LlmAnswer:
        """Record it, which settles the call if it is the last one."""
        answer = self._record(self._read, reply, settled=last)
        if not answer.reason:
            self._breaker.succeeded()
        elif answer.reason not in FINAL_REASONS:
            self._breaker.useless(f"unusable answer ({answer.reason}): {one_line(reply.text)}")
        return answer

    def lose(self, fault: CallError, tries: int, last: bool) -> LlmAnswer | None:
        """Record the reason of a call that is given up."""
        if fault.fatal:
            raise LlmError(f"The endpoint refuses to work: {fault}")
        # A temporary fault that cost nothing is not settled: the next run asks again.
        return self._record(Malformed(fault.reason), fault, settled=fault.settled) if last else None

    def _record(
        self, read: tuple[int, ...] | Malformed | None, came: Reply | CallError, *, settled: bool
    ) -> LlmAnswer:
        """Record one try: the content of the reply or, without one, the reason."""
        reply = came if isinstance(came, Reply) else None
        raw = (came.text or came.refusal) if isinstance(came, Reply) else came.detail
        price = self.used(reply)[1] if reply else 0.0
        grades, reason = (None, read.reason) if isinstance(read, Malformed) else (read, "")
        answered = LlmAnswer(
            **{name: getattr(self._call, name) for name in _OF_CALL},
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
        self._ledger.record(self._ledger.key(self._call), answered)
        if reply:
            spending = self._spending
            spending.served_models.add(reply.served_model)
            spending.prompt_tokens += reply.prompt_tokens or 0
            spending.completion_tokens += reply.completion_tokens or 0
            spending.cost = add(spending.cost, price)
        return answered


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
        self._client = self.model.client
        self._our_turn = False
        self._waiting_noted = False
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
            self.model.budget(),
            self._breaker,
            most_unusable=self._config.answers_per_call,
        )
        showing = asyncio.create_task(self._keep_showing())
        try:
            await self._workers.run(endpoint.max_concurrency, self.jobs, self._do)
        finally:
            showing.cancel()
            if self._our_turn:
                self.model.ledger.end_turn(self._endpoint.model)
            if self._client is not None:
                await self._client.close()

    async def _do(self, job: Job[T]) -> None:
        answers: list[LlmAnswer] = []
        calls = self.model.begin(job)
        call = heard(calls, None)
        while call is not None:
            if found := self.model.find(call):
                self._breaker.answered_before()
            answers.append(found or await self._answer(call))
            call = heard(calls, answers[-1])
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
        """Ask in turn until there is a usable answer, a final reason, or no time left; returns the record.

        Raises LlmError when the run must end.
        """
        while True:
            self._our_turn = self._our_turn or self.model.ledger.take_turn(self._endpoint.model)
            # Another run may have settled the call since it was looked up.
            result = self.model.find(call)
            if result is not None:
                return result
            if self._our_turn:
                break
            self._note_waiting()
            await self._wait(POLL)
        # Not before a call is to be made: with every answer in the ledger no key is needed.
        self._client = self._client or ChatClient(self._endpoint)
        answer = await self._sender.send(
            _Prompt(call, self.model, self._client, self.spending, self._breaker)
        )
        self.spending.from_ledger -= 1
        return answer

    def _note_waiting(self) -> None:
        """Say once that another run has the turn."""
        if not self._waiting_noted:
            self._waiting_noted = True
            self.reporter.note(
                f"Another run is asking {self._endpoint.model} with this ledger. This run uses its answers "
                "and waits for its turn, so that nothing is paid for twice."
            )

    def _show(self) -> None:
        rate = self._done / max(1e-9, time.monotonic() - self._started)
        parts = [f"{rate:.1f}/s", *self.spending.progress()]
        if self._waiting_noted and not self._our_turn:
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
    BudgetError, EndpointDownError or LlmError where the run cannot go on, and whatever ``hand_on`` raises;
    all answers are then in the ledger, and the next run goes on from there.
    """
    started = time.monotonic()
    with reporter.task(name, total) as task:
        run_to_end(CallRun(model, iter(jobs), hand_on, reporter, spending, task).run())
    spending.seconds = time.monotonic() - started


def talks(
    model: Model, jobs: Iterable[Job[Any]], *, reporter: Reporter, name: str = "asking"
) -> tuple[list[list[LlmAnswer]], Spending]:
    """Ask all calls of all jobs; returns the answers of each in the same order, and the spending."""
    found: dict[int, list[LlmAnswer]] = {}
    spending = Spending()
    placed = [replace(job, about=place) for place, job in enumerate(jobs)]
    ask(model, placed, found.__setitem__, reporter=reporter, spending=spending, name=name, total=len(placed))
    return [found[place] for place in range(len(placed))], spending


def answers(
    model: Model, calls: Sequence[LlmCall], *, reporter: Reporter, name: str = "asking"
) -> tuple[list[LlmAnswer], Spending]:
    """Ask calls and return their answers in the same order, and the spending; errors as ``ask``."""
    found, spending = talks(model, jobs_of(calls), reporter=reporter, name=name)
    return [answer for (answer,) in found], spending
