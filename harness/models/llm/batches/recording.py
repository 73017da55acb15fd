"""Results of a batch are recorded; calls without a result are asked again or given up."""

from __future__ import annotations

from collections.abc import Iterable

from harness.models.llm.breaker import Breaker
from harness.models.llm.calls import Recorder
from harness.models.llm.client import Reply
from harness.models.llm.faults import CallError, one_line
from harness.models.llm.form import FINAL_REASONS, Malformed
from harness.models.llm.model import Model
from harness.models.llm.records import Spending
from harness.values import LlmAnswer, LlmError, SentCall


class BatchRecorder:
    """Records answers by the same rules as calls that are made one by one; counts in ``spending``."""

    def __init__(self, model: Model, spending: Spending) -> None:
        config = model.config
        self._model = model
        self._spending = spending
        self._tries = config.batch.tries if config.batch else 1
        self._recorder = Recorder(model, spending, config.batch_price)
        self._breaker = Breaker(config.breaker, config.longest_outage)

    def keep(self, sent: SentCall, came: Reply | CallError, most: float) -> LlmAnswer | SentCall:
        """Record the result of a call; returns the recorded answer, or the call if it must be made again.

        ``most`` is the highest price of the call.
        """
        if isinstance(came, CallError):
            return self._without_answer(sent, came, most)
        read = self._recorder.read(sent.call, came)
        unusable = sent.unusable + isinstance(read, Malformed)
        final = not isinstance(read, Malformed) or read.reason in FINAL_REASONS
        last = final or unusable >= self._model.config.answers_per_call
        ledger = self._model.ledger
        # A run that was killed while it read the same file may have recorded it.
        answer: LlmAnswer | None
        if ledger.has(sent.key, came.request_id):
            answer = ledger.find(sent.key)
        else:
            answer = self._recorder.record(sent.call, read, came, settled=last)
        if last and answer is not None:
            return answer
        return SentCall(sent.key, sent.call, unusable, sent.failed)

    def price_of(self, came: Reply | CallError, most: float) -> float:
        """The cost of a call as the budget counts it: the maximum if it is unknown."""
        if isinstance(came, CallError):
            return most if came.billed else 0.0
        known = self._recorder.price_of(came)
        return most if known is None else known

    def judge(self, came: Iterable[Reply | CallError], kept: Iterable[LlmAnswer | SentCall]) -> None:
        """End the run where a batch shows that asking on would waste money; all of it is on record by now.

        Raises LlmError for a fault that every call would meet, EndpointDownError after too many in a row
        without use.
        """
        for one, result in zip(came, kept, strict=True):
            if isinstance(one, CallError):
                if one.fatal:
                    raise LlmError(f"The endpoint refuses to work: {one}")
                if one.refused:
                    self._breaker.refused(str(one))
            elif isinstance(result, LlmAnswer) and not result.reason:
                self._breaker.succeeded()
            elif not isinstance(result, LlmAnswer) or result.reason not in FINAL_REASONS:
                self._breaker.useless(f"unusable answer: {one_line(one.text)}")

    def _without_answer(self, sent: SentCall, fault: CallError, most: float) -> LlmAnswer | SentCall:
        known = self._model.config.batch_price is not None
        self._spending.note_fault(fault.reason, fault.billed, most if known else None)
        again = SentCall(sent.key, sent.call, sent.unusable, sent.failed + 1)
        if fault.fatal or (fault.again and again.failed < self._tries):
            return again
        return self._recorder.record(sent.call, Malformed(fault.reason), fault, settled=fault.settled)
