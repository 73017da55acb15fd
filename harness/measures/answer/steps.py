"""The model calls of the measures of answers: one prompt file per step, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from harness.measures.answer.form import ObjectForm
from harness.measures.answer.shapes import GRADE, QUESTION_BACK, VERDICT, VERDICTS, Shape, strings
from harness.models import Prompt, read_prompt

T = TypeVar("T")
FOLDER = Path(__file__).parent / "prompts"
Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """One kind of call: the content of its prompt (``query``, texts in ``slots``) and the answer's shape."""

    name: str
    slots: tuple[str, ...]
    shape: Shape[T]
    query: bool = True

    @property
    def shown(self) -> tuple[str, ...]:
        """All slots that its prompt must have."""
        return (*(("query",) if self.query else ()), *self.slots)


STATEMENTS: Step[tuple[str, ...]] = Step("statements", ("answer",), strings("statements"))
SUPPORTED: Step[tuple[bool, ...]] = Step("supported", ("passages", "statements"), VERDICTS, query=False)
CONTRADICTED: Step[tuple[bool, ...]] = Step("contradicted", ("passages", "statements"), VERDICTS, query=False)
USEFUL: Step[bool] = Step("useful", ("answer", "passage"), VERDICT)
RELEVANCE: Step[int] = Step("relevance", ("passages",), GRADE)
ENTITIES: Step[tuple[str, ...]] = Step("entities", ("text",), strings("entities"), query=False)
QUESTION = Step("question", ("answer",), QUESTION_BACK, query=False)
ASPECT: Step[bool] = Step("aspect", ("aspect", "answer"), VERDICT)
REFUSES: Step[bool] = Step("refuses", ("answer",), VERDICT)

STEPS: dict[str, Step[Any]] = {
    step.name: step
    for step in (STATEMENTS, SUPPORTED, CONTRADICTED, USEFUL, RELEVANCE, ENTITIES, QUESTION, ASPECT, REFUSES)
}


def prompt_of(step: Step[T], language: Language, own: str | None) -> Prompt:
    """The prompt of a step: one of ours by language, or a user's file; raises ConfigError.

    It shows each slot of the step at least once, and no other.
    """
    name = own or (step.name if language == "en" else f"{step.name}_{language}")
    return read_prompt(name, FOLDER, Prompt, f"the step {step.name}", step.shown)


def form_of(step: Step[T], prompt: Prompt) -> ObjectForm[T]:
    """How a call of the step is worded and read."""
    return ObjectForm(prompt.system, prompt.user, step.slots, step.shape)
