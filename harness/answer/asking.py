"""Measures that ask a language model: their keys, and the board on which a run of one keeps its cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import Field, field_validator

from harness.answer.case import (
    AnswerMeasure,
    AnswerMeasureConfig,
    AnswerScore,
    AnswerTools,
    Case,
    Details,
)
from harness.answer.steps import Language, Step, form_of, prompt_of
from harness.llm import Malformed
from harness.llm.prompt import Prompt

T = TypeVar("T")
Item = tuple[str, tuple[str, ...]]
"""A call of a step: the query ('' where its prompt shows none) and the texts of its slots."""


class LlmMeasureConfig(AnswerMeasureConfig):
    """Base of the configurations of measures that ask a language model."""

    steps: ClassVar[tuple[Step[Any], ...]] = ()
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

    def prompt(self, step: Step[T]) -> Prompt:
        """The prompt of one of its steps."""
        return prompt_of(step, self.language, self.prompts.get(step.name))


Asking = TypeVar("Asking", bound=LlmMeasureConfig)


class LlmMeasure(AnswerMeasure[Asking]):
    """A measure that asks a language model: what it asks is in the ledger, and a failed call is no score."""

    def record(self) -> dict[str, dict[str, Any]]:
        """The prompts it asks with, by step: name, version and hash."""
        prompts = {step: self.config.prompt(step) for step in self.config.steps}
        return {
            step.name: {"id": one.id, "version": one.version, "sha256": form_of(step, one).sha256}
            for step, one in prompts.items()
        }

    def board(self, cases: Sequence[Case], tools: AnswerTools) -> Board:
        """The cases, those that lack something settled already."""
        return Board(self, cases, tools)


class Board:
    """The cases of one run of a measure: which are settled, and with what score."""

    def __init__(self, measure: LlmMeasure[Any], cases: Sequence[Case], tools: AnswerTools) -> None:
        self._measure = measure
        self._cases = cases
        self._tools = tools
        self._scores = [measure.lacking(case) for case in cases]

    @property
    def open(self) -> list[int]:
        """The places of the cases without a score so far."""
        return [place for place, score in enumerate(self._scores) if score is None]

    def case(self, place: int) -> Case:
        """The case at a place."""
        return self._cases[place]

    def ask(self, step: Step[T], item: Callable[[Case], Item]) -> dict[int, T]:
        """What the model says of each open case, by place; one call a case."""
        found = self.ask_each(step, lambda place: [item(self._cases[place])])
        return {place: values[0] for place, values in found.items()}

    def ask_each(
        self,
        step: Step[T],
        items: Callable[[int], Sequence[Item]],
        *,
        samples: int = 1,
        needed: bool = True,
    ) -> dict[int, list[T]]:
        """What the model says of each open case in several calls, by place; each ``samples`` times.

        A case of which one call has no usable answer is left out, and settled without a score where what is
        asked is ``needed`` for one.
        """
        places = self.open
        asked = [(place, item) for place in places for item in items(place)]
        prompt = self._measure.config.prompt(step)
        form = form_of(step, prompt)
        said: dict[int, list[T]] = {place: [] for place in places}
        failures: dict[int, list[str]] = {}
        for sample in range(samples if asked else 0):
            answers = self._tools.ask(form, [item for _, item in asked], prompt.name, sample)
            for (place, _), answer in zip(asked, answers, strict=True):
                value = form.value(answer)
                if isinstance(value, Malformed):
                    failures.setdefault(place, []).append(value.reason)
                else:
                    said[place].append(value)
        for place, reasons in failures.items():
            usable = len(said.pop(place))
            if needed:
                self._fail(place, step, reasons, len(reasons) + usable)
        return said

    def _fail(self, place: int, step: Step[Any], reasons: Sequence[str], calls: int) -> None:
        told = ", ".join(sorted(set(reasons)))
        of = f", {len(reasons)} of {calls} calls" if calls > 1 else ""
        reason = f"no usable answer to {step.name} ({told}{of})"
        self._scores[place] = self._measure.unscored(self._cases[place], reason, failed=True)

    def score(self, place: int, value: float, details: Details | None = None) -> None:
        """Settle a case with its value."""
        self._scores[place] = self._measure.score(self._cases[place], value, details)

    def undefined(self, place: int, reason: str, details: Details | None = None) -> None:
        """Settle a case for which the measure has no value."""
        self._scores[place] = self._measure.unscored(self._cases[place], reason, details)

    def scores(self) -> list[AnswerScore]:
        """The scores in the order of the cases; all are settled."""
        found = [score for score in self._scores if score is not None]
        if len(found) != len(self._scores):
            raise AssertionError(f"{self._measure.name}: {len(self.open)} cases have no score")
        return found


def judged(statements: Sequence[str], verdicts: Sequence[bool]) -> list[dict[str, Any]]:
    """Statements with their verdicts, for the details of a score."""
    return [
        {"statement": text, "verdict": int(verdict)}
        for text, verdict in zip(statements, verdicts, strict=True)
    ]
