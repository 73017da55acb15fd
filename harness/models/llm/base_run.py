"""Shared by both kinds of runs, one by one and in batches: their inputs, and their turn at the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.models.llm.model import Job, Model
from harness.models.llm.records import Spending
from harness.values import LlmAnswer, Reporter, Task

T = TypeVar("T")
HandOn = Callable[[T, list[LlmAnswer]], None]


@dataclass(frozen=True, slots=True)
class RunInputs(Generic[T]):
    """The inputs of a run; ``hand_on`` gets each job's answers as soon as it has all of them."""

    model: Model
    jobs: Iterator[Job[T]]
    hand_on: HandOn[T]
    reporter: Reporter
    spending: Spending
    task: Task


class BaseRun(Generic[T]):
    """Base of both kinds of runs. Only one run at a time buys answers of a model with one ledger."""

    def __init__(self, given: RunInputs[T]) -> None:
        self._model = given.model
        self._jobs = given.jobs
        self._hand_on = given.hand_on
        self._reporter = given.reporter
        self._spending = given.spending
        self._task = given.task
        self._name = given.model.config.endpoint.model
        self._our_turn = False
        self._waiting_noted = False

    @property
    def waiting(self) -> bool:
        """Whether another run has the turn."""
        return self._waiting_noted and not self._our_turn

    def takes_turn(self) -> bool:
        """Whether it is this run's turn to buy, from now on or already."""
        self._our_turn = self._our_turn or self._model.ledger.take_turn(self._name)
        return self._our_turn

    def note_waiting(self) -> None:
        """Say once that another run has the turn."""
        if not self._waiting_noted:
            self._waiting_noted = True
            self._reporter.note(
                f"Another run is asking {self._name} with this ledger. This run uses its answers and waits "
                "for its turn, so that nothing is paid for twice."
            )

    def end_turn(self) -> None:
        """Let other runs buy."""
        if self._our_turn:
            self._model.ledger.end_turn(self._name)
