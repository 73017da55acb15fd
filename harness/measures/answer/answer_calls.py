"""Measures of answers that ask models, and their calls: a prompt with texts in slots → one JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from harness import models
from harness.measures.answer.shapes import (
    GRADE,
    QUESTION_BACK,
    STATED,
    VERDICT,
    VERDICTS,
    Reasoned,
    Shape,
    numbered,
    strings,
)
from harness.values import (
    ConfigError,
    LlmAnswer,
    LlmCall,
    encodable,
    on_one_line,
    sentence_spans,
    text_sha256,
)

T = TypeVar("T")

FOLDER = Path(__file__).parent / "prompts"
Language = Literal["en", "zh"]
NUMBERED = ("statements", "sentences")
"""Slots that hold texts, each of which gets a verdict, as a JSON array."""
LISTS = (*NUMBERED, "passages")
"""Slots that hold several texts, as a JSON array."""


def joined(texts: Sequence[str]) -> str:
    """Several texts for a slot of ``LISTS``."""
    return json.dumps(list(texts), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ObjectForm(models.TextForm, Generic[T]):
    """Shows a query and the texts of ``slots`` between fences that they cannot close.

    The passages of a call are the texts of ``slots``, in their order.
    """

    slots: tuple[str, ...]
    shape: Shape[T]
    reply: Mapping[str, str] | None = None
    """Where a prompt of a user's own has the fields of its reply; None: the reply has our shape."""

    @property
    def sha256(self) -> str:
        """The hash of both templates, and of how the reply is read where the prompt says so."""
        how = () if self.reply is None else (dict(self.reply),)
        return text_sha256(json.dumps([self.system, self.user, *how]))

    def messages(self, call: LlmCall) -> models.Messages:
        """The messages of a call; the mark of the fences is a hash of all that they hold."""
        mark = models.mark_of([self.sha256, encodable(call.query), *map(encodable, call.passages)])
        shown = {"query": _fenced("question", call.query, mark)}
        for slot, text in zip(self.slots, call.passages, strict=True):
            shown[slot] = _shown(slot, text, mark)
            if slot == "answer":
                shown.setdefault("sentences", _fenced("sentences", _sentences_of(text), mark))
        return models.messages_of(models.filled(self.system, shown), models.filled(self.user, shown))

    def read(self, call: LlmCall, text: str) -> models.Malformed | None:
        """Malformed where the answer is not of the shape."""
        value = self._value(call, text)
        return value if isinstance(value, models.Malformed) else None

    def value(self, answer: LlmAnswer) -> T | models.Malformed:
        """The value of an answer, or why it cannot be used."""
        text = models.text_of(answer)
        if text is None:
            return models.Malformed(answer.reason or "no_words")
        value = self._value(answer, text)
        if isinstance(value, models.Malformed) and self.reply is None:
            paid = self._as_paid(answer, text)
            return value if paid is None else paid
        return value

    def shortest(self, call: LlmCall) -> str:
        """The shortest answer of the shape."""
        return self.shape.shortest(self._count(call))

    def _value(self, call: LlmCall, text: str) -> T | models.Malformed:
        named = models.fields_named(self.system, self.user)
        if self.reply is None:
            content = self.shape.object_in(text, named)
        else:
            content = models.laid_out(text, self.reply, self.shape.layout, named)
            if isinstance(content, dict):
                content = numbered(content, self._statements(call.passages))
        return (
            content if isinstance(content, models.Malformed) else self.shape.read(content, self._count(call))
        )

    def _as_paid(self, call: LlmCall, text: str) -> T | None:
        """The value of an answer that is kept as usable and would not be taken today; None if it has none.

        It was paid for when other words and fields beside those of the shape did no harm, and is read as it
        was then: its first object counts, unless that reports an error.
        """
        content = models.first_object_in(text)
        value = None if content is None else self.shape.read(content, self._count(call))
        return None if isinstance(value, models.Malformed) else value

    def guess(self, passages: Sequence[str], text: str) -> T:
        """The value that makes the most to ask next, where a plan has no answer; ``text``: as long as one."""
        return self.shape.guess(len(self._statements(passages)), text)

    def _statements(self, passages: Sequence[str]) -> list[str]:
        """The texts of a call, each of which gets a verdict."""
        shown = zip(self.slots, passages, strict=True)
        return [statement for slot, text in shown if slot in NUMBERED for statement in json.loads(text)]

    def _count(self, call: LlmCall) -> int:
        return len(self._statements(call.passages))


def _shown(slot: str, text: str, mark: str) -> str:
    if slot == "passages":
        parts = enumerate(json.loads(text), start=1)
        return "\n".join(_fenced(f"passage {number}", passage, mark) for number, passage in parts)
    if slot in NUMBERED:
        lines = (
            f"{number}. {on_one_line(statement)}"
            for number, statement in enumerate(json.loads(text), start=1)
        )
        return _fenced(slot, "\n".join(lines), mark)
    return _fenced(slot, text, mark)


def _sentences_of(text: str) -> str:
    """The sentences of a text, a line each, with their numbers from 0."""
    spans = sentence_spans(text)
    return "\n".join(f"{at}: {on_one_line(text[start:end])}" for at, (start, end) in enumerate(spans))


def _fenced(name: str, text: str, mark: str) -> str:
    return f"<{name} {mark}>\n{encodable(text)}\n</{name} {mark}>"


@dataclass(frozen=True, slots=True)
class AnswerCall(Generic[T]):
    """One kind of call: the content of its prompt (``query``, texts in ``slots``) and the answer's shape.

    ``also`` are slots that its prompt may show besides.
    """

    name: str
    slots: tuple[str, ...]
    shape: Shape[T]
    query: bool = True
    also: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """All slots that its prompt must have."""
        return (*(("query",) if self.query else ()), *self.slots)


STATEMENTS: AnswerCall[tuple[str, ...]] = AnswerCall(
    "statements", ("answer",), strings("statements"), also=("sentences",)
)
SUPPORTED: AnswerCall[tuple[Reasoned, ...]] = AnswerCall(
    "supported", ("passages", "statements"), VERDICTS, query=False
)
CONTRADICTED: AnswerCall[tuple[Reasoned, ...]] = AnswerCall(
    "contradicted", ("passages", "statements"), VERDICTS, query=False
)
ATTRIBUTED: AnswerCall[tuple[tuple[str, Reasoned], ...]] = AnswerCall(
    "attributed", ("passages", "reference"), STATED
)
USEFUL: AnswerCall[Reasoned] = AnswerCall("useful", ("answer", "passage"), VERDICT)
RELEVANCE: AnswerCall[Reasoned] = AnswerCall("relevance", ("passages",), GRADE)
PERTINENT: AnswerCall[tuple[Reasoned, ...]] = AnswerCall("pertinent", ("sentences",), VERDICTS)
ENTITIES: AnswerCall[tuple[str, ...]] = AnswerCall("entities", ("text",), strings("entities"), query=False)
QUESTION = AnswerCall("question", ("answer",), QUESTION_BACK, query=False)
ASPECT: AnswerCall[Reasoned] = AnswerCall("aspect", ("aspect", "answer"), VERDICT)
REFUSES: AnswerCall[Reasoned] = AnswerCall("refuses", ("answer",), VERDICT)

STEPS: dict[str, AnswerCall[Any]] = {
    step.name: step
    for step in (
        STATEMENTS,
        SUPPORTED,
        CONTRADICTED,
        ATTRIBUTED,
        USEFUL,
        RELEVANCE,
        PERTINENT,
        ENTITIES,
        QUESTION,
        ASPECT,
        REFUSES,
    )
}


class StepPrompt(models.Prompt):
    """The prompt of a step, which may say how its reply is read."""

    reply: dict[str, str] | None = Field(
        None, description="Where its reply has what is read: JMESPath expressions by the names of the step."
    )


def prompt_of(step: AnswerCall[T], language: Language, prompt_file: str | None) -> StepPrompt:
    """The prompt of a step: one of ours by language, or a user's file; raises ConfigError.

    It shows each slot of the step at least once, those of ``also`` where it likes, and no other.
    """
    name = prompt_file or (step.name if language == "en" else f"{step.name}_{language}")
    prompt = models.prompts_of(FOLDER, StepPrompt, f"the step {step.name}", step.shown, step.also)(name)
    try:
        step.shape.layout.check(prompt.reply or {})
    except ValueError as error:
        raise ConfigError(f"The prompt file {name} cannot be used: {error}. Correct it.") from error
    return prompt


def form_of(step: AnswerCall[T], prompt: StepPrompt) -> ObjectForm[T]:
    """How a call of the step is worded and read."""
    return ObjectForm(prompt.system, prompt.user, step.slots, step.shape, prompt.reply)
