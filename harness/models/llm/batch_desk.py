"""Send, watch and collect batches, and record what they bring."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from harness.models.llm.batch_client import BatchClient, BatchState
from harness.models.llm.batch_files import BatchAnswers, Outcome, missing
from harness.models.llm.batch_options import BatchOptions
from harness.models.llm.batch_packing import OpenBatch, packed, size_of
from harness.models.llm.batch_wordings import BATCHES
from harness.models.llm.client import Reply
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import CallError, one_line
from harness.models.llm.limits import Breaker, RateLimiter
from harness.models.llm.money import Spending
from harness.models.llm.recording import Recorder, note_use
from harness.models.llm.requests import Inquiry, MissingCall, RequestRun, breaker_of
from harness.models.llm.sender import Attempt, Received, Sender
from harness.store import SentBatch, SentCall
from harness.values import LlmAnswer, LlmError, counted, worded

T = TypeVar("T")
# How often a file is fetched whose lines are not whole.
_READS = 3
# About how long a line of an answer is, in bytes, for the time that a file may take.
_LINE = 2_000
_RECORDED_TOGETHER = 200
# An endpoint may list a batch only some seconds after it was made.
_LISTED_WITHIN = 30.0
# Faults by which no batch can have been made.
_NOT_HEARD = {"rate_limited", "connection"}
_QUEUE_FULL = "token_limit_exceeded"
_LATER = "Its answers are paid for and not lost: run again to resume."


@dataclass(slots=True)
class Collected:
    """What an ended batch has brought: the answer to each call or, where it is to be asked again, the call.

    ``spent`` is what each has cost, as a budget counts it. ``stop`` is the error that ends the run;
    ``queue_full``: the batch was refused until another one has ended.
    """

    batch: OpenBatch
    outcomes: dict[str, LlmAnswer | SentCall]
    spent: dict[str, float] = field(default_factory=dict)
    stop: LlmError | None = None
    queue_full: bool = False


class _RefusedError(LlmError):
    """The endpoint has refused a request about batches and done nothing."""


class BatchDesk:
    """The batches of one endpoint, whose calls may have several forms.

    Its user has the turn at the ledger.
    """

    def __init__(self, run: RequestRun, inquiries: Sequence[Inquiry[Any]], breaker: Breaker) -> None:
        model = inquiries[0].model
        self._endpoint = model.config.endpoint
        self._options = self._endpoint.batch or BatchOptions()
        self.in_progress: dict[int, OpenBatch] = {}
        self._run, self._inquiries, self._breaker = run, inquiries, breaker
        self._reporter, self._ledger, self._book = run.reporter, model.ledger, model.ledger.batches
        self._clients: dict[str, BatchClient] = {}
        self._recorders = {
            inquiry: Recorder(inquiry.model, inquiry.spending, inquiry.model.config.batch_price)
            for inquiry in inquiries
        }
        # Requests about batches are no calls: neither counted nor held to their rate. Faults are shown.
        self._sender = Sender(
            self._endpoint.model_copy(update={"deadline": model.config.longest_outage}),
            RateLimiter(None, None, clock=asyncio.get_running_loop().time),
            run.wait,
            lambda words: LlmError(f"The endpoint {words} {_LATER}"),
            Spending(faults=inquiries[0].spending.faults),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.aclose()

    def has(self, key: str) -> bool:
        """Whether a call is on its way."""
        return any(key in batch.calls for batch in self.in_progress.values())

    def pack(self, queue: dict[str, MissingCall]) -> OpenBatch:
        """The next batch, as ``packed``."""
        waiting = sum(other.tokens for other in self.in_progress.values())
        client = self._client(self._endpoint)
        return packed(client, self._options, queue, self._recorders, self._run.budget, waiting)

    async def adopt(self, queue: Mapping[str, MissingCall]) -> None:
        """Find the batches that earlier runs have sent, as far as this run can read their answers.

        These are calls in ``queue``, and others with a form of this run. What is in a batch besides stays on
        record for a run that can read it.
        """
        for sent in self._book.all(self._endpoint.model):
            if not sent.file_id:
                # nothing was uploaded, so no batch can have been made
                self._book.remove(sent.number)
                continue
            calls = self._book.calls(sent.number)
            readable = [
                MissingCall(inquiry, call) for call in calls if (inquiry := self._reader_of(call, queue))
            ]
            if readable:
                others = {call.key for call in calls} - {call.sent.key for call in readable}
                await self._adopt(sent, readable, frozenset(others))

    def _reader_of(self, call: SentCall, queue: Mapping[str, MissingCall]) -> Inquiry[Any] | None:
        if call.key in queue:
            return queue[call.key].inquiry
        shas = ((inquiry, inquiry.model.form.sha_of(call.call.query)) for inquiry in self._inquiries)
        return next((inquiry for inquiry, sha in shas if sha == call.call.prompt_sha), None)

    async def send(self, batch: OpenBatch) -> None:
        """Send a batch; it is recorded before the endpoint can know of it."""
        endpoint, tag = self._endpoint, uuid.uuid4().hex
        calls = batch.calls.values()
        priced = all(call.inquiry.model.config.batch_price for call in calls)
        most = sum(batch.most.values()) if priced else None
        recorded = endpoint.model_dump(mode="json")
        batch.number = self._book.add(tag, endpoint.model, recorded, [call.sent for call in calls], most)
        content = bytes(batch.content)
        batch.content.clear()
        try:
            file_id = await self._patiently(partial(batch.client.upload, tag, content))
            self._book.uploaded(batch.number, file_id)
            state = batch.state = await self._create(batch, tag, file_id)
        except _RefusedError:
            self._book.remove(batch.number)
            raise
        batch.batch_id = state.batch_id
        self._book.created(batch.number, batch.batch_id)
        self.in_progress[batch.number] = batch
        count, window = counted(len(batch.calls), "call"), self._options.window
        self._reporter.note(
            worded(
                BATCHES,
                "batch.sent",
                batch=batch.batch_id,
                calls=count,
                model=endpoint.model,
                window=window,
            )
        )

    async def collect(self) -> list[Collected]:
        """Look at the batches, and record the results of those that have ended."""
        collected = []
        alone = len(self.in_progress) == 1
        for batch in list(self.in_progress.values()):
            state = batch.state = await self._patiently(partial(batch.client.state, batch.batch_id))
            if not state.ended:
                batch.waited_for |= state.status != "cancelling"
                continue
            if state.status == "failed" and not state.files:
                result = self._refused(batch, state, alone=alone)
            else:
                result = await self._recorded(batch, state, await self._answers(batch, state))
            self._book.take(batch.number, batch.calls)
            del self.in_progress[batch.number]
            collected.append(result)
        return collected

    def _client(self, endpoint: Endpoint) -> BatchClient:
        """The connection to an endpoint; an earlier run may have sent to another one than this."""
        name = endpoint.model_dump_json()
        if name not in self._clients:
            self._clients[name] = BatchClient(endpoint)
        return self._clients[name]

    async def _patiently(self, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request until it succeeds, through outages as long as the configuration allows."""

        async def post(timeout: float) -> Received[T]:
            # the time that it may take depends on the size of the file
            return Received(await request())

        def failure(fault: CallError, tries: int) -> LlmError:
            if not fault.again:
                return _RefusedError(f"The endpoint refuses to work: {fault}")
            return LlmError(
                f"The endpoint could not be reached about batches {tries} times in a row; the last "
                f"reason: {fault}. {_LATER}"
            )

        async for attempt in self._sender.attempts(post):
            if (reply := attempt.received(failure)) is not None:
                return reply.value
        raise AssertionError("the last try brings a reply or an error")

    async def _adopt(self, sent: SentBatch, calls: Sequence[MissingCall], others: frozenset[str]) -> None:
        client = self._client(Endpoint.model_validate(sent.endpoint))
        batch_id = sent.batch_id
        if not batch_id:
            # killed between the request and its answer
            age = (datetime.now(UTC) - datetime.fromisoformat(sent.made_at)).total_seconds()
            state = await self._find(client, sent.tag, sent.file_id, age)
            if state is None:
                # no batch was made of it, and nothing is to be paid
                self._book.remove(sent.number)
                return
            batch_id = state.batch_id
            self._book.created(sent.number, batch_id)
        batch = self.in_progress[sent.number] = OpenBatch(
            client, number=sent.number, batch_id=batch_id, others=others
        )
        for call in calls:
            batch.add(call, *size_of(self._recorders[call.inquiry], call.sent))
            call.inquiry.spending.calls += 1
        count = counted(len(calls), "call")
        self._reporter.note(
            worded(BATCHES, "batch.sent before", batch=batch_id, made_at=sent.made_at, calls=count)
        )

    async def _create(self, batch: OpenBatch, tag: str, file_id: str) -> BatchState:
        """Make a batch of a file once, though the answer to the request may be lost on its way.

        Raises _RefusedError if none has been made, LlmError where that is not known.
        """
        client, clock = batch.client, asyncio.get_running_loop().time
        lost: float | None = None

        async def make() -> BatchState:
            nonlocal lost
            if lost is not None and (state := await self._find(client, tag, file_id, clock() - lost)):
                return state
            # not the time of the upload, which may take minutes: a run after a kill waits from then on
            self._book.requested(batch.number)
            try:
                return await client.create(tag, file_id)
            except CallError as fault:
                if lost is None and fault.again and fault.reason not in _NOT_HEARD:
                    lost = clock()
                raise

        try:
            return await self._patiently(make)
        except _RefusedError as error:
            if lost is None:
                raise
            raise LlmError(f"{error} A batch may have been made before that. {_LATER}") from None

    async def _find(self, client: BatchClient, tag: str, file_id: str, age: float) -> BatchState | None:
        """The batch that was made of a file, if any, so many seconds after it was asked for."""
        look = partial(client.find, tag, file_id)
        state = await self._patiently(look)
        if state is None and age < _LISTED_WITHIN:
            left = _LISTED_WITHIN - age
            self._reporter.note(worded(BATCHES, "batch.unknown", file=file_id, seconds=f"{left:.0f}"))
            await self._run.wait(left)
            state = await self._patiently(look)
        return state

    def _refused(self, batch: OpenBatch, state: BatchState, *, alone: bool) -> Collected:
        """A batch that the endpoint has not begun: nothing is to be paid."""
        result = Collected(batch, {key: call.sent for key, call in batch.calls.items()})
        result.queue_full = any(code == _QUEUE_FULL for code, _ in state.errors)
        if result.queue_full and not alone:
            return result
        words = "; ".join(f"{code}: {text}" if code else text for code, text in state.errors[:3])
        words = words.removesuffix(".") or "it gives no reason"
        advice = (
            "Set endpoint.batch.queued_tokens below the limit that it names; the rest is then sent as "
            "batches end."
            if result.queue_full
            else "No call in it was answered. Correct what it names and run again."
        )
        result.stop = LlmError(
            f"The endpoint refuses batch {batch.batch_id} of {counted(len(batch.calls), 'call')}: {words}. "
            f"{advice}"
        )
        return result

    async def _answers(self, batch: OpenBatch, state: BatchState) -> BatchAnswers:
        """The lines of a batch's files, which are fetched again where a line is broken or missing."""
        answers = BatchAnswers()
        for _ in range(_READS):
            answers = await self._patiently(partial(batch.client.answers, state, _LINE * len(batch.calls)))
            if not answers.broken and len(answers.outcomes) >= state.completed + state.failed:
                break
        return answers

    async def _recorded(self, batch: OpenBatch, state: BatchState, answers: BatchAnswers) -> Collected:
        received = {key: answers.outcomes.get(key) or missing(state.status) for key in batch.calls}
        result, calls = Collected(batch, {}), list(batch.calls.values())
        for start in range(0, len(calls), _RECORDED_TOGETHER):
            with self._ledger.together():
                for call in calls[start : start + _RECORDED_TOGETHER]:
                    self._record(call, received[call.sent.key], batch.most[call.sent.key], result)
            # progress and signals have their turn
            await asyncio.sleep(0)
        answered = sum(isinstance(outcome, Reply) for outcome in received.values())
        words = f"{answered:,} of {len(batch.calls):,} calls were answered"
        result.stop = self._why_stop(received, result.outcomes)
        if state.status == "cancelled" and batch.waited_for and result.stop is None:
            result.stop = LlmError(
                f"Batch {batch.batch_id} was cancelled while this run waited for it: {words}. Its answers "
                "are in the ledger. Run again to make the remaining calls."
            )
        if state.status != "completed":
            about = {"batch": batch.batch_id, "answered": answered, "calls": len(batch.calls)}
            code = "batch.cancelled" if state.status == "cancelled" else "batch.ended"
            self._reporter.warn(worded(BATCHES, code, **about, status=state.status))
        strangers = len(answers.outcomes.keys() - batch.calls.keys() - batch.others)
        for code, count in (
            ("batch.strangers", strangers),
            ("batch.double", len(answers.double)),
            ("batch.broken", answers.broken),
        ):
            if count:
                self._reporter.warn(worded(BATCHES, code, batch=batch.batch_id, count=count))
        return result

    def _record(self, call: MissingCall, outcome: Outcome, most: float, result: Collected) -> None:
        """Record what came of a call, and say what becomes of it."""
        sent, config, recorder = call.sent, call.inquiry.model.config, self._recorders[call.inquiry]
        if isinstance(outcome, CallError):
            price = most if config.batch_price else None
            call.inquiry.spending.note_fault(outcome.reason, outcome.billed, price)
            result.spent[sent.key] = most if outcome.billed else 0.0
            again = SentCall(sent.key, sent.call, sent.unusable, sent.failed + 1)
            last = not outcome.fatal and not (outcome.again and again.failed < self._options.tries)
            answer = recorder.record(sent.call, Attempt(None, outcome, again.failed, last)) if last else None
            result.outcomes[sent.key] = answer or again
            return
        reply = recorder.read(sent.call, outcome)
        result.spent[sent.key] = most if reply.cost is None else reply.cost
        unusable = sent.unusable + reply.useless
        last = not reply.useless or unusable >= config.answers_per_call
        # A run that was killed while it read the same file may have recorded it.
        if self._ledger.has(sent.key, outcome.request_id):
            answer = self._ledger.find(sent.key)
        else:
            answer = recorder.record(sent.call, Attempt(reply, None, unusable, last))
        again = SentCall(sent.key, sent.call, unusable, sent.failed)
        result.outcomes[sent.key] = answer if last and answer else again

    def _why_stop(
        self, received: Mapping[str, Outcome], outcomes: Mapping[str, LlmAnswer | SentCall]
    ) -> LlmError | None:
        """Why a batch shows that asking on would waste money; all of it is on record by now."""
        try:
            for key, outcome in received.items():
                if isinstance(outcome, CallError):
                    if outcome.fatal:
                        return LlmError(f"The endpoint refuses to work: {outcome}")
                    if outcome.refused:
                        self._breaker.refused(str(outcome))
                else:
                    self._note(outcome, outcomes[key])
        except LlmError as error:
            return error
        return None

    def _note(self, reply: Reply, outcome: LlmAnswer | SentCall) -> None:
        if isinstance(outcome, LlmAnswer):
            note_use(self._breaker, outcome)
        else:
            self._breaker.useless(f"unusable answer: {one_line(reply.text)}")


async def collect_ended(run: RequestRun, inquiries: Sequence[Inquiry[Any]]) -> frozenset[str]:
    """Record the results of batches of earlier runs; returns the keys of the calls still on their way.

    For calls that are made by themselves, under the turn at the ledger. Needs no key where no batch is on its
    way.
    """
    model = inquiries[0].model
    book = model.ledger.batches
    if not book.all(model.config.endpoint.model):
        return frozenset()
    desk = BatchDesk(run, inquiries, breaker_of(inquiries))
    try:
        await desk.adopt({})
        for collected in await desk.collect():
            if collected.stop is not None:
                raise collected.stop
    finally:
        await desk.aclose()
    return book.keys()
