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
from harness.values import (
    ANSWER,
    Chunk,
    Details,
    Judgment,
    LlmAnswer,
    Part,
    Query,
    QueryScore,
    Run,
    StageConfig,
    Together,
)

if TYPE_CHECKING:
    from harness.measures.answer.answer_calls import AnswerCall, StepPrompt

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Case:
    """One query under one setting: everything that a measure of answers may use.

    ``passages`` are in the order in which they were read. ``answer`` None: there is none, and ``reason``
    says why. ``references`` are the golden answers, each as right as the first; none if none is known.
    ``cited`` are 0-based indexes into ``passages``. ``judgments`` are the graded spans of the query in the
    texts of this corpus. ``changed`` are 0-based indexes of passages whose facts were replaced by false ones,
    ``parts`` those that a golden answer needs, each with its wordings; none where no golden answer is known.
    """

    query: Query
    passages: tuple[Chunk, ...]
    answer: str | None
    reason: str = ""
    references: tuple[str, ...] = ()
    cited: tuple[int, ...] = ()
    judgments: tuple[Judgment, ...] = ()
    changed: tuple[int, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()

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
    """The needs of measures of answers: what a language model says, vectors and scores of texts."""

    def ask(
        self,
        form: models.Form,
        texts: Sequence[tuple[str, tuple[str, ...]]],
        name: str,
        samples: int = 1,
        voters: Sequence[models.ModelConfig] = (),
    ) -> Run[list[LlmAnswer] | int]:
        """The model's answer to a prompt about each (query, passages), in their order.

        In a plan that cannot know them, the most characters that one may have.

        ``name`` is that of the prompt. All are asked once, then all again, ``samples`` times; so by each of
        ``voters`` in turn, where a panel takes the place of the one model. An answer that cannot be used has
        a ``reason``. Raises LlmError if a model cannot be asked at all.
        """

    def vectors(self, texts: Sequence[str]) -> Run[NDArray[np.float32]]:
        """The vectors of the texts, float32 [texts, dimension]."""

    def pair_scores(self, pairs: Sequence[tuple[str, str]], model: PairModel) -> Run[list[float]]:
        """The scores of pairs of texts by a cross-encoder."""


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
    def less_is_better(self) -> bool:
        """Whether an answer is better the lower its value is."""
        return self.facts.less_is_better

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

    def trial(self, tools: AnswerTools) -> Run[None]:
        """Asks for a vector and a score by each model that gives it some, whatever the cases are."""
        steps: list[Run[Any]] = [tools.vectors(["word"])] if "vectors" in self.needs else []
        if self.pair_model is not None:
            steps.append(tools.pair_scores([("word", "word")], self.pair_model))
        yield Together(list(map(Part, steps)))

    @abstractmethod
    def score_case(self, case: Case) -> QueryScore | Scoring:
        """The score of a case that lacks nothing, or the way to it where a model or an encoder is asked."""

    def prompt(self, step: AnswerCall[T]) -> StepPrompt:
        """The prompt of a step: the built-in one; raises ConfigError where there is none of its name."""
        from harness.measures.answer.answer_calls import prompt_of

        return prompt_of(step, "en", None)

    def run(self, cases: Sequence[Case], tools: AnswerTools) -> Run[list[QueryScore]]:
        """The scores of the cases, one for each, as a step that asks for what it needs by ``tools``.

        With ``best_reference``, a case is scored with each of its golden answers (SQuAD, evaluate-v2.0.py).
        The details of a case with several name the best (``golden``). A golden answer with which the measure
        is undefined does not count unless all are so. If scoring with one fails, the best is unknown and the
        case fails.
        """
        parts = [
            [replace(case, references=(reference,)) for reference in case.references if self.best_reference]
            or [case]
            for case in cases
        ]
        scores = iter((yield from self._scores([case for group in parts for case in group], tools)))
        return [_best(group, list(islice(scores, len(group)))) for group in parts]

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

    def _scores(self, cases: Sequence[Case], tools: AnswerTools) -> Run[list[QueryScore]]:
        """Score all cases side by side: their calls are made in one batch per step."""
        scores: dict[int, QueryScore] = {}
        scorings: dict[int, Scoring] = {}
        for at, case in enumerate(cases):
            if gap := self.missing(case):
                # a question that was not answered has an unknown value; one without a golden answer has none
                unanswered = "answer" in self.needs and case.answer is None
                scores[at] = self.unscored(case, gap, failed=unanswered)
            elif isinstance(scored := self.score_case(case), QueryScore):
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
            pairs = {at: request for at, request in wanted.items() if isinstance(request, TextPairs)}
            model = self.pair_model
            likeness = _cosines(pairs, tools) if model is None else _pair_scores(pairs, model, tools)
            sent = yield from likeness
            calls = {at: request for at, request in wanted.items() if isinstance(request, Calls)}
            for step in dict.fromkeys(request.step for request in calls.values()):
                same = {at: request for at, request in calls.items() if request.step == step}
                replies = yield from self._replies(step, same, tools)
                for at, reply in replies.items():
                    if isinstance(reply, str):
                        scores[at] = self.unscored(cases[at], reply, failed=True)
                    else:
                        sent[at] = reply
        return [scores[at] for at in range(len(cases))]

    def _replies(
        self, step: AnswerCall[T], calls: Mapping[int, Calls[T]], tools: AnswerTools
    ) -> Run[Mapping[int, Sequence[T | models.Malformed] | str]]:
        """The model's answers about each case in one step, or why there are none; of voters, bad ones too."""
        from harness.measures.answer.answer_calls import form_of

        items = [(at, item) for at, request in calls.items() for item in request.items]
        prompt = self.prompt(step)
        form = form_of(step, prompt)
        replies: dict[int, list[T | models.Malformed]] = {at: [] for at in calls}
        if items:
            samples = max(request.samples for request in calls.values())
            about = [item for _, item in items]
            answers = yield from tools.ask(form, about, prompt.name, samples, self.voters)
            values: list[T | models.Malformed]
            if isinstance(answers, int):
                # all different, as answers are
                times = range(len(items) * samples * max(1, len(self.voters)))
                each = (items[place % len(items)][1] for place in times)
                values = [form.guess(item[1], f"{place:<{answers}}") for place, item in enumerate(each)]
            else:
                values = [form.value(answer) for answer in answers]
            for place, value in enumerate(values):
                replies[items[place % len(items)][0]].append(value)
        if self.voters:
            return replies
        return {at: _usable(step.name, request.needed, replies[at]) for at, request in calls.items()}


def _usable(step: str, needed: bool, replies: Sequence[T | models.Malformed]) -> list[T] | str:
    failed = [reply.reason for reply in replies if isinstance(reply, models.Malformed)]
    if not failed:
        return [reply for reply in replies if not isinstance(reply, models.Malformed)]
    of = f", {len(failed)} of {len(replies)} calls" if len(replies) > 1 else ""
    return f"no usable answer to {step} ({', '.join(sorted(set(failed)))}{of})" if needed else []


def _best(cases: Sequence[Case], scores: Sequence[QueryScore]) -> QueryScore:
    """The best score of a case with each of its golden answers; the first of equals."""
    if len(scores) == 1:
        return scores[0]
    if failed := next((score for score in scores if score.failed), None):
        return failed
    scored = [pair for pair in zip(scores, cases, strict=True) if pair[0].value is not None]
    if not scored:
        return scores[0]
    score, case = max(scored, key=lambda pair: pair[0].value or 0.0)
    return replace(score, details={**score.details, "golden": case.reference})


def _cosines(wanted: Mapping[int, TextPairs], tools: AnswerTools) -> Run[dict[int, Any]]:
    """The cosine of each pair of texts of each case, in double precision; None if a vector is zero.

    Each text is embedded once.
    """
    texts = dict.fromkeys(text for request in wanted.values() for pair in request.texts for text in pair)
    row = {text: place for place, text in enumerate(texts)}
    rows = (yield from tools.vectors(list(row))) if row else np.zeros((0, 0))
    vectors = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)

    def cosine(left: int, right: int) -> float | None:
        scale = lengths[left] * lengths[right]
        # rounding may lead past 1
        return float(np.clip(vectors[left] @ vectors[right] / scale, -1, 1)) if scale > 0 else None

    return {at: [cosine(row[a], row[b]) for a, b in request.texts] for at, request in wanted.items()}


def _pair_scores(
    wanted: Mapping[int, TextPairs], model: PairModel, tools: AnswerTools
) -> Run[dict[int, Any]]:
    """The score of each pair of texts of each case."""
    pairs = [pair for request in wanted.values() for pair in request.texts]
    scores = iter((yield from tools.pair_scores(pairs, model)) if pairs else [])
    return {at: list(islice(scores, len(request.texts))) for at, request in wanted.items()}
