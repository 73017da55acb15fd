"""The spending of a run that asks language models."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Spending:
    """The calls of a run and their cost.

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
        """Add the spending and the faults of another run to this one."""
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
        """Count a try without an answer; ``billed``: it may be billed, at ``most`` this much."""
        self.faults[reason] = self.faults.get(reason, 0) + 1
        if billed:
            self.unseen_calls += 1
            self.unseen_cost = add(self.unseen_cost, most)

    def progress(self) -> list[str]:
        """The progress line during the run."""
        spent = "cost unknown" if self.cost is None else f"spent {self.cost:.4f}"
        return [spent, *(f"{reason} x{count}" for reason, count in self.faults.items())]


def add(one: float | None, other: float | None) -> float | None:
    """The sum of two amounts; None if one is unknown."""
    return None if one is None or other is None else one + other
