"""One run at a time buys answers of a model with a ledger, so that no two pay for the same."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.models.llm.batch_wordings import BATCHES
from harness.models.llm.model import Model
from harness.values import Reporter, worded


@dataclass
class Turn:
    """The right of a run to buy, once it is ``ours`` until it ends."""

    model: Model
    reporter: Reporter
    ours: bool = field(default=False, init=False)
    _noted: bool = field(default=False, init=False)

    @property
    def waiting(self) -> bool:
        """Whether another run has it."""
        return self._noted and not self.ours

    def take(self) -> bool:
        """Whether it is ours, from now on or already."""
        self.ours = self.ours or self.model.ledger.take_turn(self.model.config.endpoint.model)
        return self.ours

    def note_waiting(self) -> None:
        """Say once that another run has it."""
        if not self._noted:
            self._noted = True
            model = self.model.config.endpoint.model
            self.reporter.note(worded(BATCHES, "ledger.turn", model=model))

    def end(self) -> None:
        """Let other runs buy."""
        if self.ours:
            self.model.ledger.end_turn(self.model.config.endpoint.model)
