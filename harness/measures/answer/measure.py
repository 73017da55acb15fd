"""The base of measures of answers: an answered question, its score, and how the calls of all become batches.

A measure is its configuration: ``kind`` and keys, the ``facts`` of its entry in the reference, and ``one``,
which scores a case.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness import models
from harness.values import ANSWER, Chunk, Details, Judgment, LlmAnswer, Query, QueryScore, StageConfig

if TYPE_CHECKING:
    from harness.measures.answer.steps import AnswerCall

T = TypeVar("T")


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
    def texts(self) -> tuple[str, ...]:
        """The texts of the passages, in the order read."""
        return tuple(passage.text for passage in self.passages)


Need = Literal["answer", "passages", "reference", "labels", "llm", "vectors"]
"""The input of a measure: parts of a case, or a tool."""

PairModel: TypeAlias = "str | models.RerankEndpoint"
"""A cross-encoder: the name of one on this machine, or an endpoint."""


class AnswerTools(Protocol):
    """The tools of measures of answers: a language model behind the ledger, and an encoder."""

    def ask(
        self,
        form: models.Form,
        texts: Sequence[tuple[str, tuple[str, ...]]],
        name: str,
        samples: int = 1,
        voters: Sequence[models.ModelConfig] = (),
    ) -> list[LlmAnswer]:
        """The model's answer to a prompt about each (query, passages), in their order, from the ledger first.

        ``name`` is that of the prompt. All are asked once, then all again, ``samples`` times; so by each of
        ``voters`` in turn, where a panel takes the place of the one model. An answer that cannot be used has
        a ``reason``. Raises LlmError if a model cannot be asked at all.
        """

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of the texts, float32 [texts, dimension], from the cache where they are known."""

    def pair_scores(self, pairs: Sequence[tuple[str, str]], model: PairModel) -> list[float]:
        """The scores of pairs of texts by a cross-encoder, from the cache where they are known."""


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


@dataclass(frozen=True, slots=True)
class Calls(Generic[T]):
    """The model calls of a case: answers to each of ``items``, ``samples`` times.

    An item is the query ('' where the step's prompt shows none) and the texts of the prompt's slots. If a
    call has no usable answer, the case fails; where calls are not ``needed``, it gets none of their answers.
    """

    step: AnswerCall[T]
    items: tuple[tuple[str, tuple[str, ...]], ...]
    samples: int
    needed: bool


@dataclass(frozen=True, slots=True)
class TextPairs:
    """The likenesses that a case needs, one per pair of texts: by its cross-encoder, else cosines."""

    texts: tuple[tuple[str, str], ...]


Scoring = Generator[Calls[Any] | TextPairs, Any, QueryScore]
"""How a measure scores one case: it yields what it wants, is sent that, and returns the score.

All cases want the same steps in the same order, some of them for no items, so that each step is one batch.
"""


class AnswerMeasure(StageConfig, ABC):
    """Cases → one score per case, in their order. A case that cannot be scored has no value, never 0."""

    facts: ClassVar[MeasureFacts]
    best_reference: ClassVar[bool] = False
    """Whether each golden answer of a case is tried, and the best score counts; else the first is used."""
    kind: str
    name: str = Field("", description="What it is called in the tables; empty: its kind.")

    @property
    def label(self) -> str:
        """The name of the measure in the tables."""
        return self.name or self.kind

    @property
    def needs(self) -> frozenset[Need]:
        """The parts of a case that it uses under its configuration."""
        return self.facts.needs

    @property
    def pair_model(self) -> PairModel | None:
        """The cross-encoder that it asks, if any."""
        return None

    @property
    def voters(self) -> tuple[models.ModelConfig, ...]:
        """The models of a panel that answers in place of the one model; its calls may fail one by one."""
        return ()

    @property
    def may_cost(self) -> bool:
        """Whether it asks a language model or an endpoint."""
        asks = "llm" in self.needs or bool(self.voters)
        return asks or isinstance(self.pair_model, models.RerankEndpoint)

    @abstractmethod
    def one(self, case: Case) -> QueryScore | Scoring:
        """The score of a case that lacks nothing, or the way to it where a model or an encoder is asked."""

    def prompt(self, step: AnswerCall[T]) -> models.Prompt:
        """The prompt of a step: the built-in one; raises ConfigError where there is none of its name."""
        from harness.measures.answer.steps import prompt_of

        return prompt_of(step, "en", None)

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> list[QueryScore]:
        """The scores of the cases, one for each. Raises LlmError if a model cannot be asked at all.

        With ``best_reference``, a case is scored with each of its golden answers (SQuAD, evaluate-v2.0.py).
        The details of a case with several name the best (``golden``). A golden answer with which the measure
        is undefined does not count unless all are so. If scoring with one fails, the best is unknown and the
        case fails.
        """
        parts = [
            [replace(case, references=(one,)) for one in case.references if self.best_reference] or [case]
            for case in cases
        ]
        scores = iter(self._scores([one for own in parts for one in own], tools))
        return [_best(own, list(islice(scores, len(own)))) for own in parts]

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
            raise ValueError(f"{case.query.query_id}: {self.label} is {value}")
        return QueryScore("", ANSWER, case.query.query_id, self.label, value, details=details or {})

    def unscored(
        self, case: Case, reason: str, details: Details | None = None, *, failed: bool = False
    ) -> QueryScore:
        """A case without a value, and the reason why."""
        if not reason:
            raise ValueError(f"{case.query.query_id}: {self.label} has no value and no reason why")
        return QueryScore("", ANSWER, case.query.query_id, self.label, None, reason, details or {}, failed)

    def _scores(self, cases: Sequence[Case], tools: AnswerTools) -> list[QueryScore]:
        """Score all cases side by side: their calls are made in one batch per step."""
        scores: dict[int, QueryScore] = {}
        scorings: dict[int, Scoring] = {}
        for at, case in enumerate(cases):
            if gap := self.missing(case):
                # a question that was not answered has an unknown value; one without a golden answer has none
                unanswered = "answer" in self.needs and case.answer is None
                scores[at] = self.unscored(case, gap, failed=unanswered)
            elif isinstance(scored := self.one(case), QueryScore):
                scores[at] = scored
            else:
                scorings[at] = scored
        sent: dict[int, Any] = dict.fromkeys(scorings)
        while sent:
            wanted: dict[int, Calls[Any] | TextPairs] = {}
            for at, value in sent.items():
                try:
                    wanted[at] = scorings[at].send(value)
                except StopIteration as end:
                    scores[at] = end.value
            pairs = {at: one for at, one in wanted.items() if isinstance(one, TextPairs)}
            model = self.pair_model
            sent = _cosines(pairs, tools) if model is None else _pair_scores(pairs, model, tools)
            calls = {at: one for at, one in wanted.items() if isinstance(one, Calls)}
            for step in dict.fromkeys(one.step for one in calls.values()):
                same = {at: one for at, one in calls.items() if one.step == step}
                for at, reply in self._replies(step, same, tools).items():
                    if isinstance(reply, str):
                        scores[at] = self.unscored(cases[at], reply, failed=True)
                    else:
                        sent[at] = reply
        return [scores[at] for at in range(len(cases))]

    def _replies(
        self, step: AnswerCall[T], calls: Mapping[int, Calls[T]], tools: AnswerTools
    ) -> Mapping[int, Sequence[T | models.Malformed] | str]:
        """The model's answers about each case in one step, or why there are none; of voters, bad ones too."""
        from harness.measures.answer.steps import form_of

        asked = [(at, item) for at, one in calls.items() for item in one.items]
        prompt = self.prompt(step)
        form = form_of(step, prompt)
        replies: dict[int, list[T | models.Malformed]] = {at: [] for at in calls}
        if asked:
            samples = max(one.samples for one in calls.values())
            answers = tools.ask(form, [item for _, item in asked], prompt.name, samples, self.voters)
            for place, answer in enumerate(answers):
                replies[asked[place % len(asked)][0]].append(form.value(answer))
        if self.voters:
            return replies
        return {at: _usable(step.name, one.needed, replies[at]) for at, one in calls.items()}


def _usable(step: str, needed: bool, replies: Sequence[T | models.Malformed]) -> list[T] | str:
    failed = [one.reason for one in replies if isinstance(one, models.Malformed)]
    if not failed:
        return [one for one in replies if not isinstance(one, models.Malformed)]
    of = f", {len(failed)} of {len(replies)} calls" if len(replies) > 1 else ""
    return f"no usable answer to {step} ({', '.join(sorted(set(failed)))}{of})" if needed else []


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


def _cosines(wanted: Mapping[int, TextPairs], tools: AnswerTools) -> dict[int, Any]:
    """The cosine of each pair of texts of each case, in double precision; None if a vector is zero.

    Each text is embedded once.
    """
    texts = dict.fromkeys(text for one in wanted.values() for pair in one.texts for text in pair)
    row = {text: place for place, text in enumerate(texts)}
    vectors = np.asarray(tools.vectors(list(row)) if row else np.zeros((0, 0)), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)

    def cosine(left: int, right: int) -> float | None:
        scale = lengths[left] * lengths[right]
        # rounding may lead past 1
        return float(np.clip(vectors[left] @ vectors[right] / scale, -1, 1)) if scale > 0 else None

    return {at: [cosine(row[a], row[b]) for a, b in one.texts] for at, one in wanted.items()}


def _pair_scores(wanted: Mapping[int, TextPairs], model: PairModel, tools: AnswerTools) -> dict[int, Any]:
    """The score of each pair of texts of each case."""
    pairs = [pair for one in wanted.values() for pair in one.texts]
    scores = iter(tools.pair_scores(pairs, model) if pairs else [])
    return {at: list(islice(scores, len(one.texts))) for at, one in wanted.items()}
