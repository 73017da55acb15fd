"""Which calls go into a batch: by the limits of the endpoint, of what is read, and of money."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.models.llm.batch_client import BatchClient, BatchState
from harness.models.llm.batch_options import BatchOptions
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.money import Budget
from harness.models.llm.recording import Recorder
from harness.models.llm.requests import Inquiry, MissingCall
from harness.models.llm.untrusted import MOST_BYTES
from harness.store import SentCall
from harness.values import LlmError

# How many bytes an answer takes in a file at most, besides those of each token (an escaped character of JSON
# has 6, and a token may be two) and of each alternative to it.
_AROUND, _TOKEN, _ALTERNATIVE = 2_000, 12, 120


@dataclass(slots=True)
class OpenBatch:
    """A batch, from the first call put into it to its last answer; ``most`` has the highest price of each.

    ``content`` is the file of requests until it is sent, ``tokens`` about what its calls send, ``number`` its
    place on record. ``others`` are the keys of calls in it that this run cannot read. ``waited_for``: this
    run has seen it before it ended.
    """

    client: BatchClient
    calls: dict[str, MissingCall] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    tokens: int = 0
    content: bytearray = field(default_factory=bytearray)
    number: int = 0
    batch_id: str = ""
    state: BatchState | None = None
    others: frozenset[str] = frozenset()
    waited_for: bool = False

    def add(self, call: MissingCall, tokens: int, most: float) -> None:
        """Take a call in, which sends so many tokens and costs so much at most."""
        self.calls[call.sent.key] = call
        self.most[call.sent.key] = most
        self.tokens += tokens


def packed(
    client: BatchClient,
    options: BatchOptions,
    queue: dict[str, MissingCall],
    recorders: Mapping[Inquiry[Any], Recorder],
    budget: Callable[[Inquiry[Any]], Budget],
    waiting: int,
) -> OpenBatch:
    """The next batch, without calls where none fits; the calls that it takes leave the queue.

    Their highest price is set aside; ``waiting`` tokens are in batches already. Raises LlmError for a call
    that fits into no batch.
    """
    batch = OpenBatch(client)
    most_calls = options.max_requests
    while queue and len(batch.calls) < most_calls:
        key, call = next(iter(queue.items()))
        model = call.inquiry.model
        most_calls = min(most_calls, max(1, MOST_BYTES // _longest_answer(model.config.endpoint)))
        line = client.line(key, model.form, call.sent.call)
        if len(line) > options.max_bytes:
            raise LlmError(
                f"One request has {len(line):,} bytes, and endpoint.batch.max_bytes allows a whole batch "
                f"{options.max_bytes:,}. Raise it, or shorten the prompt."
            )
        tokens, most = size_of(recorders[call.inquiry], call.sent)
        room = None if options.queued_tokens is None else options.queued_tokens - waiting - batch.tokens
        if room is not None and tokens > room:
            if not waiting and not batch.calls:
                raise LlmError(
                    f"One request has about {tokens:,} tokens, and endpoint.batch.queued_tokens lets "
                    f"{options.queued_tokens:,} wait. Raise it, or shorten the prompt."
                )
            break
        if len(batch.content) + len(line) > options.max_bytes or not budget(call.inquiry).has_room(most):
            break
        del queue[key]
        batch.content += line
        batch.add(call, tokens, most)
    return batch


def size_of(recorder: Recorder, sent: SentCall) -> tuple[int, float]:
    """About how many tokens a call sends, and its highest price; 0 if no price is known."""
    model = recorder.model
    tokens, most = recorder.size(model.form.messages(sent.call))
    return tokens - model.config.endpoint.max_tokens, most or 0.0


def _longest_answer(endpoint: Endpoint) -> int:
    """About how many bytes the longest answer has in a file, which is read only up to a limit."""
    shown = 0 if endpoint.top_logprobs is None else 1 + endpoint.top_logprobs
    return _AROUND + endpoint.max_tokens * (_TOKEN + shown * _ALTERNATIVE)
