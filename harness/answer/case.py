"""One answered question as measures see it, and what a measure of answers is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.kinds import StageConfig
from harness.llm import Form
from harness.types import Answered, Judgment, Query

Need = Literal["answer", "passages", "reference", "labels", "llm", "vectors"]
"""What a measure looks at: parts of a case, or a tool."""
Details = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage that was read. ``spans`` are half-open ranges of its document; ``text`` is what was shown."""

    chunk_id: str
    doc_id: str
    spans: tuple[tuple[int, int], ...]
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One query under one setting: all that a measure of answers may look at.

    ``passages`` stand in the order in which they were read. ``answer`` None: there is none, and ``reason``
    says why. ``reference`` is the golden answer, None where none is known; ``others`` are further ones, each
    as right as the first. ``cited`` are 0-based indexes into ``passages``. ``judgments`` are the graded spans
    of the query in the texts of this corpus.
    """

    query: Query
    passages: tuple[Shown, ...]
    answer: str | None
    reason: str = ""
    reference: str | None = None
    cited: tuple[int, ...] = ()
    judgments: tuple[Judgment, ...] = ()
    others: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no measure could score rightly: an empty answer, a citation of nothing."""
        name = self.query.query_id
        if self.answer is not None and not self.answer.strip():
            raise ValueError(f"{name}: the answer is empty; None and a reason say that there is none")
        if self.answer is None and not self.reason:
            raise ValueError(f"{name}: there is no answer and no reason why")
        if any(not 0 <= place < len(self.passages) for place in self.cited):
            raise ValueError(f"{name}: cites passages that were not read: {self.cited}")

    @property
    def references(self) -> tuple[str, ...]:
        """All golden answers; none where none is known."""
        return () if self.reference is None else (self.reference, *self.others)

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


class AnswerTools(Protocol):
    """What a run lends to measures of answers: a language model behind the ledger, and an encoder."""

    def ask(
        self, form: Form, texts: Sequence[tuple[str, tuple[str, ...]]], name: str, sample: int = 0
    ) -> list[Answered]:
        """The model's answer to a prompt about each (query, passages), in their order, from the ledger first.

        ``name`` is that of the prompt, ``sample`` the number of the repetition. An answer that cannot be
        used has a ``reason``. Raises LlmError where the model cannot be asked at all.
        """

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension], from the cache where they are known."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the reference page says of a measure."""

    about: str
    formula: str
    undefined: str
    source: str
    needs: frozenset[Need]
    range: str = "0 to 1"
    less_is_better: bool = False
    compare: str = ""
    """How it differs from the measure of the same name elsewhere; '' where it is the same."""


class AnswerMeasureConfig(StageConfig):
    """Base of the configurations of measures of answers."""

    kind: str
    name: str = Field("", description="What it is called in the tables; empty: its kind.")

    @property
    def label(self) -> str:
        """What it is called in the tables."""
        return self.name or self.kind


Config = TypeVar("Config", bound=AnswerMeasureConfig)


class AnswerMeasure(ABC, Generic[Config]):
    """Cases → one score a case, in their order. A case that cannot be scored has no value, never 0."""

    facts: ClassVar[Facts]

    def __init__(self, config: Config) -> None:
        self.config = config

    @property
    def name(self) -> str:
        """What it is called in the tables."""
        return self.config.label

    @property
    def needs(self) -> frozenset[Need]:
        """What it looks at under its configuration."""
        return self.facts.needs

    @abstractmethod
    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """The scores of the cases, one for each. Raises LlmError where a model cannot be asked at all."""

    def missing(self, case: Case) -> str:
        """Why a case lacks what the measure looks at; '' where it lacks nothing."""
        needs = self.needs
        if "answer" in needs and case.answer is None:
            return f"not answered: {case.reason}"
        if "reference" in needs and (case.reference is None or not case.reference.strip()):
            return "no golden answer is known"
        if "passages" in needs and not case.passages:
            return "nothing was read"
        return ""

    def score(self, case: Case, value: float, details: Details | None = None) -> AnswerScore:
        """A case with its value."""
        return AnswerScore(case.query.query_id, self.name, value, details=details or {})

    def unscored(
        self, case: Case, reason: str, details: Details | None = None, *, failed: bool = False
    ) -> AnswerScore:
        """A case without a value."""
        return AnswerScore(case.query.query_id, self.name, None, reason, details or {}, failed)

    def lacking(self, case: Case) -> AnswerScore | None:
        """The score of a case that lacks what the measure looks at; None where it lacks nothing.

        A question that was not answered has an unknown value; one without a golden answer has none.
        """
        gap = self.missing(case)
        unanswered = "answer" in self.needs and case.answer is None
        return self.unscored(case, gap, failed=unanswered) if gap else None


class PlainMeasure(AnswerMeasure[Config]):
    """A measure of each case by itself that needs no model."""

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[AnswerScore]:
        """Every case that has what it takes, scored."""
        return [self.lacking(case) or self.one(case) for case in cases]

    @abstractmethod
    def one(self, case: Case) -> AnswerScore:
        """The score of a case that lacks nothing."""
