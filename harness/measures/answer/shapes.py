"""The shapes of replies about answers: what each has to have, how it is read, and the shortest one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from harness import models
from harness.values import on_one_line

MOST = 200

T = TypeVar("T")


class Reasoned(int):
    """A verdict or a grade with the ``reason`` that the model gave; '' where its prompt asks for none."""

    reason: str

    def __new__(cls, value: int, reason: object = "") -> Self:
        """Any reason but a text is none."""
        verdict = super().__new__(cls, value)
        verdict.reason = reason.strip() if isinstance(reason, str) else ""
        return verdict


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """The shape of an answer: how its value is read from the object, or what is wrong with that.

    ``shortest`` is the shortest usable answer, for estimates. Both are given the number of statements that
    the prompt shows. ``guess`` is the value that makes the most to ask next, of that number and of a text as
    long as the answer may be, for plans. The object has all of ``fields``, and each object in a list of it
    all of ``rows``; of these, a prompt that says how its reply is read may do without ``optional``.
    ``several``: the field holds a list of texts.
    """

    fields: tuple[str, ...]

    read: Callable[[dict[str, Any], int], T | models.Malformed]
    shortest: Callable[[int], str]
    guess: Callable[[int, str], T]
    rows: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    several: bool = False

    @property
    def layout(self) -> models.ReplyLayout:
        """What a prompt of a user's own may say of its reply."""
        return models.ReplyLayout(self.fields, self.rows, (*self.optional, models.REASON), self.several)

    def object_in(self, text: str, also: frozenset[str]) -> dict[str, Any] | models.Malformed:
        """The object that a reply is; ``also`` are fields that it may have besides, or its rows."""
        expected = {*self.fields, *self.rows}
        parsed = models.object_in(text, self.fields, also - expected)
        if isinstance(parsed, models.Malformed):
            return parsed
        rows = [row for value in parsed.values() if isinstance(value, list) for row in value]
        faults = (models.fault_of(row, self.rows, also - expected) for row in rows if isinstance(row, dict))
        return next(filter(None, faults), parsed)


def strings(key: str) -> Shape[tuple[str, ...]]:
    """``{key: ["…", …]}``: texts that are not blank, stripped of white space; an empty list is valid."""

    def read(reply: dict[str, Any], count: int) -> tuple[str, ...] | models.Malformed:
        listed = reply.get(key)
        if not isinstance(listed, list):
            return models.Malformed("no_list")
        if len(listed) > MOST:
            return models.Malformed("too_many")
        if not all(isinstance(text, str) and text.strip() for text in listed):
            return models.Malformed("bad_list_item")
        return tuple(text.strip() for text in listed)

    def shortest(count: int) -> str:
        return json.dumps({key: ["one statement of some words"] * 3})

    return Shape((key,), read, shortest, lambda count, text: (text,), several=True)


def _verdicts(reply: dict[str, Any], count: int) -> tuple[Reasoned, ...] | models.Malformed:
    listed = reply.get("verdicts")
    if not isinstance(listed, list):
        return models.Malformed("no_list")
    if len(listed) != count:
        return models.Malformed("wrong_count")
    verdicts: dict[int, Reasoned] = {}
    for row in listed:
        if not isinstance(row, dict):
            return models.Malformed("bad_list_item")
        number, verdict = _whole(row.get("number"), count), _verdict(row)
        if not number:
            return models.Malformed("unknown_statement")
        if verdict is None:
            return models.Malformed("bad_verdict")
        if number in verdicts:
            return models.Malformed("statement_judged_twice")
        verdicts[number] = verdict
    return tuple(verdicts[number] for number in range(1, count + 1))


VERDICTS = Shape(
    ("verdicts",),
    _verdicts,
    lambda count: json.dumps({"verdicts": [{"number": n, "verdict": 1} for n in range(1, count + 1)]}),
    # what is not supported is asked about again
    lambda count, text: (Reasoned(0),) * count,
    rows=("number", "verdict"),
    optional=("number", "statement"),
)
"""``{"verdicts": [{"number": 1, "verdict": 0 or 1}, …]}``: every statement once, in any order.

In a prompt's own shape a verdict without a number is that on the ``statement`` it repeats word for word, else
on the one at its place.
"""


def _stated(reply: dict[str, Any], count: int) -> tuple[tuple[str, Reasoned], ...] | models.Malformed:
    listed = reply.get("statements")
    if not isinstance(listed, list):
        return models.Malformed("no_list")
    statements: list[tuple[str, Reasoned]] = []
    for row in listed:
        text = row.get("statement") if isinstance(row, dict) else None
        if not isinstance(text, str) or not text.strip():
            return models.Malformed("bad_list_item")
        verdict = _verdict(row)
        if verdict is None:
            return models.Malformed("bad_verdict")
        statements.append((text.strip(), verdict))
    return tuple(statements)


STATED = Shape(
    ("statements",),
    _stated,
    lambda count: json.dumps(
        {"statements": [{"statement": "one statement of some words", "verdict": 1}] * 3}
    ),
    lambda count, text: ((text, Reasoned(0)),),
    rows=("statement", "verdict"),
)
"""``{"statements": [{"statement": "…", "verdict": 0 or 1}, …]}``: as the model splits a text, each judged."""


def _only_verdict(reply: dict[str, Any], count: int) -> Reasoned | models.Malformed:
    verdict = _verdict(reply)
    return models.Malformed("bad_verdict") if verdict is None else verdict


VERDICT = Shape(("verdict",), _only_verdict, lambda count: '{"verdict": 1}', lambda count, text: Reasoned(0))
"""``{"verdict": 0 or 1}``: yes or no."""


def _grade(reply: dict[str, Any], count: int) -> Reasoned | models.Malformed:
    grade = _whole(reply.get("grade"), 2)
    return models.Malformed("bad_grade") if grade is None else Reasoned(grade, reply.get(models.REASON))


GRADE = Shape(("grade",), _grade, lambda count: '{"grade": 1}', lambda count, text: Reasoned(0))
"""``{"grade": 0, 1 or 2}``."""


@dataclass(frozen=True, slots=True)
class BackQuestion:
    """A question that an answer would answer, and whether the answer commits itself to nothing."""

    question: str
    noncommittal: bool


def _question(reply: dict[str, Any], count: int) -> BackQuestion | models.Malformed:
    question, noncommittal = reply.get("question"), _flag(reply.get("noncommittal"))
    if not isinstance(question, str) or not question.strip():
        return models.Malformed("no_question")
    if noncommittal is None:
        return models.Malformed("bad_verdict")
    return BackQuestion(question.strip(), noncommittal)


QUESTION_BACK = Shape(
    ("question", "noncommittal"),
    _question,
    lambda count: '{"question": "a question of some ten words or so?", "noncommittal": 0}',
    lambda count, text: BackQuestion(text, noncommittal=False),
)
"""``{"question": "…", "noncommittal": 0 or 1}``: the question is not blank."""


def _flag(value: Any) -> bool | None:
    return bool(value) if isinstance(value, int) and value in (0, 1) else None


def _verdict(row: dict[str, Any]) -> Reasoned | None:
    """The verdict of an object, with its reason."""
    verdict = _flag(row.get("verdict"))
    return None if verdict is None else Reasoned(verdict, row.get(models.REASON))


_WORDS = {"1": 1, "yes": 1, "true": 1, "是": 1, "0": 0, "no": 0, "false": 0, "否": 0}


def numbered(reply: dict[str, Any], statements: Sequence[str]) -> dict[str, Any]:
    """A reply in a prompt's own shape as one in ours: verdicts are 0 and 1, and name their ``statements``."""
    rows = next((value for value in reply.values() if isinstance(value, list)), [reply])
    for place, row in enumerate(row for row in rows if isinstance(row, dict)):
        for name in ("verdict", "noncommittal"):
            if isinstance(row.get(name), str):
                row[name] = _WORDS.get(row[name].strip().casefold(), row[name])
        if statements and "number" not in row:
            repeated = on_one_line(str(row.get("statement", "")))
            same = [at for at, text in enumerate(statements) if on_one_line(text) == repeated]
            row["number"] = (place if place in same or not same else same[0]) + 1
    return reply


def _whole(value: Any, highest: int) -> int | None:
    """A whole number of 0 to ``highest``; True is none."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= highest
    return int(value) if good else None
