"""The shapes of a model's answers: one JSON object of a known shape, read strictly or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harness.models import (
    Malformed,
    NamedTwiceError,
    UntrustedJsonError,
    after_thoughts,
    read_json,
    reports_error,
)

LONGEST = 50_000
MOST = 200
_FENCE = re.compile(r"^```\w*\s*|\s*```$")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """The shape of an answer: how its value is read from the object, or what is wrong with that.

    ``shortest`` is the shortest usable answer, for estimates. Both are given the number of statements that
    the prompt shows.
    """

    read: Callable[[dict[str, Any], int], T | Malformed]
    shortest: Callable[[int], str]


def strings(key: str) -> Shape[tuple[str, ...]]:
    """``{key: ["…", …]}``: texts that are not blank, stripped of white space; an empty list is valid."""

    def read(found: dict[str, Any], count: int) -> tuple[str, ...] | Malformed:
        listed = found.get(key)
        if not isinstance(listed, list):
            return Malformed("no_list")
        if len(listed) > MOST:
            return Malformed("too_many")
        if not all(isinstance(one, str) and one.strip() for one in listed):
            return Malformed("bad_list_item")
        return tuple(one.strip() for one in listed)

    return Shape(read, lambda count: json.dumps({key: ["one statement of some words"] * 3}))


def _verdicts(found: dict[str, Any], count: int) -> tuple[bool, ...] | Malformed:
    listed = found.get("verdicts")
    if not isinstance(listed, list):
        return Malformed("no_list")
    if len(listed) != count:
        return Malformed("wrong_count")
    verdicts: dict[int, bool] = {}
    for one in listed:
        if not isinstance(one, dict):
            return Malformed("bad_list_item")
        number, verdict = _whole(one.get("number"), count), _flag(one.get("verdict"))
        if not number:
            return Malformed("unknown_statement")
        if verdict is None:
            return Malformed("bad_verdict")
        if number in verdicts:
            return Malformed("statement_judged_twice")
        verdicts[number] = verdict
    return tuple(verdicts[number] for number in range(1, count + 1))


VERDICTS = Shape(
    _verdicts,
    lambda count: json.dumps({"verdicts": [{"number": n, "verdict": 1} for n in range(1, count + 1)]}),
)
"""``{"verdicts": [{"number": 1, "verdict": 0 or 1}, …]}``: every statement once, in any order."""


def _verdict(found: dict[str, Any], count: int) -> bool | Malformed:
    verdict = _flag(found.get("verdict"))
    return Malformed("bad_verdict") if verdict is None else verdict


VERDICT = Shape(_verdict, lambda count: '{"verdict": 1}')
"""``{"verdict": 0 or 1}``: yes or no."""


def _grade(found: dict[str, Any], count: int) -> int | Malformed:
    grade = _whole(found.get("grade"), 2)
    return Malformed("bad_grade") if grade is None else grade


GRADE = Shape(_grade, lambda count: '{"grade": 1}')
"""``{"grade": 0, 1 or 2}``."""


@dataclass(frozen=True, slots=True)
class BackAsked:
    """A question that an answer would answer, and whether the answer commits itself to nothing."""

    question: str
    noncommittal: bool


def _question(found: dict[str, Any], count: int) -> BackAsked | Malformed:
    question, noncommittal = found.get("question"), _flag(found.get("noncommittal"))
    if not isinstance(question, str) or not question.strip():
        return Malformed("no_question")
    if noncommittal is None:
        return Malformed("bad_verdict")
    return BackAsked(question.strip(), noncommittal)


QUESTION_BACK = Shape(
    _question, lambda count: '{"question": "a question of some ten words or so?", "noncommittal": 0}'
)
"""``{"question": "…", "noncommittal": 0 or 1}``: the question is not blank."""


def read_object(text: str) -> dict[str, Any] | Malformed:
    """The one JSON object that an answer is, in a code fence or not.

    Text around it, a field named twice, an ``error`` beside the fields or an unfinished thought make the
    answer unusable: its meaning would be a guess.
    """
    answer = after_thoughts(text)
    if isinstance(answer, Malformed):
        return answer
    if len(answer) > LONGEST:
        return Malformed("too_long")
    try:
        found = read_json(_FENCE.sub("", answer))
    except NamedTwiceError:
        return Malformed("ambiguous")
    except UntrustedJsonError:
        return Malformed("no_json")
    if not isinstance(found, dict):
        return Malformed("no_object")
    return Malformed("error_reported") if reports_error(found) else found


def _flag(value: Any) -> bool | None:
    return bool(value) if isinstance(value, int) and value in (0, 1) else None


def _whole(value: Any, highest: int) -> int | None:
    """A whole number of 0 to ``highest``; True is none."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= highest
    return int(value) if good else None
