"""What asking needs of a ledger, and what a run has spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.types import Answered, Asked, SentBatch, SentCall


class SentBatches(Protocol):
    """Where batches in progress are noted; ``harness.store.sent_batches.SentBatches`` is the real one."""

    def add(self, model: str, endpoint: dict[str, Any], calls: Iterable[SentCall]) -> int:
        """Write a batch down that is to be sent; returns its number."""

    def uploaded(self, number: int, file_id: str) -> None:
        """Note the name that the endpoint gave to the file of requests."""

    def created(self, number: int, batch_id: str) -> None:
        """Note the name that the endpoint gave to the batch."""

    def remove(self, number: int) -> None:
        """Cross a batch out."""

    def all(self, model: str | None = None) -> list[SentBatch]:
        """The batches in progress, oldest first."""

    def calls(self, number: int) -> list[SentCall]:
        """The calls of a batch."""

    def holds(self, key: str) -> bool:
        """Whether a call is on its way in a batch."""

    def keys(self) -> frozenset[str]:
        """The keys of all calls that are on their way."""


class Ledger(Protocol):
    """Where every answer is kept before anything uses it; ``harness.store.ledger.Ledger`` is the real one."""

    @property
    def batches(self) -> SentBatches:
        """The batches in progress."""

    def has(self, key: str, request_id: str) -> bool:
        """Whether an answer with that id of its request is recorded for a call."""

    def key(self, asked: Asked) -> str:
        """The identity of a call."""

    def find(self, key: str) -> Answered | None:
        """The settled answer to a call."""

    def cost(self, key: str) -> float | None:
        """What all tries of a call have cost."""

    def usage(self, prompt_sha: str, model: str, parameters: Mapping[str, object]) -> tuple[int, int]:
        """How many calls of one prompt and model are answered, and the completion tokens of all tries."""

    def parameters(self, model: str, prompt_sha: str) -> Sequence[dict[str, Any]]:
        """The different parameters under which a model was asked with a prompt."""

    def take_turn(self, model: str) -> bool:
        """Whether this run may ask a model now; False while another one does."""

    def end_turn(self, model: str) -> None:
        """Let others ask a model."""

    def record(self, key: str, answered: Answered) -> None:
        """Write one answer, durably, before returning."""


@dataclass(slots=True)
class Spending:
    """What a run has asked and paid.

    ``from_ledger`` counts the answers that were there already. ``faults`` counts the tries that brought no
    answer, by their reason; most of them were repeated. ``unseen_calls`` of them may be on the bill all the
    same, for at most ``unseen_cost`` (None: no price is known), which is not in ``cost``.
    """

    calls: int = 0
    from_ledger: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    unseen_calls: int = 0
    unseen_cost: float | None = 0.0
    seconds: float = 0.0
    served_models: set[str] = field(default_factory=set)
    faults: dict[str, int] = field(default_factory=dict)

    def add_spending(self, other: Spending) -> None:
        """Count what another run has spent, and the faults that it met, as if this one had."""
        self.calls += other.calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.cost = add(self.cost, other.cost)
        self.unseen_calls += other.unseen_calls
        self.unseen_cost = add(self.unseen_cost, other.unseen_cost)
        self.served_models |= other.served_models
        for reason, count in other.faults.items():
            self.faults[reason] = self.faults.get(reason, 0) + count

    def note_fault(self, reason: str, billed: bool, most: float | None) -> None:
        """Count a try without an answer; ``billed``: it may be on the bill, for at ``most`` so much."""
        self.faults[reason] = self.faults.get(reason, 0) + 1
        if billed:
            self.unseen_calls += 1
            self.unseen_cost = add(self.unseen_cost, most)

    def progress(self) -> list[str]:
        """What to show while the run goes on."""
        spent = "cost unknown" if self.cost is None else f"spent {self.cost:.4f}"
        return [spent, *(f"{reason} x{count}" for reason, count in self.faults.items())]


def add(one: float | None, other: float | None) -> float | None:
    """The sum of two amounts; None where one is unknown."""
    return None if one is None or other is None else one + other
