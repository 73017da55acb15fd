"""What goes into a judge and what comes out, and what it needs of a ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

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
    says why there is no grade. ``cost`` is what this pair has cost in all its tries, this run and earlier
    ones, in the currency of the price table; None where a price or the used tokens are unknown.
    """

    pair: Pair
    judgment: Judgment
    samples: tuple[int, ...] = ()
    spread: int = 0
    reason: str = ""
    cost: float | None = 0.0


Sink = Callable[[Graded], None]


@dataclass(slots=True)
class Summary:
    """What a run of a judge did: pairs, calls, tokens, money, and what could not be scored.

    ``faults`` counts the tries that brought no answer, by their reason; most of them were repeated. ``panel``
    says how far the members of a panel agree.
    """

    judge: str = ""
    pairs: int = 0
    calls: int = 0
    from_ledger: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    disagreeing: int = 0
    served_models: set[str] = field(default_factory=set)
    faults: dict[str, int] = field(default_factory=dict)
    unscored: dict[str, int] = field(default_factory=dict)
    unscored_examples: list[str] = field(default_factory=list)
    panel: dict[str, object] = field(default_factory=dict)

    @property
    def unscored_count(self) -> int:
        """How many pairs have no grade."""
        return sum(self.unscored.values())


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

    def claim(self, key: str, seconds: float) -> bool:
        """Reserve a call for this process; False when somebody is already asking it."""

    def renew(self, seconds: float) -> None:
        """Keep this process's claims."""

    def release(self, key: str) -> None:
        """Give a claim back."""

    def record(self, key: str, answered: Answered) -> None:
        """Write one answer, durably, before returning."""
