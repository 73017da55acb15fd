"""Every reply of a model is read, written into its ledger and counted, however it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

from harness.models.llm.client import Message, Reply
from harness.models.llm.faults import one_line
from harness.models.llm.form import FINAL_REASONS
from harness.models.llm.limits import Breaker
from harness.models.llm.model import Model
from harness.models.llm.money import Price, Spending, add, estimate_tokens
from harness.models.llm.reply import Malformed
from harness.models.llm.sender import Attempt, Received
from harness.values import LlmAnswer, LlmCall, LlmError

Read: TypeAlias = tuple[int, ...] | Malformed | None
"""The grades in an answer; None: its text is the answer."""
_OF_CALL = {field.name for field in fields(LlmCall)}
_OF_REPLY = {field.name for field in fields(Reply)} & {field.name for field in fields(LlmAnswer)}


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply and what was read in it."""

    reply: Reply
    read: Read


@dataclass
class Recorder:
    """Records what comes of calls of ``model``, by the rates of ``price``, and counts it in ``spending``."""

    model: Model
    spending: Spending
    price: Price | None

    def size(self, messages: Sequence[Message]) -> tuple[int, float | None]:
        """About how many tokens a call takes at most, and its highest price; None where none is known."""
        sent = sum(estimate_tokens(message["content"]) for message in messages)
        longest = self.model.config.endpoint.max_tokens
        return sent + longest, self._cost(sent, longest)

    def read(self, call: LlmCall, reply: Reply) -> Received[ReadReply]:
        """Read a reply. Its tokens and cost are what the endpoint says."""
        read = Malformed(reply.fault) if reply.fault else self.model.form.read(call, reply.text)
        useless = isinstance(read, Malformed) and read.reason not in FINAL_REASONS
        sent, written = reply.prompt_tokens, reply.completion_tokens
        if sent is None or written is None:
            return Received(ReadReply(reply, read), None, None, useless)
        return Received(ReadReply(reply, read), sent + written, self._cost(sent, written), useless)

    def record(self, call: LlmCall, attempt: Attempt[ReadReply]) -> LlmAnswer | None:
        """Record one try, which settles the call if it is the last one; returns it as it is kept.

        A try without a reply is recorded, with the reason, if no other follows. It is settled where the
        endpoint would turn the same text down again; else the next run asks again. Raises LlmError for a
        fault that every call would meet.
        """
        if attempt.fault is not None:
            if attempt.fault.fatal:
                raise LlmError(f"The endpoint refuses to work: {attempt.fault}")
            if not attempt.last:
                return None
            nothing = Reply(attempt.fault.detail, finish=None, seconds=attempt.fault.seconds)
            reason = Malformed(attempt.fault.reason)
            return self._written(call, ReadReply(nothing, reason), 0.0, settled=attempt.fault.settled)
        assert attempt.reply is not None
        reply, spending = attempt.reply.value.reply, self.spending
        answer = self._written(call, attempt.reply.value, attempt.reply.cost, settled=attempt.last)
        spending.served_models.add(reply.served_model)
        spending.prompt_tokens += reply.prompt_tokens or 0
        spending.completion_tokens += reply.completion_tokens or 0
        spending.cost = add(spending.cost, attempt.reply.cost)
        return answer

    def _cost(self, sent: int, written: int) -> float | None:
        return self.price.of(sent, written) if self.price else None

    def _written(self, call: LlmCall, received: ReadReply, cost: float | None, *, settled: bool) -> LlmAnswer:
        """The record of one try, as the ledger keeps it, since a later run has only that."""
        reply, read = received.reply, received.read
        grades, reason = (None, read.reason) if isinstance(read, Malformed) else (read, "")
        answer = LlmAnswer(
            **{name: getattr(call, name) for name in _OF_CALL},
            **{name: getattr(reply, name) for name in _OF_REPLY},
            settled=settled,
            grades=grades,
            reason=reason,
            raw=reply.text or reply.refusal,
            price=cost,
        )
        ledger = self.model.ledger
        return ledger.record(ledger.key(call), answer)


def note_use(breaker: Breaker, answer: LlmAnswer) -> None:
    """Tell the breaker whether a reply that came was of use; raises LlmError when it opens."""
    if not answer.reason:
        breaker.succeeded()
    elif answer.reason not in FINAL_REASONS:
        breaker.useless(f"unusable answer ({answer.reason}): {one_line(answer.raw)}")
