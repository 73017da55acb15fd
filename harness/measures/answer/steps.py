"""The calls of measures of answers: a prompt file with texts in its slots, answered by one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from harness.measures.answer.shapes import (
    GRADE,
    QUESTION_BACK,
    VERDICT,
    VERDICTS,
    Shape,
    read_object,
    strings,
)
from harness.models import SLOT, Malformed, Messages, Prompt, TextForm, mark_of, read_prompt, text_of
from harness.values import LlmAnswer, LlmCall, encodable, on_one_line

T = TypeVar("T")
FOLDER = Path(__file__).parent / "prompts"
Language = Literal["en", "zh"]
LISTS = ("statements", "passages")
"""Slots that hold several texts, as a JSON array."""


def joined(texts: Sequence[str]) -> str:
    """Several texts for a slot of ``LISTS``."""
    return json.dumps(list(texts), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ObjectForm(TextForm, Generic[T]):
    """Shows a query and the texts of ``slots`` between fences that they cannot close.

    The passages of a call are the texts of ``slots``, in their order.
    """

    slots: tuple[str, ...]
    shape: Shape[T]

    def messages(self, call: LlmCall) -> Messages:
        """The messages of a call; the mark of the fences is a hash of all that they hold."""
        mark = mark_of([self.sha256, encodable(call.query), *map(encodable, call.passages)])
        shown = {"query": _fenced("question", call.query, mark)}
        for slot, text in zip(self.slots, call.passages, strict=True):
            shown[slot] = _shown(slot, text, mark)

        def fill(template: str) -> str:
            # one pass, so that a slot's name inside a text is not replaced
            return SLOT.sub(lambda slot: shown.get(slot[1], slot[0]), template)

        parts = {"system": self.system, "user": self.user}
        return [{"role": role, "content": fill(text)} for role, text in parts.items() if text]

    def read(self, call: LlmCall, text: str) -> Malformed | None:
        """Malformed where the answer is not of the shape."""
        value = self._value(call, text)
        return value if isinstance(value, Malformed) else None

    def value(self, answer: LlmAnswer) -> T | Malformed:
        """The value of an answer, or why it cannot be used."""
        text = text_of(answer)
        return Malformed(answer.reason or "no_words") if text is None else self._value(answer, text)

    def shortest(self, call: LlmCall) -> str:
        """The shortest answer of the shape."""
        return self.shape.shortest(self._count(call))

    def _value(self, call: LlmCall, text: str) -> T | Malformed:
        found = read_object(text)
        return found if isinstance(found, Malformed) else self.shape.read(found, self._count(call))

    def _count(self, call: LlmCall) -> int:
        shown = dict(zip(self.slots, call.passages, strict=True))
        return len(json.loads(shown["statements"])) if "statements" in shown else 0


def _shown(slot: str, text: str, mark: str) -> str:
    if slot == "passages":
        parts = enumerate(json.loads(text), start=1)
        return "\n".join(_fenced(f"passage {number}", one, mark) for number, one in parts)
    if slot == "statements":
        lines = (f"{number}. {on_one_line(one)}" for number, one in enumerate(json.loads(text), start=1))
        return _fenced(slot, "\n".join(lines), mark)
    return _fenced(slot, text, mark)


def _fenced(name: str, text: str, mark: str) -> str:
    return f"<{name} {mark}>\n{encodable(text)}\n</{name} {mark}>"


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
