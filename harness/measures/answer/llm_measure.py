"""Measures that call a language model: their keys, and the calls that several of them make."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import Field, field_validator

from harness.measures.answer.answer_calls import (
    STATEMENTS,
    AnswerCall,
    Language,
    StepPrompt,
    form_of,
    joined,
    prompt_of,
)
from harness.measures.answer.answer_measure import AnswerMeasure, Calls
from harness.measures.answer.shapes import Reasoned

T = TypeVar("T")


class LlmMeasure(AnswerMeasure):
    """A measure that asks a language model: its calls are in the ledger, and a failed call gives no score."""

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

    def prompt(self, step: AnswerCall[T]) -> StepPrompt:
        """The prompt of one of its steps."""
        return prompt_of(step, self.language, self.prompts.get(step.name))

    def record(self) -> dict[str, dict[str, Any]]:
        """The prompts it asks with, by step: name, version and hash."""
        prompts = {step: self.prompt(step) for step in self.steps}
        return {
            step.name: {"id": prompt.id, "version": prompt.version, "sha256": form_of(step, prompt).sha256}
            for step, prompt in prompts.items()
        }


def ask(
    step: AnswerCall[T], *items: tuple[str, tuple[str, ...]], samples: int = 1, needed: bool = True
) -> Generator[Calls[T], list[T], list[T]]:
    """The model's answers to each item: all of them once, then all again; nothing if not ``needed``."""
    return (yield Calls(step, items, samples, needed))


def statements_in(question: str, *answers: str) -> Generator[Calls[Any], Any, list[tuple[str, ...]]]:
    """The statements of each answer, one per text."""
    return (yield from ask(STATEMENTS, *((question, (answer,)) for answer in answers)))


Checked = tuple[Sequence[Sequence[str]], Sequence[str]]
"""Groups of texts, and the statements that get a verdict by each of them."""


def verdicts(
    step: AnswerCall[tuple[Reasoned, ...]], *checked: Checked, needed: bool = True
) -> Generator[Calls[Any], Any, list[list[tuple[Reasoned, ...]]]]:
    """For each group of texts, one verdict per statement; () without statements, or where a call failed.

    All are asked for at the same time.
    """
    items = [
        ("", (joined(texts), joined(statements)))
        for groups, statements in checked
        for texts in groups
        if statements
    ]
    replies = iter((yield from ask(step, *items, needed=needed)))
    return [[next(replies, ()) if statements else () for _ in groups] for groups, statements in checked]


def judged(statements: Sequence[str], verdicts: Sequence[Reasoned]) -> list[dict[str, Any]]:
    """Statements with their verdicts, and the reasons that were given, for the details of a score."""
    return [
        {"statement": text, "verdict": int(verdict)} | ({"reason": verdict.reason} if verdict.reason else {})
        for text, verdict in zip(statements, verdicts, strict=True)
    ]


def reasons_of(verdicts: Sequence[Reasoned]) -> dict[str, list[str]]:
    """``reasons`` of verdicts on no statements, for the details of a score; nothing where none was given."""
    reasons = [verdict.reason for verdict in verdicts]
    return {"reasons": reasons} if any(reasons) else {}
