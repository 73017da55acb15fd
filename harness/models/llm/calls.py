"""A run that asks its calls, several in parallel: the ledger, limits, tries, reading, recording.

All clocks are the event loop's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, TypeVar

from harness.models.llm.client import ChatClient, Reply
from harness.models.llm.faults import CallError, one_line
from harness.models.llm.form import FINAL_REASONS, Malformed
from harness.models.llm.limits import Breaker, RateLimiter
from harness.models.llm.model import Job, Model, jobs_of
from harness.models.llm.money import Budget, Spending, add, estimate_tokens
from harness.models.llm.sender import Came, Exchange, Sender, StoppedError, Workers, run_to_end
from harness.values import LlmAnswer, LlmCall, LlmError, Reporter, Task

POLL = 0.2
SHOW_EVERY = 1.0

T = TypeVar("T")
HandOn = Callable[[T, list[LlmAnswer]], None]
_OF_CALL = {field.name for field in fields(LlmCall)}
_OF_REPLY = {field.name for field in fields(Reply)} & {field.name for field in fields(LlmAnswer)}


@dataclass(eq=False)
class _Prompt(Exchange):
    """One prompt, every reply to which is written into the ledger and counted in ``spending``.

    ``answer`` is what was recorded last.
    """

    call: LlmCall
    model: Model
    client: ChatClient
    spending: Spending
    breaker: Breaker
    answer: LlmAnswer = field(init=False)

    def __post_init__(self) -> None:
        self._messages = self.model.form.messages(self.call)
        sent = sum(estimate_tokens(message["content"]) for message in self._messages)
        longest = self.model.config.endpoint.max_tokens
        self.tokens = sent + longest
        self.most = self.model.config.cost(sent, longest)

    async def post(self, timeout: float) -> Came:
        """Its tokens and cost are what the endpoint says; one without grades or text is useless."""
        form, call = self.model.form, self.call
        reply = await self.client.ask(self._messages, form.response_format, call.sample, timeout)
        read = Malformed(reply.fault) if reply.fault else form.read(call, reply.text)
        useless = isinstance(read, Malformed) and read.reason not in FINAL_REASONS
        sent, written = reply.prompt_tokens, reply.completion_tokens
        if sent is None or written is None:
            came = Came(None, None, useless)
        else:
            came = Came(sent + written, self.model.config.cost(sent, written), useless)
        self._held = reply, read, came.cost
        return came

    def keep(self, last: bool) -> None:
        """Record it, which settles the call if it is the last one."""
        reply, read, cost = self._held
        self._record(reply, read, cost, settled=last)
        spending = self.spending
        spending.served_models.add(reply.served_model)
        spending.prompt_tokens += reply.prompt_tokens or 0
        spending.completion_tokens += reply.completion_tokens or 0
        spending.cost = add(spending.cost, cost)
        reason = self.answer.reason
        if not reason:
            self.breaker.succeeded()
        elif reason not in FINAL_REASONS:
            self.breaker.useless(f"unusable answer ({reason}): {one_line(reply.text)}")

    def lose(self, fault: CallError, tries: int, last: bool) -> None:
        """Record the reason of a call that is given up."""
        if fault.fatal:
            raise LlmError(f"The endpoint refuses to work: {fault}")
        if last:
            # A temporary fault that cost nothing is not settled: the next run asks again.
            nothing = Reply(fault.detail, finish=None, seconds=fault.seconds)
            self._record(nothing, Malformed(fault.reason), 0.0, settled=fault.settled)

    def _record(
        self, reply: Reply, read: tuple[int, ...] | Malformed | None, cost: float | None, *, settled: bool
    ) -> None:
        """Record one try."""
        grades, reason = (None, read.reason) if isinstance(read, Malformed) else (read, "")
        self.answer = LlmAnswer(
            **{name: getattr(self.call, name) for name in _OF_CALL},
            **{name: getattr(reply, name) for name in _OF_REPLY},
            settled=settled,
            grades=grades,
            reason=reason,
            raw=reply.text or reply.refusal,
            price=cost,
        )
        ledger = self.model.ledger
        ledger.record(ledger.key(self.call), self.answer)


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
            Budget(endpoint.model, self._config.max_cost, self._config.max_calls, self.model.before),
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
                await self._client.aclose()

    async def _do(self, job: Job[T]) -> None:
        answers: list[LlmAnswer] = []
        calls = self.model.begin(job)
        with suppress(StopIteration):
            while True:
                call = calls.send(answers[-1] if answers else None)
                if found := self.model.find(call):
                    self._breaker.answered_before()
                answers.append(found or await self._answer(call))
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
        prompt = _Prompt(call, self.model, self._client, self.spending, self._breaker)
        await self._sender.send(prompt)
        self.spending.from_ledger -= 1
        return prompt.answer

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
    LlmError where the run cannot go on, and whatever ``hand_on`` raises;
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
