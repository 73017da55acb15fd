"""The batches in progress of a ledger: how far each is, and ending them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from harness.models.llm.batches.client import BatchClient, BatchState
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import CallError
from harness.values import ConfigError, SentBatch


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A recorded batch and its state at the endpoint; ``problem``: why that is unknown."""

    batch: SentBatch
    state: BatchState | None
    problem: str = ""


def batch_statuses(batches: Sequence[SentBatch], *, cancel: bool = False) -> list[BatchStatus]:
    """Ask the endpoints how far batches are or, with ``cancel``, to end them; the records stay unchanged.

    What a cancelled batch has answered is taken in by the next run.
    """
    return asyncio.run(_status_of(batches, cancel=cancel))


async def _status_of(batches: Sequence[SentBatch], *, cancel: bool) -> list[BatchStatus]:
    return [await _one(batch, cancel=cancel) for batch in batches]


async def _one(batch: SentBatch, *, cancel: bool) -> BatchStatus:
    if not batch.file_id:
        return BatchStatus(batch, None, "was not sent: the run ended before")
    try:
        client = BatchClient(Endpoint.model_validate(batch.endpoint))
    except ConfigError as error:
        return BatchStatus(batch, None, str(error))
    try:
        state = await client.state(batch.batch_id) if batch.batch_id else await client.find(batch.file_id)
        if state is None:
            return BatchStatus(batch, None, "was not made: the run ended before")
        if cancel and not state.ended and state.status != "cancelling":
            state = await client.cancel(state.batch_id)
    except CallError as fault:
        return BatchStatus(batch, None, str(fault))
    finally:
        await client.close()
    return BatchStatus(batch, state)
