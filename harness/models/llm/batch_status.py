"""How far the batches on record are, asked of their endpoints without changing the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from harness.models.llm.batch_client import BatchClient, BatchState
from harness.models.llm.endpoint import Endpoint
from harness.models.llm.faults import CallError
from harness.models.llm.sender import run_to_end
from harness.store import SentBatch
from harness.values import ConfigError

_COLLECT = "collect it: run the command that sent it again"
_NEXT = {
    "completed": _COLLECT,
    "expired": f"{_COLLECT}, which asks the rest anew",
    "cancelled": f"{_COLLECT}, which asks the rest anew",
    "cancelling": "wait until it has ended, then run the command that sent it again",
    "failed": "nothing is billed; run the command that sent it again, which says why",
}
_WAIT = "wait, or run the command that sent it, which waits for it"


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A recorded batch and its state at the endpoint; ``problem``: why that is unknown."""

    batch: SentBatch
    state: BatchState | None
    problem: str = ""

    @property
    def next_step(self) -> str:
        """What to do about it."""
        if self.state is not None:
            return _NEXT.get(self.state.status, _WAIT)
        if not self.batch.file_id or not self.problem:
            return "nothing: no batch was made, and the next run sends its calls anew"
        return "see below"


def batch_statuses(batches: Sequence[SentBatch], *, cancel: bool = False) -> list[BatchStatus]:
    """Ask the endpoints how far batches are or, with ``cancel``, to end them; the record stays unchanged.

    What a cancelled batch has answered is collected by the next run.
    """
    statuses: list[BatchStatus] = []

    async def each() -> None:
        for batch in batches:
            statuses.append(await _status(batch, cancel=cancel))

    run_to_end(each())
    return statuses


async def _status(batch: SentBatch, *, cancel: bool) -> BatchStatus:
    if not batch.file_id:
        return BatchStatus(batch, None)
    try:
        client = BatchClient(Endpoint.model_validate(batch.endpoint))
    except (ConfigError, ValidationError) as error:
        return BatchStatus(batch, None, str(error))
    try:
        if batch.batch_id:
            state: BatchState | None = await client.state(batch.batch_id)
        else:
            state = await client.find(batch.tag, batch.file_id)
        if state is not None and cancel and not state.ended and state.status != "cancelling":
            state = await client.cancel(state.batch_id)
    except CallError as fault:
        return BatchStatus(batch, None, str(fault))
    finally:
        await client.aclose()
    return BatchStatus(batch, state)
