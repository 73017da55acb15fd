"""The base of measures of answers: an answered question, its score, reference, configuration."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.models import Form
from harness.values import ANSWER, Chunk, Details, Judgment, LlmAnswer, Query, QueryScore, StageConfig


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


Need = Literal["answer", "passages", "reference", "labels", "llm", "vectors"]
"""The input of a measure: parts of a case, or a tool."""


class AnswerTools(Protocol):
    """The tools of measures of answers: a language model behind the ledger, and an encoder."""

    def ask(
        self, form: Form, texts: Sequence[tuple[str, tuple[str, ...]]], name: str, sample: int = 0
    ) -> list[LlmAnswer]:
        """The model's answer to a prompt about each (query, passages), in their order, from the ledger first.

        ``name`` is that of the prompt, ``sample`` the number of the repetition. An answer that cannot be
        used has a ``reason``. Raises LlmError if the model cannot be asked at all.
        """

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension], from the cache where they are known."""


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """The entry of a measure on the reference page."""

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
        """The name of the measure in the tables."""
        return self.name or self.kind


Config = TypeVar("Config", bound=AnswerMeasureConfig)


class AnswerMeasure(ABC, Generic[Config]):
    """Cases → one score per case, in their order. A case that cannot be scored has no value, never 0."""

    facts: ClassVar[MeasureFacts]
    best_reference: ClassVar[bool] = False
    """Whether each golden answer of a case is tried, and the best score counts; else the first is used."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @property
    def name(self) -> str:
        """The name of the measure in the tables."""
        return self.config.label

    @property
    def needs(self) -> frozenset[Need]:
        """The parts of a case that it uses under its configuration."""
        return self.facts.needs

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[QueryScore]:
        """The scores of the cases, one for each. Raises LlmError if a model cannot be asked at all.

        With ``best_reference``, a case is scored with each of its golden answers (SQuAD, evaluate-v2.0.py).
        The details of a case with several name the best (``golden``). A golden answer with which the measure
        is undefined does not count unless all are so. If scoring with one fails, the best is unknown and the
        case fails.
        """
        if not self.best_reference:
            return self.scores(cases, tools)
        parts = [case.by_reference for case in cases]
        scores = iter(self.scores([one for own in parts for one in own], tools))
        return [_best(own, list(islice(scores, len(own)))) for own in parts]

    @abstractmethod
    def scores(self, cases: Sequence[Case], tools: AnswerTools) -> list[QueryScore]:
        """The scores of the cases, one for each; of several golden answers the first counts."""

    def missing(self, case: Case) -> str:
        """The reason why a case lacks an input of the measure; '' if it lacks none."""
        needs = self.needs
        if "answer" in needs and case.answer is None:
            return f"not answered: {case.reason}"
        if "reference" in needs and not case.reference.strip():
            return "no golden answer is known"
        if "passages" in needs and not case.passages:
            return "nothing was read"
        return ""

    def score(self, case: Case, value: float, details: Details | None = None) -> QueryScore:
        """A case with its value, a finite number."""
        if not math.isfinite(value):
            raise ValueError(f"{case.query.query_id}: {self.name} is {value}")
        return QueryScore("", ANSWER, case.query.query_id, self.name, value, details=details or {})

    def unscored(
        self, case: Case, reason: str, details: Details | None = None, *, failed: bool = False
    ) -> QueryScore:
        """A case without a value, and the reason why."""
        if not reason:
            raise ValueError(f"{case.query.query_id}: {self.name} has no value and no reason why")
        return QueryScore("", ANSWER, case.query.query_id, self.name, None, reason, details or {}, failed)

    def lacking(self, case: Case) -> QueryScore | None:
        """The score of a case that lacks an input of the measure; None if it lacks none.

        A question that was not answered has an unknown value; one without a golden answer has none.
        """
        gap = self.missing(case)
        unanswered = "answer" in self.needs and case.answer is None
        return self.unscored(case, gap, failed=unanswered) if gap else None


class PlainMeasure(AnswerMeasure[Config]):
    """A measure of each case by itself that needs no model."""

    def scores(self, cases: Sequence[Case], tools: AnswerTools) -> list[QueryScore]:
        """Score every case that has all inputs."""
        return [self.lacking(case) or self.one(case) for case in cases]

    @abstractmethod
    def one(self, case: Case) -> QueryScore:
        """The score of a case that lacks nothing."""


def _best(cases: Sequence[Case], scores: Sequence[QueryScore]) -> QueryScore:
    """The best score of a case with each of its golden answers; the first of equals."""
    if len(scores) == 1:
        return scores[0]
    if failed := next((score for score in scores if score.failed), None):
        return failed
    known = [pair for pair in zip(scores, cases, strict=True) if pair[0].value is not None]
    if not known:
        return scores[0]
    score, case = max(known, key=lambda pair: pair[0].value or 0.0)
    return replace(score, details={**score.details, "golden": case.reference})


def cosines(pairs: Sequence[tuple[str, str]], tools: AnswerTools) -> list[float | None]:
    """The cosine of each pair of texts, in double precision; None if a vector is zero.

    Each text is embedded once.
    """
    row = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    if not row:
        return []
    vectors = np.asarray(tools.vectors(list(row)), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    found: list[float | None] = []
    for one, other in pairs:
        left, right = row[one], row[other]
        scale = lengths[left] * lengths[right]
        # rounding may lead past 1
        value = float(np.clip(vectors[left] @ vectors[right] / scale, -1, 1)) if scale > 0 else None
        found.append(value)
    return found
