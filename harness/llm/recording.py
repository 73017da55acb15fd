"""Answers go on record, with what they have cost."""

from __future__ import annotations

from harness.llm.client import Reply
from harness.llm.form import Malformed
from harness.llm.model import Model
from harness.llm.money import Price
from harness.llm.records import Spending, add
from harness.types import Answered, Asked

Read = tuple[int, ...] | Malformed | None


class Recorder:
    """Writes the answers of one model into its ledger, by the prices of ``price``; counts in ``spending``."""

    def __init__(self, model: Model, spending: Spending, price: Price | None) -> None:
        self._ledger = model.ledger
        self._spending = spending
        self._price = price

    def record(
        self,
        call: Asked,
        read: Read,
        raw: str,
        *,
        settled: bool,
        seconds: float,
        reply: Reply | None = None,
    ) -> Answered:
        """Keep one try of a call: what was read in the reply or, without one, why there is none."""
        price = self.price_of(reply) if reply else 0.0
        grades, reason = (None, read.reason) if isinstance(read, Malformed) else (read, "")
        answered = Answered(
            query=call.query,
            passages=call.passages,
            prompt_sha=call.prompt_sha,
            model=call.model,
            parameters=call.parameters,
            sample=call.sample,
            settled=settled,
            grades=grades,
            reason=reason,
            raw=raw,
            prompt_tokens=reply.prompt_tokens if reply else None,
            completion_tokens=reply.completion_tokens if reply else None,
            price=price,
            seconds=seconds,
            request_id=reply.request_id if reply else "",
            served_model=reply.served_model if reply else "",
            finish=reply.finish if reply else None,
            logprobs=reply.logprobs if reply else None,
        )
        self._ledger.record(self._ledger.key(call), answered)
        if reply:
            spending = self._spending
            spending.served_models.add(reply.served_model)
            spending.prompt_tokens += reply.prompt_tokens or 0
            spending.completion_tokens += reply.completion_tokens or 0
            spending.cost = add(spending.cost, price)
        return answered

    def price_of(self, reply: Reply) -> float | None:
        """What a reply has cost; None where the price or the tokens are unknown."""
        price = self._price
        if price is None or reply.prompt_tokens is None or reply.completion_tokens is None:
            return None
        return price.of(reply.prompt_tokens, reply.completion_tokens)
