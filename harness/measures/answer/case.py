"""One answered question as measures see it, and its score by one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.values import Chunk, Judgment, Query

Details = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One query under one setting: everything that a measure of answers may use.

    ``passages`` are in the order in which they were read. ``answer`` None: there is none, and ``reason``
    says why. ``references`` are the golden answers, each as right as the first; none if none is known.
    ``cited`` are 0-based indexes into ``passages``. ``judgments`` are the graded spans of the query in the
    texts of this corpus.
    """

    query: Query
    passages: tuple[Chunk, ...]
    answer: str | None
    reason: str = ""
    references: tuple[str, ...] = ()
    cited: tuple[int, ...] = ()
    judgments: tuple[Judgment, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a case that cannot be scored: an empty answer, a citation of no passage."""
        name = self.query.query_id
        if self.answer is not None and not self.answer.strip():
            raise ValueError(f"{name}: the answer is empty; None and a reason say that there is none")
        if self.answer is None and not self.reason:
            raise ValueError(f"{name}: there is no answer and no reason why")
        if any(not 0 <= place < len(self.passages) for place in self.cited):
            raise ValueError(f"{name}: cites passages that were not read: {self.cited}")

    @property
    def reference(self) -> str:
        """The first golden answer; '' where none is known."""
        return next(iter(self.references), "")

    @property
    def by_reference(self) -> list[Case]:
        """The same case with each of its golden answers; itself where there are not several."""
        if len(self.references) < 2:
            return [self]
        return [replace(self, references=(one,)) for one in self.references]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the passages, in the order read."""
        return tuple(passage.text for passage in self.passages)


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The value of one measure of one case; where it is None, ``reason`` says why.

    ``failed``: there is a value, but it is not known, as a call has failed; else the measure is undefined
    here. ``details`` is JSON-able: the statements with their verdicts, and whatever else led to the value.
    """

    query_id: str
    measure: str
    value: float | None
    reason: str = ""
    details: Details = field(default_factory=dict)
    failed: bool = False

    def __post_init__(self) -> None:
        """A value is a finite number; without one there is a reason."""
        if self.value is None and not self.reason:
            raise ValueError(f"{self.query_id}: {self.measure} has no value and no reason why")
        if self.value is not None and (self.failed or self.reason or not math.isfinite(self.value)):
            raise ValueError(f"{self.query_id}: {self.measure} is {self.value}; {self.reason or 'failed'}")
