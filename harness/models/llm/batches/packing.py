"""Calls → files of requests within the limits of batches and of money."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.models.llm.batches.client import BatchClient
from harness.models.llm.batches.lines import written
from harness.models.llm.config import BatchOptions
from harness.models.llm.model import Model
from harness.models.llm.money import Price
from harness.models.llm.tokens import estimate_tokens
from harness.values import LlmCall, LlmError, SentCall


@dataclass(slots=True)
class BatchFile:
    """The calls of one batch and its file; ``most`` is the highest price of each call, by its key."""

    calls: list[SentCall] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)
    most: dict[str, float] = field(default_factory=dict)
    tokens: int = 0


class Packer:
    """Takes calls from a queue as long as they fit into one batch."""

    def __init__(self, model: Model, options: BatchOptions, price: Price | None) -> None:
        self._model = model
        self._options = options
        self._price = price

    def tokens(self, call: LlmCall) -> int:
        """About how many tokens a call sends."""
        return sum(estimate_tokens(message["content"]) for message in self._model.form.messages(call))

    def most(self, tokens: int) -> float:
        """The highest price of a call that sends this many tokens; 0 if no price is known."""
        return self._price.of(tokens, self._model.config.endpoint.max_tokens) if self._price else 0.0

    def pack(
        self, queue: deque[SentCall], client: BatchClient, queued: int, set_aside: Callable[[float], bool]
    ) -> BatchFile:
        """The next batch, without calls where none fits; the calls it takes leave the queue.

        ``queued`` tokens wait in other batches. ``set_aside`` says whether there is money for a call.
        Raises LlmError for a call that fits into no batch.
        """
        options, form, parcel = self._options, self._model.form, BatchFile()
        while queue and len(parcel.calls) < options.max_requests:
            sent = queue[0]
            call = sent.call
            messages = form.messages(call)
            line = written(client.request(sent.key, messages, form.response_format, call.sample))
            if len(line) > options.max_bytes:
                raise LlmError(
                    f"One request has {len(line):,} bytes, and batch.max_bytes allows a whole batch "
                    f"{options.max_bytes:,}. Raise it, or shorten the prompt."
                )
            tokens = self.tokens(call)
            room = None if options.queued_tokens is None else options.queued_tokens - queued - parcel.tokens
            if room is not None and tokens > room:
                if not queued and not parcel.calls:
                    raise LlmError(
                        f"One request has about {tokens:,} tokens, and batch.queued_tokens lets "
                        f"{options.queued_tokens:,} wait. Raise it, or shorten the prompt."
                    )
                break
            most = self.most(tokens)
            if len(parcel.data) + len(line) > options.max_bytes or not set_aside(most):
                break
            queue.popleft()
            parcel.calls.append(sent)
            parcel.data += line
            parcel.tokens += tokens
            parcel.most[sent.key] = most
        return parcel
