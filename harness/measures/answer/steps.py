"""Measures of answers that ask models, and their calls: a prompt with texts in slots → one JSON object."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from harness import models
from harness.values import LlmAnswer, LlmCall, encodable, on_one_line

MOST = 200

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """The shape of an answer: how its value is read from the object, or what is wrong with that.

    ``shortest`` is the shortest usable answer, for estimates. Both are given the number of statements that
    the prompt shows.
    """

    read: Callable[[dict[str, Any], int], T | models.Malformed]
    shortest: Callable[[int], str]


def strings(key: str) -> Shape[tuple[str, ...]]:
    """``{key: ["…", …]}``: texts that are not blank, stripped of white space; an empty list is valid."""

    def read(found: dict[str, Any], count: int) -> tuple[str, ...] | models.Malformed:
        listed = found.get(key)
        if not isinstance(listed, list):
            return models.Malformed("no_list")
        if len(listed) > MOST:
            return models.Malformed("too_many")
        if not all(isinstance(one, str) and one.strip() for one in listed):
            return models.Malformed("bad_list_item")
        return tuple(one.strip() for one in listed)

    return Shape(read, lambda count: json.dumps({key: ["one statement of some words"] * 3}))


def _verdicts(found: dict[str, Any], count: int) -> tuple[bool, ...] | models.Malformed:
    listed = found.get("verdicts")
    if not isinstance(listed, list):
        return models.Malformed("no_list")
    if len(listed) != count:
        return models.Malformed("wrong_count")
    verdicts: dict[int, bool] = {}
    for one in listed:
        if not isinstance(one, dict):
            return models.Malformed("bad_list_item")
        number, verdict = _whole(one.get("number"), count), _flag(one.get("verdict"))
        if not number:
            return models.Malformed("unknown_statement")
        if verdict is None:
            return models.Malformed("bad_verdict")
        if number in verdicts:
            return models.Malformed("statement_judged_twice")
        verdicts[number] = verdict
    return tuple(verdicts[number] for number in range(1, count + 1))


VERDICTS = Shape(
    _verdicts,
    lambda count: json.dumps({"verdicts": [{"number": n, "verdict": 1} for n in range(1, count + 1)]}),
)
"""``{"verdicts": [{"number": 1, "verdict": 0 or 1}, …]}``: every statement once, in any order."""


def _verdict(found: dict[str, Any], count: int) -> bool | models.Malformed:
    verdict = _flag(found.get("verdict"))
    return models.Malformed("bad_verdict") if verdict is None else verdict


VERDICT = Shape(_verdict, lambda count: '{"verdict": 1}')
"""``{"verdict": 0 or 1}``: yes or no."""


def _grade(found: dict[str, Any], count: int) -> int | models.Malformed:
    grade = _whole(found.get("grade"), 2)
    return models.Malformed("bad_grade") if grade is None else grade


GRADE = Shape(_grade, lambda count: '{"grade": 1}')
"""``{"grade": 0, 1 or 2}``."""


@dataclass(frozen=True, slots=True)
class BackAsked:
    """A question that an answer would answer, and whether the answer commits itself to nothing."""

    question: str
    noncommittal: bool


def _question(found: dict[str, Any], count: int) -> BackAsked | models.Malformed:
    question, noncommittal = found.get("question"), _flag(found.get("noncommittal"))
    if not isinstance(question, str) or not question.strip():
        return models.Malformed("no_question")
    if noncommittal is None:
        return models.Malformed("bad_verdict")
    return BackAsked(question.strip(), noncommittal)


QUESTION_BACK = Shape(
    _question, lambda count: '{"question": "a question of some ten words or so?", "noncommittal": 0}'
)
"""``{"question": "…", "noncommittal": 0 or 1}``: the question is not blank."""


def read_object(text: str) -> dict[str, Any] | models.Malformed:
    """The one JSON object that an answer is; unusable with an ``error`` beside its fields."""
    found = models.object_in(text)
    if isinstance(found, models.Malformed):
        return found
    return models.Malformed("error_reported") if models.reports_error(found) else found


def _flag(value: Any) -> bool | None:
    return bool(value) if isinstance(value, int) and value in (0, 1) else None


def _whole(value: Any, highest: int) -> int | None:
    """A whole number of 0 to ``highest``; True is none."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= highest
    return int(value) if good else None


FOLDER = Path(__file__).parent / "prompts"
Language = Literal["en", "zh"]
LISTS = ("statements", "passages")
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

    def messages(self, call: LlmCall) -> models.Messages:
        """The messages of a call; the mark of the fences is a hash of all that they hold."""
        mark = models.mark_of([self.sha256, encodable(call.query), *map(encodable, call.passages)])
        shown = {"query": _fenced("question", call.query, mark)}
        for slot, text in zip(self.slots, call.passages, strict=True):
            shown[slot] = _shown(slot, text, mark)
        return models.messages_of(models.filled(self.system, shown), models.filled(self.user, shown))

    def read(self, call: LlmCall, text: str) -> models.Malformed | None:
        """Malformed where the answer is not of the shape."""
        value = self._value(call, text)
        return value if isinstance(value, models.Malformed) else None

    def value(self, answer: LlmAnswer) -> T | models.Malformed:
        """The value of an answer, or why it cannot be used."""
        text = models.text_of(answer)
        return models.Malformed(answer.reason or "no_words") if text is None else self._value(answer, text)

    def shortest(self, call: LlmCall) -> str:
        """The shortest answer of the shape."""
        return self.shape.shortest(self._count(call))

    def _value(self, call: LlmCall, text: str) -> T | models.Malformed:
        found = read_object(text)
        return found if isinstance(found, models.Malformed) else self.shape.read(found, self._count(call))

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
class AnswerCall(Generic[T]):
    """One kind of call: the content of its prompt (``query``, texts in ``slots``) and the answer's shape."""

    name: str
    slots: tuple[str, ...]
    shape: Shape[T]
    query: bool = True

    @property
    def shown(self) -> tuple[str, ...]:
        """All slots that its prompt must have."""
        return (*(("query",) if self.query else ()), *self.slots)


STATEMENTS: AnswerCall[tuple[str, ...]] = AnswerCall("statements", ("answer",), strings("statements"))
SUPPORTED: AnswerCall[tuple[bool, ...]] = AnswerCall(
    "supported", ("passages", "statements"), VERDICTS, query=False
)
CONTRADICTED: AnswerCall[tuple[bool, ...]] = AnswerCall(
    "contradicted", ("passages", "statements"), VERDICTS, query=False
)
USEFUL: AnswerCall[bool] = AnswerCall("useful", ("answer", "passage"), VERDICT)
RELEVANCE: AnswerCall[int] = AnswerCall("relevance", ("passages",), GRADE)
ENTITIES: AnswerCall[tuple[str, ...]] = AnswerCall("entities", ("text",), strings("entities"), query=False)
QUESTION = AnswerCall("question", ("answer",), QUESTION_BACK, query=False)
ASPECT: AnswerCall[bool] = AnswerCall("aspect", ("aspect", "answer"), VERDICT)
REFUSES: AnswerCall[bool] = AnswerCall("refuses", ("answer",), VERDICT)

STEPS: dict[str, AnswerCall[Any]] = {
    step.name: step
    for step in (STATEMENTS, SUPPORTED, CONTRADICTED, USEFUL, RELEVANCE, ENTITIES, QUESTION, ASPECT, REFUSES)
}


def prompt_of(step: AnswerCall[T], language: Language, own: str | None) -> models.Prompt:
    """The prompt of a step: one of ours by language, or a user's file; raises ConfigError.

    It shows each slot of the step at least once, and no other.
    """
    name = own or (step.name if language == "en" else f"{step.name}_{language}")
    return models.prompts_of(FOLDER, models.Prompt, f"the step {step.name}", step.shown)(name)


def form_of(step: AnswerCall[T], prompt: models.Prompt) -> ObjectForm[T]:
    """How a call of the step is worded and read."""
    return ObjectForm(prompt.system, prompt.user, step.slots, step.shape)
