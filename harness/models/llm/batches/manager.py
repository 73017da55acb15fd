"""Pack, send, poll and collect batches, and record what they bring."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from harness.models.llm.batches.client import Answers, BatchClient, BatchState
from harness.models.llm.breaker import Breaker, EndpointDownError
from harness.models.llm.calls import Recorder
from harness.models.llm.client import Reply
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import CallError, one_line
from harness.models.llm.form import FINAL_REASONS, Malformed
from harness.models.llm.limiter import RateLimiter
from harness.models.llm.model import Model
from harness.models.llm.money import Spending, estimate_tokens
from harness.models.llm.sender import Exchange, Sender, Wait
from harness.values import LlmAnswer, LlmError, Reporter, SentBatch, SentCall, counted

T = TypeVar("T")
# How often a file is fetched whose lines are not whole.
_READS = 3
# About how long a line of an answer is, in bytes, for the time that a file may take.
_LINE = 2_000
_QUEUE_FULL = "token_limit_exceeded"
_LATER = "Its answers are paid for and not lost: run again to resume."


@dataclass(slots=True)
class OpenBatch:
    """A batch, from the first call put into it to its last answer."""

    calls: dict[str, SentCall] = field(default_factory=dict)
    """By the key of each."""
    most: dict[str, float] = field(default_factory=dict)
    """The highest price of each call, by its key."""
    tokens: int = 0
    """About how many tokens its calls send."""
    data: bytearray = field(default_factory=bytearray)
    """The file of requests, until it is sent."""
    number: int = 0
    """Its number on record."""
    batch_id: str = ""
    state: BatchState | None = None
    seen_running: bool = False
    """This run has seen it before it was cancelled."""
    kept: list[LlmAnswer | SentCall] = field(default_factory=list)
    """Once it has ended: the answer to each call or, if it must be asked again, the call."""
    spent: dict[str, float] = field(default_factory=dict)
    """What its calls have cost, as a budget counts them, by their keys."""
    stop: LlmError | None = None
    """The error that ends the run."""
    queue_full: bool = False
    """It was refused until another batch has ended."""


class _RefusedError(LlmError):
    """The endpoint has refused a request and done nothing."""


class _BatchRequest(Exchange[T, T]):
    """A request about batches, which costs nothing."""

    calls = 0

    def __init__(self, request: Callable[[], Awaitable[T]]) -> None:
        self._request = request

    async def post(self, timeout: float) -> T:
        """Its answer; the time that it may take depends on the size of the file."""
        return await self._request()

    def keep(self, reply: T, last: bool) -> T:
        """The answer as it is."""
        return reply

    def lose(self, fault: CallError, tries: int, last: bool) -> None:
        """End the run where the endpoint refuses, or is not reached as long as the configuration allows."""
        if not fault.again:
            raise _RefusedError(f"The endpoint refuses to work: {fault}") from None
        if last:
            raise EndpointDownError(
                f"The endpoint could not be reached about batches {tries} times in a row; the last "
                f"reason: {fault}. {_LATER}"
            ) from None


class BatchManager:
    """The batches of one model at one endpoint. Its user holds the model's turn at the ledger."""

    def __init__(self, model: Model, spending: Spending, reporter: Reporter, wait: Wait) -> None:
        config = self._config = model.config
        self.client = BatchClient(config.endpoint)
        self.in_progress: dict[int, OpenBatch] = {}
        self._model = model
        self._books = model.ledger.batches
        self._spending = spending
        self._reporter = reporter
        self._tries = config.batch.tries if config.batch else 1
        self._recorder = Recorder(model, spending, config.batch_price)
        self._breaker = Breaker(config.breaker, config.longest_outage)
        # Rate limits are for calls, and so is the count of them.
        clock = asyncio.get_running_loop().time
        self._sender = Sender(
            config.endpoint,
            RateLimiter(None, None, clock=clock),
            wait,
            lambda words: LlmError(f"The endpoint {words} {_LATER}"),
            spending,
            deadline=config.longest_outage,
        )

    def pack(self, queue: deque[SentCall], set_aside: Callable[[float], bool]) -> OpenBatch:
        """The next batch, without calls where none fits; the calls it takes leave the queue.

        ``set_aside`` says whether there is money for a call. Raises LlmError for a call that fits into no
        batch.
        """
        options, form, batch = self._config.batch_options, self._model.form, OpenBatch()
        queued = sum(other.tokens for other in self.in_progress.values())
        while queue and len(batch.calls) < options.max_requests:
            sent = queue[0]
            messages = form.messages(sent.call)
            line = self.client.line(sent.key, messages, form.response_format, sent.call.sample)
            if len(line) > options.max_bytes:
                raise LlmError(
                    f"One request has {len(line):,} bytes, and batch.max_bytes allows a whole batch "
                    f"{options.max_bytes:,}. Raise it, or shorten the prompt."
                )
            tokens, most = self._size(sent)
            room = None if options.queued_tokens is None else options.queued_tokens - queued - batch.tokens
            if room is not None and tokens > room:
                if not queued and not batch.calls:
                    raise LlmError(
                        f"One request has about {tokens:,} tokens, and batch.queued_tokens lets "
                        f"{options.queued_tokens:,} wait. Raise it, or shorten the prompt."
                    )
                break
            if len(batch.data) + len(line) > options.max_bytes or not set_aside(most):
                break
            queue.popleft()
            batch.data += line
            self._add(batch, sent, tokens, most)
        return batch

    async def adopt(self) -> None:
        """Find the batches that earlier runs have sent to this address with this form of prompt."""
        for batch in self._books.all(self._config.endpoint.model):
            if not batch.file_id:
                # nothing was uploaded, so no batch can have been made
                self._books.remove(batch.number)
                continue
            # those sent elsewhere cannot be found here
            if Endpoint.model_validate(batch.endpoint).address != self._config.endpoint.address:
                continue
            calls = self._books.calls(batch.number)
            if all(self._model.form.sha_of(sent.call.query) == sent.call.prompt_sha for sent in calls):
                await self._adopt(batch, calls)

    async def send(self, batch: OpenBatch) -> None:
        """Send a batch; it is recorded before the endpoint can know of it."""
        endpoint = self._config.endpoint
        recorded = endpoint.model_dump(mode="json")
        batch.number = self._books.add(endpoint.model, recorded, batch.calls.values())
        try:
            file_id = await self._patiently(partial(self.client.upload, bytes(batch.data)))
            self._books.uploaded(batch.number, file_id)
            batch.state = await self._create(file_id)
        except _RefusedError:
            self._books.remove(batch.number)
            raise
        batch.data.clear()
        batch.batch_id = batch.state.batch_id
        self._books.created(batch.number, batch.batch_id)
        self.in_progress[batch.number] = batch
        self._reporter.note(
            f"Batch {batch.batch_id}: {counted(len(batch.calls), 'call')} sent to {endpoint.model}, to be "
            "answered within a day. You can stop waiting at any time; the same command resumes."
        )

    async def poll(self) -> list[OpenBatch]:
        """Poll the batches, record the results of those that have ended, and return these."""
        ended = []
        alone = len(self.in_progress) == 1
        for batch in list(self.in_progress.values()):
            state = batch.state = await self._patiently(partial(self.client.state, batch.batch_id))
            if not state.ended:
                batch.seen_running |= state.status != "cancelling"
                continue
            if state.status == "failed":
                self._refused(batch, state, alone=alone)
            else:
                self._record(batch, state, await self._answers(state))
            self._books.remove(batch.number)
            del self.in_progress[batch.number]
            ended.append(batch)
        return ended

    async def _patiently(self, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request until it succeeds, through outages as long as the configuration allows."""
        return await self._sender.send(_BatchRequest(request))

    def _size(self, sent: SentCall) -> tuple[int, float]:
        """About how many tokens a call sends, and its highest price; 0 if no price is known."""
        messages = self._model.form.messages(sent.call)
        tokens = sum(estimate_tokens(message["content"]) for message in messages)
        price = self._config.batch_price
        return tokens, price.of(tokens, self._config.endpoint.max_tokens) if price else 0.0

    def _add(self, batch: OpenBatch, sent: SentCall, tokens: int, most: float) -> None:
        batch.calls[sent.key] = sent
        batch.most[sent.key] = most
        batch.tokens += tokens

    async def _adopt(self, sent: SentBatch, calls: list[SentCall]) -> None:
        batch_id = sent.batch_id
        if not batch_id:
            # killed between the request and its answer
            state = await self._patiently(partial(self.client.find, sent.file_id))
            if state is None:
                # no batch was made of it, and nothing is to be paid
                self._books.remove(sent.number)
                return
            batch_id = state.batch_id
            self._books.created(sent.number, batch_id)
        batch = self.in_progress[sent.number] = OpenBatch(number=sent.number, batch_id=batch_id)
        for call in calls:
            self._add(batch, call, *self._size(call))
        self._spending.calls += len(calls)
        self._reporter.note(
            f"Batch {batch_id} of {sent.made_at}, {counted(len(calls), 'call')}, was sent before: its "
            "answers are collected, and none of its calls is made twice."
        )

    async def _create(self, file_id: str) -> BatchState:
        """Make a batch of a file once, though the answer to the request may be lost on its way.

        Raises _RefusedError if none has been made, LlmError where that is not known.
        """
        lost = False

        async def make() -> BatchState:
            nonlocal lost
            if lost and (found := await self.client.find(file_id)):
                return found
            try:
                return await self.client.create(file_id)
            except CallError as fault:
                lost = lost or fault.again
                raise

        try:
            return await self._patiently(make)
        except _RefusedError as error:
            if not lost:
                raise
            raise LlmError(f"{error} A batch may have been made before that. {_LATER}") from None

    def _refused(self, batch: OpenBatch, state: BatchState, *, alone: bool) -> None:
        """A batch that the endpoint has not begun: nothing is to be paid."""
        batch.kept = list(batch.calls.values())
        batch.queue_full = any(code == _QUEUE_FULL for code, _ in state.errors)
        if batch.queue_full and not alone:
            return
        words = "; ".join(f"{code}: {text}" if code else text for code, text in state.errors[:3])
        advice = (
            "Set batch.queued_tokens below the limit that it names; the rest is then sent as batches end."
            if batch.queue_full
            else "No call in it was answered. Fix the stated problem and run again."
        )
        batch.stop = LlmError(
            f"The endpoint refuses batch {batch.batch_id} of {counted(len(batch.calls), 'call')}: "
            f"{words or 'it gives no reason'}. {advice}"
        )

    async def _answers(self, state: BatchState) -> Answers:
        """The lines of a batch's files, which are fetched again where a line is broken or missing."""
        answers = Answers()
        for _ in range(_READS):
            answers = await self._patiently(partial(self.client.answers, state, _LINE * state.total))
            if not answers.broken and len(answers.found) >= state.completed + state.failed:
                break
        return answers

    def _record(self, batch: OpenBatch, state: BatchState, answers: Answers) -> None:
        came = [answers.found.get(key) or _missing(state) for key in batch.calls]
        for sent, result in zip(batch.calls.values(), came, strict=True):
            most = batch.most[sent.key]
            if isinstance(result, CallError):
                batch.kept.append(self._without_answer(sent, result, most))
                batch.spent[sent.key] = most if result.billed else 0.0
            else:
                batch.kept.append(self._answered(sent, result))
                price = self._recorder.price_of(result)
                batch.spent[sent.key] = most if price is None else price
        answered = sum(not isinstance(result, CallError) for result in answers.found.values())
        how_many = f"{answered:,} of {len(batch.calls):,} calls were answered"
        try:
            self._judge(came, batch.kept)
        except LlmError as error:
            batch.stop = error
        if state.status == "cancelled" and batch.seen_running and batch.stop is None:
            batch.stop = LlmError(
                f"Batch {batch.batch_id} was cancelled while this run waited for it: {how_many}. "
                "Its answers are in the ledger. Run again to make the remaining calls."
            )
        if state.status != "completed":
            how = "was cancelled" if state.status == "cancelled" else f"has {state.status}"
            self._reporter.warn(f"Batch {batch.batch_id} {how}: {how_many}.")
        for count, what in (
            (
                len(answers.found.keys() - batch.calls.keys()),
                "answers to requests that it does not contain, which are ignored",
            ),
            (len(answers.double), "requests with two different answers, which are made again"),
            (answers.broken, "unreadable lines, whose requests are made again"),
        ):
            if count:
                self._reporter.warn(f"Batch {batch.batch_id}: {count:,} {what}.")

    def _answered(self, sent: SentCall, reply: Reply) -> LlmAnswer | SentCall:
        """Record a reply; returns the answer, or the call if it must be made again."""
        read = self._recorder.read(sent.call, reply)
        malformed = isinstance(read, Malformed) and read.reason not in FINAL_REASONS
        unusable = sent.unusable + isinstance(read, Malformed)
        last = not malformed or unusable >= self._config.answers_per_call
        ledger = self._model.ledger
        # A run that was killed while it read the same file may have recorded it.
        answer: LlmAnswer | None
        if ledger.has(sent.key, reply.request_id):
            answer = ledger.find(sent.key)
        else:
            answer = self._recorder.record(sent.call, read, reply, settled=last)
        return answer if last and answer else SentCall(sent.key, sent.call, unusable, sent.failed)

    def _without_answer(self, sent: SentCall, fault: CallError, most: float) -> LlmAnswer | SentCall:
        known = self._config.batch_price is not None
        self._spending.note_fault(fault.reason, fault.billed, most if known else None)
        again = SentCall(sent.key, sent.call, sent.unusable, sent.failed + 1)
        if fault.fatal or (fault.again and again.failed < self._tries):
            return again
        return self._recorder.record(sent.call, Malformed(fault.reason), fault, settled=fault.settled)

    def _judge(self, came: Iterable[Reply | CallError], kept: Iterable[LlmAnswer | SentCall]) -> None:
        """End the run where a batch shows that asking on would waste money; all of it is on record by now.

        Raises LlmError for a fault that every call would meet, EndpointDownError after too many in a row
        without use.
        """
        for reply, result in zip(came, kept, strict=True):
            if isinstance(reply, CallError):
                if reply.fatal:
                    raise LlmError(f"The endpoint refuses to work: {reply}")
                if reply.refused:
                    self._breaker.refused(str(reply))
            elif isinstance(result, LlmAnswer) and not result.reason:
                self._breaker.succeeded()
            elif not isinstance(result, LlmAnswer) or result.reason not in FINAL_REASONS:
                self._breaker.useless(f"unusable answer: {one_line(reply.text)}")


def _missing(state: BatchState) -> CallError:
    """The fault of a call that is missing from the files of its batch."""
    if state.status in {"expired", "cancelled"}:
        words = "the batch ended before this request was answered"
        return CallError(f"batch_{state.status}", words, again=True)
    words = "the batch ended without an answer to this request"
    return CallError("missing_line", words, again=True, billed=True)
