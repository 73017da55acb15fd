"""What goes into a judge and what comes out, and what it needs of a ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.types import Answered, Asked, Chunk, Judgment, Query


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and the span of text that is to be graded for it; ``number`` is its place in a pool, if any."""

    query: Query
    passage: Chunk
    number: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class Graded:
    """The judgment of one pair, and what stands behind it.

    ``samples`` are the grades that were combined and ``spread`` is their range (0: all agreed); ``reason``
    says why there is no grade, and ``said`` is what the endpoint or the model said. ``cost`` is what this
    pair has cost in all its tries, this run and earlier ones, in the currency of the price table; None where
    a price or the used tokens are unknown.
    """

    pair: Pair
    judgment: Judgment
    samples: tuple[int, ...] = ()
    spread: int = 0
    reason: str = ""
    cost: float | None = 0.0
    said: str = ""


Sink = Callable[[Graded], None]


@dataclass(slots=True)
class Summary:
    """What a run of a judge did: pairs, calls, tokens, money, and what could not be scored.

    ``faults`` counts the tries that brought no answer, by their reason; most of them were repeated.
    ``unseen_calls`` of them may be on the bill all the same, for at most ``unseen_cost`` (None: no price is
    known), which is not in ``cost``. ``said`` has, for each reason why pairs have no grade, what the endpoint
    or the model said. ``panel`` says how far the members of a panel agree.
    """

    judge: str = ""
    pairs: int = 0
    calls: int = 0
    from_ledger: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    unseen_calls: int = 0
    unseen_cost: float | None = 0.0
    seconds: float = 0.0
    disagreeing: int = 0
    served_models: set[str] = field(default_factory=set)
    faults: dict[str, int] = field(default_factory=dict)
    unscored: dict[str, int] = field(default_factory=dict)
    unscored_examples: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    panel: dict[str, object] = field(default_factory=dict)

    @property
    def unscored_count(self) -> int:
        """How many pairs have no grade."""
        return sum(self.unscored.values())

    def add_spending(self, other: Summary) -> None:
        """Count what another run has spent, and the faults that it met, as if this one had."""
        self.calls += other.calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.cost = _sum(self.cost, other.cost)
        self.unseen_calls += other.unseen_calls
        self.unseen_cost = _sum(self.unseen_cost, other.unseen_cost)
        self.served_models |= other.served_models
        for reason, count in other.faults.items():
            self.faults[reason] = self.faults.get(reason, 0) + count


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


class Ledger(Protocol):
    """Where every answer is kept before anything uses it; ``harness.store.ledger.Ledger`` is the real one."""

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
