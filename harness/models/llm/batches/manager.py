"""Send, poll and collect batches: all communication with the endpoint about them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from harness.models.llm.batches.client import BatchClient, BatchState
from harness.models.llm.batches.lines import Answers, read_answers
from harness.models.llm.batches.packing import BatchFile, Packer
from harness.models.llm.batches.recording import BatchRecorder
from harness.models.llm.breaker import EndpointDownError
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import CallError
from harness.models.llm.http_client import unblocked
from harness.models.llm.limiter import RateLimiter
from harness.models.llm.model import Model
from harness.models.llm.records import Spending
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
class PendingBatch:
    """A batch at the endpoint; ``most`` is the highest price of each call, by its key.

    ``seen_running``: this run has seen it before it was cancelled.
    """

    number: int
    batch_id: str
    calls: dict[str, SentCall]
    most: dict[str, float]
    tokens: int
    made_at: str = ""
    state: BatchState | None = None
    seen_running: bool = False


@dataclass(slots=True)
class BatchResult:
    """The result of an ended batch: for each call its answer or, if it must be asked again, the call.

    ``spent`` is what its calls have cost, as a budget counts them. ``stop`` is the error that ends the run.
    """

    batch: PendingBatch
    kept: list[LlmAnswer | SentCall] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)
    stop: Exception | None = None
    queue_full: bool = False


class RefusedError(LlmError):
    """The endpoint has refused a request and done nothing."""


class MaybeMadeError(LlmError):
    """It is unknown whether the endpoint has made a batch."""


def address_of(endpoint: Endpoint) -> str:
    """Where batches are kept: those sent elsewhere cannot be found here."""
    return endpoint.azure.endpoint if endpoint.azure else endpoint.base_url


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
            raise RefusedError(f"The endpoint refuses to work: {fault}") from None
        if last:
            raise EndpointDownError(
                f"The endpoint could not be reached about batches {tries} times in a row; the last "
                f"reason: {fault}. {_LATER}"
            ) from None


class BatchManager:
    """The batches of one model at one endpoint. Its user holds the model's turn at the ledger."""

    def __init__(self, model: Model, spending: Spending, reporter: Reporter, wait: Wait) -> None:
        config = model.config
        self.client = BatchClient(config.endpoint)
        self.packer = Packer(model, config.batch_options, config.batch_price)
        self.in_progress: dict[int, PendingBatch] = {}
        self._model = model
        self._books = model.ledger.batches
        self._spending = spending
        self._reporter = reporter
        self._keeper = BatchRecorder(model, spending)
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

    async def close(self) -> None:
        """Close the connections; batches go on."""
        await self.client.close()

    async def adopt(self) -> None:
        """Find the batches that earlier runs have sent to this address with this form of prompt."""
        address = address_of(self._model.config.endpoint)
        for batch in self._books.all(self._model.config.endpoint.model):
            if not batch.file_id:
                # nothing was uploaded, so no batch can have been made
                self._books.remove(batch.number)
                continue
            if address_of(Endpoint.model_validate(batch.endpoint)) != address:
                continue
            calls = self._books.calls(batch.number)
            if all(self._model.form.sha_of(one.call.query) == one.call.prompt_sha for one in calls):
                await self._adopt(batch, calls)

    async def send(self, parcel: BatchFile) -> PendingBatch:
        """Send a batch; it is recorded before the endpoint can know of it."""
        endpoint = self._model.config.endpoint
        number = self._books.add(endpoint.model, endpoint.model_dump(mode="json"), parcel.calls)
        data = bytes(parcel.data)
        try:
            file_id = await self.patiently(partial(self.client.upload, data))
            self._books.uploaded(number, file_id)
            state = await self._create(file_id)
        except RefusedError:
            self._books.remove(number)
            raise
        self._books.created(number, state.batch_id)
        calls = {one.key: one for one in parcel.calls}
        sent = PendingBatch(number, state.batch_id, calls, parcel.most, parcel.tokens, state=state)
        self.in_progress[number] = sent
        self._reporter.note(
            f"Batch {state.batch_id}: {counted(len(calls), 'call')} sent to {endpoint.model}, to be answered "
            "within a day. You can stop waiting at any time; the same command resumes."
        )
        return sent

    async def poll(self) -> list[BatchResult]:
        """Poll the batches and collect those that have ended."""
        brought = []
        alone = len(self.in_progress) == 1
        for one in list(self.in_progress.values()):
            one.state = await self.patiently(partial(self.client.state, one.batch_id))
            if one.state.ended:
                brought.append(await self._take_in(one, one.state, alone=alone))
            elif one.state.status != "cancelling":
                one.seen_running = True
        return brought

    async def patiently(self, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request until it succeeds, through outages as long as the configuration allows."""
        return await self._sender.send(_BatchRequest(request))

    async def _adopt(self, batch: SentBatch, calls: list[SentCall]) -> None:
        batch_id = batch.batch_id
        if not batch_id:
            # killed between the request and its answer
            state = await self.patiently(partial(self.client.find, batch.file_id))
            batch_id = state.batch_id if state else ""
            if batch_id:
                self._books.created(batch.number, batch_id)
        if not batch_id:
            # no batch was made of it, and nothing is to be paid
            self._books.remove(batch.number)
            return
        tokens = {one.key: self.packer.tokens(one.call) for one in calls}
        self.in_progress[batch.number] = PendingBatch(
            batch.number,
            batch_id,
            {one.key: one for one in calls},
            {key: self.packer.most(count) for key, count in tokens.items()},
            sum(tokens.values()),
            batch.made_at,
        )
        self._spending.calls += len(calls)
        self._reporter.note(
            f"Batch {batch_id} of {batch.made_at}, {counted(len(calls), 'call')}, was sent before: its "
            "answers are collected, and none of its calls is made twice."
        )

    async def _create(self, file_id: str) -> BatchState:
        """Make a batch of a file once, though the answer to the request may be lost on its way.

        Raises RefusedError if none has been made, MaybeMadeError where that is not known.
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
            return await self.patiently(make)
        except RefusedError as error:
            if not lost:
                raise
            raise MaybeMadeError(f"{error} A batch may have been made before that. {_LATER}") from None

    async def _take_in(self, one: PendingBatch, state: BatchState, *, alone: bool) -> BatchResult:
        """Record the result of an ended batch, then remove it from the list."""
        brought = BatchResult(one)
        if state.status == "failed":
            self._refused(one, state, brought, alone=alone)
        else:
            answers = await self._answers(state)
            self._record(one, state, answers, brought)
            self._warn_of_oddities(one, state, answers)
        self._books.remove(one.number)
        del self.in_progress[one.number]
        return brought

    def _refused(self, one: PendingBatch, state: BatchState, brought: BatchResult, *, alone: bool) -> None:
        """A batch that the endpoint has not begun: nothing is to be paid."""
        brought.kept = list(one.calls.values())
        brought.queue_full = any(code == _QUEUE_FULL for code, _ in state.errors)
        if brought.queue_full and not alone:
            return
        words = "; ".join(f"{code}: {text}" if code else text for code, text in state.errors[:3])
        advice = (
            "Set batch.queued_tokens below the limit that it names; the rest is then sent as batches end."
            if brought.queue_full
            else "No call in it was answered. Fix the stated problem and run again."
        )
        brought.stop = LlmError(
            f"The endpoint refuses batch {one.batch_id} of {counted(len(one.calls), 'call')}: "
            f"{words or 'it gives no reason'}. {advice}"
        )

    async def _answers(self, state: BatchState) -> Answers:
        """The lines of a batch's files, which are fetched again where a line is broken or missing."""
        names = [name for name in (state.output_file, state.error_file) if name]
        answers = Answers()
        for _ in range(_READS):
            size = _LINE * state.total
            files = [await self.patiently(partial(self.client.read, name, size)) for name in names]
            read = partial(read_answers, files, self.client.chat, state)
            answers = await unblocked(sum(map(len, files)), read)
            if not answers.broken and len(answers.found) >= state.completed + state.failed:
                break
        return answers

    def _record(self, one: PendingBatch, state: BatchState, answers: Answers, brought: BatchResult) -> None:
        came = [answers.found.get(key) or _missing(state) for key in one.calls]
        for sent, what in zip(one.calls.values(), came, strict=True):
            brought.kept.append(self._keeper.keep(sent, what, one.most[sent.key]))
            brought.spent[sent.key] = self._keeper.price_of(what, one.most[sent.key])
        try:
            self._keeper.judge(came, brought.kept)
        except LlmError as error:
            brought.stop = error
        if state.status == "cancelled" and one.seen_running and brought.stop is None:
            brought.stop = LlmError(
                f"Batch {one.batch_id} was cancelled while this run waited for it: {_counted(answers, one)}. "
                "Its answers are in the ledger. Run again to make the remaining calls."
            )

    def _warn_of_oddities(self, one: PendingBatch, state: BatchState, answers: Answers) -> None:
        """Warn of anything unexpected."""
        if state.status != "completed":
            self._reporter.warn(
                f"Batch {one.batch_id} has {state.status}: {_counted(answers, one)}.".replace(
                    "has cancelled", "was cancelled"
                )
            )
        unrequested = answers.found.keys() - one.calls.keys()
        for count, what in (
            (len(unrequested), "answers to requests that it does not contain, which are ignored"),
            (len(answers.double), "requests with two different answers, which are made again"),
            (answers.broken, "unreadable lines, whose requests are made again"),
        ):
            if count:
                self._reporter.warn(f"Batch {one.batch_id}: {count:,} {what}.")


def _missing(state: BatchState) -> CallError:
    """The fault of a call that is missing from the files of its batch."""
    if state.status in {"expired", "cancelled"}:
        return CallError(
            f"batch_{state.status}", "the batch ended before this request was answered", again=True
        )
    return CallError(
        "missing_line", "the batch ended without an answer to this request", again=True, billed=True
    )


def _counted(answers: Answers, one: PendingBatch) -> str:
    answered = sum(not isinstance(what, CallError) for what in answers.found.values())
    return f"{answered:,} of {len(one.calls):,} calls were answered"
