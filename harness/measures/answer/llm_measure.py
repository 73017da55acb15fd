"""Measures that call a language model: their keys, and how the calls of all cases become batches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import Field, field_validator

from harness.measures.answer.measure import (
    AnswerMeasure,
    AnswerMeasureConfig,
    AnswerTools,
    Case,
    cosines,
)
from harness.measures.answer.steps import STATEMENTS, AnswerCall, Language, form_of, joined, prompt_of
from harness.models import Malformed, Prompt
from harness.values import QueryScore

T = TypeVar("T")
Item = tuple[str, tuple[str, ...]]
"""A call of a step: the query ('' where its prompt shows none) and the texts of its slots."""


@dataclass(frozen=True, slots=True)
class Calls(Generic[T]):
    """The model calls of a case: answers to each of ``items``, ``samples`` times.

    If one of them has no usable answer, the case fails; where they are not ``needed``, it gets none of them.
    """

    step: AnswerCall[T]
    items: tuple[Item, ...]
    samples: int = 1
    needed: bool = True


@dataclass(frozen=True, slots=True)
class TextPairs:
    """The cosines that a case needs from the encoder, one per pair of texts."""

    texts: tuple[tuple[str, str], ...]


Scoring = Generator[Calls[Any] | TextPairs, Any, QueryScore]
"""How a measure scores one case: it yields what it wants, is sent that, and returns the score.

All cases want the same steps in the same order, some of them for no items, so that each step is one batch.
"""


def ask(
    step: AnswerCall[T], *items: Item, samples: int = 1, needed: bool = True
) -> Generator[Calls[T], list[T], list[T]]:
    """The model's answers to each item: all of them once, then all again; nothing if not ``needed``."""
    return (yield Calls(step, items, samples, needed))


def statements_in(question: str, answer: str) -> Generator[Calls[Any], Any, tuple[str, ...]]:
    """The statements of an answer, one per text."""
    (found,) = yield from ask(STATEMENTS, (question, (answer,)))
    return found


def verdicts(
    step: AnswerCall[tuple[bool, ...]],
    groups: Sequence[Sequence[str]],
    statements: Sequence[str],
    *,
    needed: bool = True,
) -> Generator[Calls[Any], Any, list[tuple[bool, ...]]]:
    """For each group of texts, one verdict per statement; () without statements, or where the call failed."""
    items = [("", (joined(texts), joined(statements))) for texts in groups if statements]
    found = yield from ask(step, *items, needed=needed)
    return found or [()] * len(groups)


def similarities(*texts: tuple[str, str]) -> Generator[TextPairs, Any, list[float | None]]:
    """The cosine of each pair of texts; None if a vector is zero."""
    found: list[float | None] = yield TextPairs(texts)
    return found


class LlmMeasureConfig(AnswerMeasureConfig):
    """Base configuration of measures that ask a language model."""

    steps: ClassVar[tuple[AnswerCall[Any], ...]] = ()
    language: Language = Field("en", description="The language of the built-in prompts: `en` or `zh`.")
    prompts: dict[str, str] = Field(
        default_factory=dict,
        description="Prompt files of your own, by step; docs/answer-measures.md lists the steps and what "
        "their prompts show.",
    )

    @field_validator("prompts")
    @classmethod
    def _can_be_read(cls, prompts: dict[str, str]) -> dict[str, str]:
        steps = {step.name: step for step in cls.steps}
        for name, file in prompts.items():
            if name not in steps:
                raise ValueError(f"there is no step {name!r} in this measure; it has {', '.join(steps)}")
            prompt_of(steps[name], "en", file)
        return prompts

    def prompt(self, step: AnswerCall[T]) -> Prompt:
        """The prompt of one of its steps."""
        return prompt_of(step, self.language, self.prompts.get(step.name))


LlmConfig = TypeVar("LlmConfig", bound=LlmMeasureConfig)


class LlmMeasure(AnswerMeasure[LlmConfig]):
    """A measure that asks a language model: its calls are in the ledger, and a failed call gives no score."""

    def record(self) -> dict[str, dict[str, Any]]:
        """The prompts it asks with, by step: name, version and hash."""
        prompts = {step: self.config.prompt(step) for step in self.config.steps}
        return {
            step.name: {"id": one.id, "version": one.version, "sha256": form_of(step, one).sha256}
            for step, one in prompts.items()
        }

    @abstractmethod
    def one(self, case: Case) -> Scoring:
        """Score a case that lacks nothing."""

    def scores(self, cases: Sequence[Case], tools: AnswerTools) -> list[QueryScore]:
        """Score all cases side by side: their calls are made in one batch per step."""
        found = {at: lack for at, case in enumerate(cases) if (lack := self.lacking(case))}
        scorings = {at: self.one(case) for at, case in enumerate(cases) if at not in found}
        sent: dict[int, Any] = dict.fromkeys(scorings)
        while sent:
            wanted: dict[int, Calls[Any] | TextPairs] = {}
            for at, value in sent.items():
                try:
                    wanted[at] = scorings[at].send(value)
                except StopIteration as end:
                    found[at] = end.value
            sent = _near({at: one for at, one in wanted.items() if isinstance(one, TextPairs)}, tools)
            calls = {at: one for at, one in wanted.items() if isinstance(one, Calls)}
            for step in dict.fromkeys(one.step for one in calls.values()):
                same = {at: one for at, one in calls.items() if one.step == step}
                for at, reply in self._replies(step, same, tools).items():
                    if isinstance(reply, str):
                        found[at] = self.unscored(cases[at], reply, failed=True)
                    else:
                        sent[at] = reply
        return [found[at] for at in range(len(cases))]

    def _replies(
        self, step: AnswerCall[T], calls: Mapping[int, Calls[T]], tools: AnswerTools
    ) -> dict[int, list[T] | str]:
        """The model's answers about each case in one step, or why there are none."""
        asked = [(at, item) for at, one in calls.items() for item in one.items]
        prompt = self.config.prompt(step)
        form = form_of(step, prompt)
        replies: dict[int, list[T | Malformed]] = {at: [] for at in calls}
        for sample in range(max(one.samples for one in calls.values()) if asked else 0):
            answers = tools.ask(form, [item for _, item in asked], prompt.name, sample)
            for (at, _), answer in zip(asked, answers, strict=True):
                replies[at].append(form.value(answer))
        return {at: _usable(step, one.needed, replies[at]) for at, one in calls.items()}


def _usable(step: AnswerCall[T], needed: bool, replies: Sequence[T | Malformed]) -> list[T] | str:
    failed = [one.reason for one in replies if isinstance(one, Malformed)]
    if not failed:
        return [one for one in replies if not isinstance(one, Malformed)]
    of = f", {len(failed)} of {len(replies)} calls" if len(replies) > 1 else ""
    return f"no usable answer to {step.name} ({', '.join(sorted(set(failed)))}{of})" if needed else []


def _near(wanted: Mapping[int, TextPairs], tools: AnswerTools) -> dict[int, Any]:
    """The cosines that each case wants; each text is embedded once."""
    found = iter(cosines([pair for one in wanted.values() for pair in one.texts], tools))
    return {at: [next(found) for _ in one.texts] for at, one in wanted.items()}


def judged(statements: Sequence[str], verdicts: Sequence[bool]) -> list[dict[str, Any]]:
    """Statements with their verdicts, for the details of a score."""
    return [
        {"statement": text, "verdict": int(verdict)}
        for text, verdict in zip(statements, verdicts, strict=True)
    ]


def share_of(verdicts: Sequence[bool]) -> float:
    """The share of verdicts that are yes."""
    return sum(verdicts) / len(verdicts)
