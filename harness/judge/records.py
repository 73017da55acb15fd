"""The input and output of a judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.models import Spending
from harness.values import Chunk, Judgment, Query


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and the span of text that is to be graded for it; ``number`` is its place in a pool, if any."""

    query: Query
    passage: Chunk
    number: int = field(default=-1, compare=False)


@dataclass(frozen=True, slots=True)
class PairGrade:
    """The judgment of one pair, with its samples, reason and cost.

    ``samples`` are the grades that were combined and ``spread`` is their range (0: all agreed); ``reason``
    says why there is no grade, and ``detail`` is the message of the endpoint or the answer of the model.
    ``cost`` is that of all tries of this pair, earlier runs included, in the currency of the price table;
    None if a price or the used tokens are unknown.
    """

    pair: Pair
    judgment: Judgment
    samples: tuple[int, ...] = ()
    spread: int = 0
    reason: str = ""
    cost: float | None = 0.0
    detail: str = ""


Sink = Callable[[PairGrade], None]


@dataclass(slots=True)
class Summary(Spending):
    """The work of one run of a judge: pairs, calls, tokens, money, and what could not be scored.

    ``details`` has a ``detail`` for each reason why pairs have no grade, ``panel`` how far its members agree.
    """

    judge: str = ""
    pairs: int = 0
    disagreeing: int = 0
    unscored: dict[str, int] = field(default_factory=dict)
    unscored_examples: list[str] = field(default_factory=list)
    details: dict[str, str] = field(default_factory=dict)
    panel: dict[str, object] = field(default_factory=dict)

    @property
    def unscored_count(self) -> int:
        """How many pairs have no grade."""
        return sum(self.unscored.values())

    def progress(self) -> list[str]:
        """The progress line during the run."""
        spent, *faults = Spending.progress(self)
        return [spent, *([f"{self.unscored_count} unscored"] if self.unscored else []), *faults]
